/** The ledger comes first: nothing is sent before the intent is written down, and no answer ends before its settlement is. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Ledger, LedgerWaiter } from '../../src/core/accounting/spending.ts';
import { GatewayError } from '../../src/core/errors.ts';
import type { Exchange } from '../../src/core/exchange.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { until } from '../support/time/until.ts';
import { type FakeUpstream, type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

/** A ledger that waits until it is released, and records its calls. */
class GatedLedger implements Ledger {
  readonly opened: string[] = [];
  readonly settled: Exchange[] = [];
  openGate: () => Promise<void> = async () => undefined;
  settleGate: () => Promise<void> = async () => undefined;

  async open(exchange: Exchange): Promise<void> {
    this.opened.push(exchange.id);
    await this.openGate();
  }

  async settle(exchange: Exchange): Promise<void> {
    this.settled.push(exchange);
    await this.settleGate();
  }

  openFor(waiter: LedgerWaiter, exchange: Exchange): void {
    this.open(exchange).then(() => waiter.onWritten(), waiter.onNotWritten.bind(waiter));
  }

  settleFor(waiter: LedgerWaiter, exchange: Exchange): void {
    this.settle(exchange).then(() => waiter.onWritten(), waiter.onNotWritten.bind(waiter));
  }
}

const question = { model: 'm', input: 'x' };
const full = (): Promise<never> =>
  Promise.reject(new GatewayError('store_unavailable', { headers: ['Retry-After', '1'] }));

async function startSetup(
  t: TestContext,
  script: Script,
): Promise<{ rig: Rig; up: FakeUpstream; ledger: GatedLedger }> {
  const up = await startFakeUpstream(script);
  t.after(() => up.close());
  const ledger = new GatedLedger();
  const document = {
    upstreams: [{ id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-upstream-credential' }],
    models: [
      {
        id: 'm',
        operations: ['embeddings', 'completions'],
        retry: { same_target: 0 },
        targets: [{ upstream: 'up' }],
      },
    ],
  };
  return { rig: await startRig(t, document, {}, { ledger }), up, ledger };
}

test("no upstream call is sent before the journal's start record is written", async (t) => {
  const { rig, up, ledger } = await startSetup(t, (_request, reply) => reply.json(200, {}));
  const gate = Promise.withResolvers<void>();
  ledger.openGate = () => gate.promise;
  const asked = rig.post('/v1/embeddings', question);
  await until(() => ledger.opened.length > 0);
  await wait(50);
  assert.equal(ledger.opened.length, 1);
  assert.equal(up.requests.length, 0);
  gate.resolve();
  assert.equal((await asked).status, 200);
  assert.equal(up.requests.length, 1);
  assert.equal(up.requests[0]?.header('x-request-id'), ledger.opened[0]);
});

test('if the start record cannot be written, the client gets 503 without an upstream call', async (t) => {
  const { rig, up, ledger } = await startSetup(t, (_request, reply) => reply.json(200, {}));
  ledger.openGate = full;
  const answer = await rig.post('/v1/embeddings', question);
  assertError(answer, 'store_unavailable');
  assert.equal(answer.header('retry-after'), '1');
  assert.equal(up.requests.length, 0);
});

for (const chunked of [false, true]) {
  const kind = chunked ? 'in chunks' : 'with a length';
  test(`a response ${kind} does not end before its settlement is written`, async (t) => {
    const body = JSON.stringify({ data: [{}], usage: { prompt_tokens: 7, total_tokens: 7 } });
    const { rig, ledger } = await startSetup(t, (_request, reply) =>
      reply.bytes(200, [['Content-Type', 'application/json']], [body.slice(0, 10), body.slice(10)], { chunked }),
    );
    const gate = Promise.withResolvers<void>();
    ledger.settleGate = () => gate.promise;
    let isOver = false;
    const asked = rig.post('/v1/embeddings', question).then((answer) => {
      isOver = true;
      return answer;
    });
    await until(() => ledger.settled.length > 0);
    await wait(50);
    assert.equal(isOver, false);
    const [exchange] = ledger.settled;
    assert.equal(exchange?.usage?.promptTokens, 7);
    assert.equal(exchange?.outcome, 'ok');
    gate.resolve();
    const answer = await asked;
    assert.equal(answer.body.toString(), body);
    assert.equal(answer.complete, true);
  });
}

test('a short response whose settlement cannot be written becomes a 503', async (t) => {
  const { rig, ledger } = await startSetup(t, (_request, reply) => reply.json(200, { data: [{}] }));
  ledger.settleGate = full;
  assertError(await rig.post('/v1/embeddings', question), 'store_unavailable');
});

test('a running response whose settlement cannot be written is broken off', async (t) => {
  const { rig, ledger } = await startSetup(t, (_request, reply) =>
    reply.bytes(200, [['Content-Type', 'application/json']], ['{"data"', ':[{}]}'], { chunked: true }),
  );
  ledger.settleGate = full;
  const answer = await rig.post('/v1/embeddings', question);
  assert.equal(answer.status, 200);
  assert.equal(answer.complete, false);
});

test('every request is settled once, with its outcome', async (t) => {
  const { rig, ledger } = await startSetup(t, [
    (_request, reply) => reply.json(500, { error: { message: 'no' } }),
    (_request, reply) => reply.json(400, { error: { message: 'no' } }),
    async (_request, reply) => {
      await reply.head(200, [['Content-Length', '100']]);
      await reply.raw('{"data"');
      reply.cut();
    },
  ]);
  await rig.post('/v1/embeddings', { input: 'x' });
  await rig.post('/v1/embeddings', { model: 'nobody', input: 'x' });
  await rig.post('/v1/embeddings', question, { headers: [['Authorization', 'Bearer strange']] });
  await rig.post('/v1/embeddings', question);
  await rig.post('/v1/embeddings', question);
  await rig.post('/v1/embeddings', question);
  await rig.exchange(6);
  assert.deepEqual(
    ledger.settled.map(({ outcome, status, errorCode }) => [outcome, status, errorCode]),
    [
      ['refused', 400, 'missing_required_parameter'],
      ['refused', 404, 'model_not_found'],
      ['error', 500, undefined],
      ['error', 400, undefined],
      ['cut', 200, 'upstream_unreachable'],
    ],
  );
  assert.equal(ledger.opened.length, 3);
});

test('a client that disconnects is settled as such', async (t) => {
  const { rig, ledger } = await startSetup(t, async (_request, reply) => {
    await reply.head(200, [
      ['Content-Type', 'text/event-stream'],
      ['Transfer-Encoding', 'chunked'],
    ]);
    await reply.chunk('data: {}\n\n');
    await reply.stall();
  });
  const connection = await connect(rig.port);
  const headers: [string, string][] = [
    ['Authorization', `Bearer ${testKey}`],
    ['Content-Type', 'application/json'],
  ];
  const body = Buffer.from(JSON.stringify({ model: 'm', prompt: 'x', stream: true }));
  await connection.write(toRequestBytes({ port: rig.port, method: 'POST', path: '/v1/completions', headers, body }));
  await until(() => connection.received().includes('data: {}'));
  connection.destroy();
  await rig.exchange(1);
  assert.deepEqual(
    ledger.settled.map(({ outcome, errorCode }) => [outcome, errorCode]),
    [['aborted', 'client_closed']],
  );
});
