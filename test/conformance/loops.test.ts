/** Requests that come back to where they have been are refused; what other gateways have seen passes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { authorized, question, startPair } from '../support/gateways/pair.ts';
import { startRig } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

/** Of a key of the gateway that the upstream is; where the request ends before keys are judged, of none. */
const otherKey = 'other-key-with-enough-characters';

const leadingTo = (url: string, family = 'openai') => ({
  upstreams: [{ id: 'up', family, base_url: `${url}/v1`, api_key: otherKey }],
  models: [{ id: 'm', operations: ['embeddings', 'rerank'], space: 's', targets: [{ upstream: 'up' }] }],
});

test('an upstream that is this gateway is refused, translated or not', async (t) => {
  const rig = await startRig(t, leadingTo('http://127.0.0.1:9'));
  assert.deepEqual(rig.app.swap(await rig.compile(leadingTo(rig.url))), []);
  const answer = await rig.post('/v1/embeddings', question);
  assertError(answer, 'malformed_request');
  assert.match(answer.body.toString(), /leads back to it/);
  // Once as the client's, once as our own.
  assert.equal((await rig.exchange(2)) === undefined, false);
  assert.equal(rig.settled.length, 2);

  assert.deepEqual(rig.app.swap(await rig.compile(leadingTo(rig.url, 'jina'))), []);
  const translated = await rig.post('/v1/rerank', {
    model: 'm',
    query: 'q',
    documents: ['d'],
    top_n: 1,
    rank_fields: ['x'],
  });
  assert.equal(translated.status, 400);
  assert.match(translated.body.toString(), /leads back to it/);
});

test('a request that returns to this gateway through another installation is refused', async (t) => {
  const first = await startRig(t, leadingTo('http://127.0.0.1:9'));
  const back = leadingTo(first.url);
  const upstreams = back.upstreams.map((upstream) => ({ ...upstream, api_key: 'third-key-with-enough-characters' }));
  const second = await startRig(t, { ...back, upstreams, keys: [{ id: 'test', secret: otherKey }] });
  assert.deepEqual(first.app.swap(await first.compile(leadingTo(second.url))), []);
  assertError(await first.post('/v1/embeddings', question), 'malformed_request');
  await second.exchange(1);
  await first.exchange(2);
  assert.deepEqual([first.settled.length, second.settled.length], [2, 1]);
});

test("loop marks of other installations are passed on; a client cannot forge this gateway's", async (t) => {
  const pair = await startPair(t);
  const own = await pair.rig.store.settings.installation();
  const ask = (...headers: [string, string][]) =>
    pair.rig.post('/v1/embeddings', question, { headers: authorized(...headers) });
  assert.equal((await ask()).status, 200);
  assert.equal((await ask(['X-Postern-Loop', 'a, b'])).status, 200);
  assert.equal((await ask(['X-Postern-Loop', 'a'], ['x-postern-loop', 'b'])).status, 200);
  assert.deepEqual(
    pair.upstream.requests.map((request) => request.header('x-postern-loop')),
    [own, `a, b, ${own}`, `a, b, ${own}`],
  );
  for (const came of [own, `a, ${own}`, `${own},b`, 'a b', `${'a,'.repeat(16)}a`]) {
    assertError(await ask(['X-Postern-Loop', came]), 'malformed_request', { of: came });
  }
  assertError(await pair.rig.get('/healthz', { headers: [['X-Postern-Loop', own]] }), 'malformed_request');
  assert.equal(pair.upstream.requests.length, 3);
});

test('health checks carry the loop mark, so that a gateway checking itself fails', async (t) => {
  const asked: (string | undefined)[] = [];
  const upstream = await startFakeUpstream((request, reply) => {
    asked.push(request.header('x-postern-loop'));
    return reply.json(200, {});
  });
  t.after(() => upstream.close());
  const entry = { id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-0123456789' };
  const rig = await startRig(t, { upstreams: [{ ...entry, health_check: { path: '/health' } }] });
  await upstream.nextRequest();
  assert.deepEqual(asked, [await rig.store.settings.installation()]);
});
