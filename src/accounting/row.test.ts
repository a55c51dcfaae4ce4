import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import { intentIn, settlementIn } from '../../test/support/ledger/journal-lines.ts';
import type { SettlementRecord } from '../core/accounting/ledger-row.ts';
import type { Reservation } from '../core/accounting/spending.ts';
import { Exchange, type ExchangeTrace } from '../core/exchange.ts';

import type { KeyRecord } from '../core/key.ts';
import type { Route } from '../core/route.ts';
import type { Snapshot, Target } from '../core/snapshot.ts';
import { toPayload } from '../journal/journal-items.ts';
import { RowWriter } from './row.ts';

const route = { path: '/v1/embeddings', operation: 'embeddings', label: 'openai' } as Route;
const snapshotWith = (logClientAddress: boolean): Snapshot =>
  ({
    server: { logClientAddress },
    models: { resolve: (name: string) => ({ matched: name.slice('any/'.length) }) },
  }) as unknown as Snapshot;
const reservation = { nanos: 700, accounts: ['key/dev/total', 'project/"p"/day/2026-11-21'] } as unknown as Reservation;

function exchangeOf(more: Partial<Exchange> = {}, snapshot = snapshotWith(false)): Exchange {
  const exchange = new Exchange('0123abc', 'client-1', snapshot, 1_800_000_000_000, 100);
  const key = { id: 'dev', project: 'search' } as KeyRecord;
  const target = { upstream: { id: 'up' }, model: 'small' } as Target;
  return Object.assign(exchange, {
    key,
    route,
    target,
    modelId: 'embed',
    estimate: { items: 3 },
    requestBytes: 40,
    clientAddress: '203.0.113.7',
    attempts: 1,
    status: 200,
    outcome: 'ok',
    responseBytes: 400,
    sentAtMs: 101.04,
    firstByteAtMs: 103.26,
    usage: { promptTokens: 3, completionTokens: null, totalTokens: 3, searchUnits: null, cachedTokens: 1 },
    bill: {
      inputTokens: 3,
      cachedTokens: 1,
      outputTokens: 0,
      searchUnits: 0,
      items: 3,
      images: 0,
      isEstimated: false,
      costNanos: 60,
    },
    ...more,
  });
}

function settlementOf(exchange: Exchange, of: Reservation | undefined = reservation): SettlementRecord {
  return settlementIn(new RowWriter('node-1').settlement(exchange, of, 104.07, undefined));
}

const head = {
  id: '0123abc',
  clientRequestId: 'client-1',
  startedAtMs: 1_800_000_000_000,
  node: 'node-1',
  key: 'dev',
  project: 'search',
  route: '/v1/embeddings',
  operation: 'embeddings',
  label: 'openai',
  model: 'embed',
  items: 3,
  requestBytes: 40,
  clientAddress: null,
  traceId: null,
};

test("a request's start record holds the operation, the model and the reserved amounts", () => {
  const intent = intentIn(new RowWriter('node-1').intent(exchangeOf(), reservation));
  assert.deepEqual(intent, { kind: 'intent', row: head, reservedNanos: 700, accounts: reservation.accounts });
});

test('a settlement record holds all fields of the row, with times to tenths of a millisecond', () => {
  assert.deepEqual(settlementOf(exchangeOf()), {
    kind: 'settlement',
    row: {
      ...head,
      upstream: 'up',
      upstreamModel: 'small',
      attempts: 1,
      tries: [],
      outcome: 'ok',
      status: 200,
      error: null,
      promptTokens: 3,
      completionTokens: null,
      totalTokens: 3,
      searchUnits: null,
      cachedTokens: 1,
      billedInputTokens: 3,
      billedOutputTokens: 0,
      billedSearchUnits: 0,
      isEstimated: false,
      costNanos: 60,
      responseBytes: 400,
      durationMs: 4.1,
      firstByteMs: 3.3,
      upstreamMs: 2.2,
      cache: null,
      queueMs: null,
      connectMs: null,
      units: null,
    },
    accounts: reservation.accounts,
  });
});

test('a settlement record holds units such as audio tokens and tool calls', () => {
  const units = { audioInputTokens: 2, toolCalls: { web_search: 1 }, serviceTier: 'flex' };
  const { bill } = exchangeOf();
  assert.ok(bill !== null);
  assert.deepEqual(settlementOf(exchangeOf({ bill: { ...bill, units } })).row.units, units);
});

test('the row of a request that a rate limit refused has no cost, key or model', () => {
  const refused = exchangeOf({
    target: undefined,
    modelId: undefined,
    estimate: undefined,
    usage: null,
    bill: null,
    attempts: 0,
    status: 429,
    outcome: 'refused',
    errorCode: 'rate_limit_exceeded',
    firstByteAtMs: 0,
  });
  const { row, accounts } = settlementIn(new RowWriter('n').settlement(refused, undefined, 105, undefined));
  assert.deepEqual(
    [row.model, row.upstream, row.upstreamModel, row.items, row.costNanos, row.billedInputTokens, row.promptTokens],
    [null, null, null, 0, 0, null, null],
  );
  assert.deepEqual(
    [row.outcome, row.status, row.error, row.firstByteMs, row.upstreamMs, accounts],
    ['refused', 429, 'rate_limit_exceeded', null, null, []],
  );
});

test('a cost without a known price is null in the row, and non-finite token counts are null', () => {
  const bill = { ...exchangeOf().bill, costNanos: null, isEstimated: true } as Exchange['bill'];
  const usage = {
    promptTokens: Number.POSITIVE_INFINITY,
    completionTokens: Number.NaN,
    totalTokens: 1e21,
    searchUnits: 0,
  };
  const { row } = settlementOf(exchangeOf({ bill, usage }));
  assert.deepEqual([row.costNanos, row.isEstimated], [null, true]);
  assert.deepEqual(
    [row.promptTokens, row.completionTokens, row.totalTokens, row.cachedTokens],
    [null, null, 1e21, null],
  );
});

test('without a recorded outcome, an unsent request counts as refused and a sent one as failed', () => {
  const outcomeAfter = (attempts: number): string =>
    settlementOf(exchangeOf({ outcome: undefined, attempts })).row.outcome;
  assert.deepEqual([outcomeAfter(0), outcomeAfter(1)], ['refused', 'error']);
});

test('a request whose client disconnected is recorded with status 499', () => {
  const { row } = settlementOf(exchangeOf({ errorCode: 'client_closed', outcome: 'aborted', status: 200 }));
  assert.deepEqual([row.status, row.outcome, row.error], [499, 'aborted', 'client_closed']);
});

test('records the client address only if the operator enabled it', () => {
  assert.equal(settlementOf(exchangeOf()).row.clientAddress, null);
  assert.equal(settlementOf(exchangeOf({}, snapshotWith(true))).row.clientAddress, '203.0.113.7');
});

test('records the trace ID if the request has one', () => {
  const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736' } as ExchangeTrace;
  assert.equal(settlementOf(exchangeOf({ trace })).row.traceId, trace.traceId);
});

test('records how long a request waited in a queue, and null if it did not wait', () => {
  assert.equal(settlementOf(exchangeOf()).row.queueMs, null);
  assert.equal(settlementOf(exchangeOf({ queuedMs: 12.34 })).row.queueMs, 12.3);
});

test('records how long a request and each of its calls waited for a connection, and null if they did not wait', () => {
  const rowOf = (connectMs: number | undefined) =>
    settlementOf(exchangeOf({ client: { gone: false, work: undefined, connectMs } })).row;
  assert.deepEqual(
    [12.34, 0.04, undefined].map((ms) => rowOf(ms).connectMs),
    [12.3, null, null],
  );
  const attempt = {
    upstream: 'u',
    model: 'm',
    credential: undefined,
    outcome: 'not-sent',
    detail: 'no',
    durationMs: 9,
  };
  const { tries } = settlementOf(exchangeOf({ tries: [{ ...attempt, connectMs: 8.76 }, attempt] })).row;
  assert.deepEqual(
    tries.map(({ connectMs }) => connectMs),
    [8.8, undefined],
  );
});

test("records the upstream's model name with the star of its pattern replaced by the requested name", () => {
  const target = { upstream: { id: 'up' }, model: 'vendor/*' } as Target;
  assert.equal(settlementOf(exchangeOf({ target, modelId: 'any/$&' })).row.upstreamModel, 'vendor/$&');
});

test('names with special characters are read back unchanged', () => {
  const rows = new RowWriter('node');
  fc.assert(
    fc.property(
      fc.record({ model: fc.string({ unit: anyCharacter }), name: fc.string(), detail: fc.string() }),
      (texts) => {
        const { model, name, detail } = texts;
        const exchange = exchangeOf({
          modelId: model,
          key: { id: name, project: undefined } as KeyRecord,
          target: { upstream: { id: name }, model: name.replaceAll('*', '') } as Target,
          tries: [{ upstream: name, model, credential: undefined, outcome: 'unknown', detail, durationMs: 1.26 }],
        });
        const kept = { request: detail, response: model, expiresAtMs: 5 };
        const { row, capture } = settlementIn(rows.settlement(exchange, undefined, 105, kept));
        assert.deepEqual(
          [row.model, row.key, row.upstream, row.tries[0]?.detail, row.tries[0]?.durationMs],
          [model, name, name, detail, 1.3],
        );
        assert.deepEqual(capture, kept);
        const intent = intentIn(rows.intent(exchange, reservation));
        assert.deepEqual([intent.row.model, intent.row.key], [model, name]);
      },
    ),
  );
});

test('truncates a model name chosen by the client to 256 characters', () => {
  const name = 'any/'.concat('x'.repeat(100_000));
  const long = exchangeOf({ modelId: name, target: { upstream: { id: 'up' }, model: '*' } as Target });
  const intent = toPayload(new RowWriter('node-1').intent(long, reservation));
  const { row } = settlementOf(long);
  assert.ok(intent.length < 1_000);
  assert.deepEqual([row.model, row.upstreamModel?.length], [name.slice(0, 256), 256]);
});
