/** How long a call waited for a connection is noted with its exchange, and nothing where one was open and free. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../src/core/exchange.ts';
import { answering, refusingWith, startSeveral } from '../support/gateways/several.ts';
import { startTranslated } from '../support/gateways/translated.ts';
import { patiently } from '../support/time/patience.ts';
import { embeds } from '../support/upstreams/list-service.ts';

/** Whether its call had to wait, and each of its listed ones. */
const waitsOf = ({ client, tries }: Exchange): unknown[] => [
  hasWaited(client.connectMs),
  ...tries.map(({ outcome, connectMs }) => [outcome, hasWaited(connectMs)]),
];

function hasWaited(ms: number | undefined): boolean {
  assert.ok(ms === undefined || ms > 0, String(ms));
  return ms !== undefined;
}

test('the recorded connect time is set for the first call, and absent if the connection is reused', async (t) => {
  const { rig, embed } = await startSeveral(t, [answering('a')]);
  assert.equal((await embed()).status, 200);
  assert.deepEqual(waitsOf(await rig.exchange(1)), [true]);
  assert.equal((await embed()).status, 200);
  assert.deepEqual(waitsOf(await rig.exchange(2)), [false]);
});

test('every attempt of a request records its own connect time, also one that could not connect', async (t) => {
  const { rig, embed } = await startSeveral(t, [refusingWith(503), answering('b'), answering('c')], {
    upstream: [{}, { base_url: 'http://127.0.0.1:1' }, {}],
    model: { retry: { same_target: 0 } },
  });
  assert.equal((await embed()).status, 200);
  const found = await rig.exchange(1);
  assert.deepEqual(waitsOf(found), [true, ['failed', true], ['not-sent', true], ['answered', true]]);
  assert.equal(found.client.connectMs, found.tries[2]?.connectMs);
  assert.equal((await embed()).status, 200);
  assert.deepEqual(waitsOf(await rig.exchange(2)), [false, ['failed', false], ['not-sent', true], ['answered', false]]);
});

test('two concurrent hedged calls each record their own connect time', async (t) => {
  const setup = await startSeveral(t, [(_request, reply) => reply.stall(), answering('b')], {
    model: { operations: ['embeddings'], hedge: { after: patiently(10) } },
  });
  assert.equal((await setup.embed()).status, 200);
  const [own, ...calls] = waitsOf(await setup.rig.exchange());
  assert.equal(own, true);
  assert.deepEqual(calls.map(String).toSorted(), ['answered,true', 'outrun,true']);
});

test('a translated request and a split list record the connect time of their first call', async (t) => {
  const translated = await startTranslated(t);
  const question = { model: 'm', input: 'abc' };
  await translated.embed(question);
  await translated.embed(question);
  assert.deepEqual(waitsOf(await translated.rig.exchange(1)), [true]);
  assert.deepEqual(waitsOf(await translated.rig.exchange(2)), [false]);
  const { rig } = await startSeveral(t, [embeds], {
    model: { operations: ['embeddings'] },
    target: [{ max_items: 1 }],
  });
  for (const count of [1, 2]) {
    assert.equal((await rig.post('/v1/embeddings', { model: 'm', input: ['a', 'b'] })).status, 200);
    assert.deepEqual(waitsOf(await rig.exchange(count)), [count === 1]);
  }
});
