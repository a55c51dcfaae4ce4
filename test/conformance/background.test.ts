/** Answers that an upstream makes in the background: fetched by their ID, and billed when their end is known. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import { assertError } from '../support/clients/error-answer.ts';
import type { Rig } from '../support/gateways/rig.ts';
import { secrets, startStoredObjectsSetup } from '../support/gateways/stored-objects-setup.ts';
import { until } from '../support/time/until.ts';

const path = '/v1/responses';
const inBackground = { background: true, max_output_tokens: 100 };
/** 60 at 2, 40 at 1 and 10 at 10 dollars a million. */
const costNanos = 260_000;

const rowsOf = async ({ store }: Rig): Promise<readonly LedgerRow[]> =>
  (await store.ledger.page({}, { limit: 100 })).rows;

const costsOf = async (rig: Rig): Promise<(number | null)[]> => (await rowsOf(rig)).map((row) => row.costNanos);

async function mustBeRunning({ store }: Rig, id: string): Promise<void> {
  assert.notEqual(await store.background.get(id, 'up'), undefined);
}

test('a background response is billed once its end is known, even if its client never polls', async (t) => {
  const { rig, service, make } = await startStoredObjectsSetup(t);
  const id = await make('one', inBackground);
  const { bill, usage, outcome } = await rig.exchange(1);
  assert.deepEqual([bill, usage, outcome], [null, null, 'ok']);
  await until(async () => (await rowsOf(rig)).length === 1);
  await mustBeRunning(rig, id);
  service.finish();
  await until(async () => (await rowsOf(rig)).length === 2);
  const rows = await rowsOf(rig);
  const row = rows.find((one) => one.costNanos === costNanos) ?? assert.fail();
  assert.deepEqual(
    [row.key, row.project, row.model, row.upstream, row.route, row.outcome, row.promptTokens, row.isEstimated],
    ['one', 'one', 'm', 'up', path, 'ok', 100, false],
  );
  await until(async () => (await rig.store.background.get(id, 'up')) === undefined);
  assert.equal(rig.app.background(), 0);
});

test('the worst case of a background response stays reserved until its cost is known', async (t) => {
  // At most 1,000 tokens of input at 2, and 100 of output at 10 dollars a million: 0.003.
  const key = { budgets: [{ every: 'day', amount: '0.0035' }] };
  const { rig, service, ask, make } = await startStoredObjectsSetup(t, {
    key,
    model: { context: 1_000, price: { input: 2, output: 10 } },
  });
  const input = 'x'.repeat(2_000);
  await make('one', { ...inBackground, input });
  const more = { model: 'm', input, max_output_tokens: 100 };
  assertError(await ask('one', 'POST', path, more), 'budget_exceeded');
  await until(() => rig.app.background() === 1);
  assertError(await ask('one', 'POST', path, more), 'budget_exceeded');
  service.finish();
  await until(() => rig.app.background() === 0);
  assert.equal((await ask('one', 'POST', path, more)).status, 200);
});

test('a background response does not count as concurrent, so that its client can poll', async (t) => {
  const { service, ask, make } = await startStoredObjectsSetup(t, { key: { limits: { concurrency: 1 } } });
  const id = await make('one', inBackground);
  const first = await ask('one', 'GET', `${path}/${id}`);
  assert.equal(JSON.parse(first.body.toString()).status, 'in_progress');
  service.finish();
  assert.equal(JSON.parse((await ask('one', 'GET', `${path}/${id}`)).body.toString()).status, 'completed');
  assertError(await ask('two', 'GET', `${path}/${id}`), 'object_not_found', { param: 'id' });
});

test('a cancelled background response is billed by known usage, a failed one is not', async (t) => {
  const { rig, up, service, ask, make } = await startStoredObjectsSetup(t);
  const cancelled = await make('one', inBackground);
  assert.equal((await ask('one', 'POST', `${path}/${cancelled}/cancel`)).status, 200);
  await until(async () => (await rowsOf(rig)).some((row) => row.outcome === 'aborted' && row.isEstimated));
  const failed = await make('one', inBackground);
  up.respondWith((request, reply) =>
    request.method === 'GET'
      ? reply.json(200, { id: failed, object: 'response', status: 'failed', output: [], usage: null })
      : service.handler(request, reply),
  );
  await until(async () => (await rig.store.background.get(failed, 'up')) === undefined);
  await until(async () => (await rowsOf(rig)).some((row) => row.outcome === 'error' && row.costNanos === 0));
});

test('a background response without usage is billed by an estimate of its text', async (t) => {
  const { rig, up, service, make } = await startStoredObjectsSetup(t);
  const content = [{ type: 'output_text', text: 'word '.repeat(8), annotations: [] }];
  up.respondWith((request, reply) =>
    request.method === 'GET'
      ? reply.json(200, { status: 'completed', output: [{ type: 'message', content }], filler: ' '.repeat(1_000) })
      : service.handler(request, reply),
  );
  await make('one', inBackground);
  await until(async () => (await rowsOf(rig)).some((row) => row.isEstimated && row.billedOutputTokens === 10));
});

test('a background response cannot be deleted while running, and is billed if deleted right after', async (t) => {
  const { rig, service, ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one', inBackground);
  assertError(await ask('one', 'DELETE', `${path}/${id}`), 'unsupported_parameter', { param: 'id' });
  service.finish();
  assert.equal((await ask('one', 'DELETE', `${path}/${id}`)).status, 200);
  await until(async () => (await costsOf(rig)).includes(costNanos));
  assert.equal(service.kept.size, 0);
});

test('a streamed background response is billed once, by its end', async (t) => {
  const { rig, service, ask } = await startStoredObjectsSetup(t);
  const answer = await ask('one', 'POST', path, { model: 'm', input: 'x', stream: true, ...inBackground });
  assert.match(answer.body.toString(), /response\.completed/);
  service.finish();
  await until(async () => (await rowsOf(rig)).length === 2);
  await wait(100);
  assert.deepEqual((await costsOf(rig)).toSorted(), [0, costNanos]);
});

test('a background response is polled and settled only after its stream to the client has ended', async (t) => {
  const { rig, up, ask } = await startStoredObjectsSetup(t);
  const last = Promise.withResolvers<void>();
  let looks = 0;
  up.respondWith(async (request, reply) => {
    if (request.method === 'GET') {
      looks += 1;
      await reply.json(200, {
        id: 'resp_1',
        status: 'completed',
        output: [],
        usage: { input_tokens: 100, output_tokens: 10 },
      });
      return;
    }
    await reply.head(200, [
      ['content-type', 'text/event-stream'],
      ['transfer-encoding', 'chunked'],
    ]);
    await reply.chunk('data: {"response":{"id":"resp_1"}}\n\n');
    await last.promise;
    await reply.lastChunk();
  });
  const asked = ask('one', 'POST', path, { model: 'm', input: 'x', stream: true, ...inBackground });
  await until(async () => (await rig.store.background.get('resp_1', 'up')) !== undefined);
  await wait(150);
  assert.equal(looks, 0);
  last.resolve();
  await asked;
  await until(async () => (await rowsOf(rig)).length === 2);
  await until(() => rig.app.background() === 0);
  assert.ok(looks > 0);
});

test('an unreachable upstream is polled again, and a lost response costs the reserved amount', async (t) => {
  const { rig, up, service, make } = await startStoredObjectsSetup(t);
  const id = await make('one', inBackground);
  up.respondWith((_request, reply) => reply.json(503, { error: { message: 'away' } }));
  await wait(150);
  await mustBeRunning(rig, id);
  up.respondWith(service.handler);
  service.finish();
  await until(async () => (await costsOf(rig)).includes(costNanos));
  await make('one', inBackground);
  up.respondWith((_request, reply) => reply.json(404, { error: { message: 'no such thing' } }));
  await until(async () => (await rowsOf(rig)).some((row) => row.outcome === 'lost' && (row.costNanos ?? 0) > 0));
});

test('background: true with store: false gets 400, and with an unwritable store an error without the ID', async (t) => {
  const { rig, up, ask } = await startStoredObjectsSetup(t);
  const body = { model: 'm', input: 'x', ...inBackground };
  assertError(await ask('one', 'POST', path, { ...body, store: false }), 'unsupported_parameter', {
    param: 'background',
  });
  assert.equal(up.requests.length, 0);
  t.mock.method(rig.store.background, 'add', () => Promise.reject(new Error('the disk is full')));
  const answer = await ask('one', 'POST', path, body);
  assertError(answer, 'store_unavailable');
  assert.doesNotMatch(answer.body.toString(), /resp_/);
});

test('the official OpenAI library creates a background response, polls it and reads its text', async (t) => {
  const { rig, service } = await startStoredObjectsSetup(t);
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: secrets.one, maxRetries: 0 });
  let answer = await client.responses.create({ model: 'm', input: '2+2?', background: true });
  for (let turn = 0; answer.status !== 'completed' && turn < 100; turn += 1) {
    if (turn === 2) service.finish();
    answer = await client.responses.retrieve(answer.id);
  }
  assert.equal(answer.output_text, 'four');
});

test('after a shutdown the next process continues polling', async (t) => {
  const { rig, make } = await startStoredObjectsSetup(t);
  const id = await make('one', inBackground);
  await until(() => rig.app.background() === 1);
  await rig.app.close();
  assert.equal(rig.app.background(), 0);
  const claimed = async () => rig.store.background.claim('another', { handsMs: 60_000, most: 10 });
  await until(async () => (await claimed()).some((answer) => answer.id === id));
});
