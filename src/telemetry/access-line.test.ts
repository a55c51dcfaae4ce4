import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Exchange } from '../core/exchange.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { LineBytes } from '../lib/line-bytes.ts';
import { AccessLines } from './access-line.ts';

function exchangeOf(more: Partial<Exchange>, logClientAddress = false): Exchange {
  const snapshot = { server: { logClientAddress } } as unknown as Snapshot;
  return Object.assign(new Exchange('the-id', more.clientRequestId, snapshot, 0, 1_000), more);
}

function lineOf(exchange: Exchange, worker?: number): unknown {
  const line = new LineBytes(64);
  new AccessLines(worker).write(line, exchange, 'POST', '2026-01-01T00:00:00.000Z', 1_012.34);
  const text = line.take().toString();
  assert.equal(text.at(-1), '\n');
  return JSON.parse(text);
}

test('the access log line of a request without any data has the fields that every line has', () => {
  assert.deepEqual(lineOf(exchangeOf({})), {
    level: 30,
    time: '2026-01-01T00:00:00.000Z',
    msg: 'request',
    id: 'the-id',
    method: 'POST',
    attempts: 0,
    status: 0,
    request_bytes: 0,
    response_bytes: 0,
    duration_ms: 12.3,
    prompt_tokens: null,
    completion_tokens: null,
    total_tokens: null,
    search_units: null,
  });
});

test('the access log line of a request has all its data, with special characters escaped', () => {
  const odd = 'a "name"\n\\ 模型';
  const exchange = exchangeOf(
    {
      clientRequestId: 'mine',
      path: '/v1/embeddings',
      route: { operation: 'embeddings', label: 'engines' } as unknown as NonNullable<Exchange['route']>,
      key: { id: odd } as unknown as NonNullable<Exchange['key']>,
      modelId: odd,
      target: { upstream: { id: odd } } as unknown as NonNullable<Exchange['target']>,
      attempts: 2,
      tries: [
        {
          upstream: 'up',
          model: odd,
          credential: undefined,
          outcome: 'failed',
          detail: 503,
          durationMs: 1.26,
          connectMs: 0.24,
        },
      ],
      status: 502,
      errorCode: 'upstream_unreachable',
      errorCause: odd,
      cut: true,
      requestBytes: 10,
      responseBytes: 20,
      sentAtMs: 1_001,
      firstByteAtMs: 1_005.57,
      usage: { promptTokens: 3, completionTokens: null, totalTokens: 3, searchUnits: null } as Exchange['usage'],
      clientAddress: '::1',
    },
    true,
  );
  exchange.client.gone = true;
  assert.deepEqual(lineOf(exchange, 3), {
    level: 50,
    time: '2026-01-01T00:00:00.000Z',
    worker: 3,
    msg: 'request',
    id: 'the-id',
    client_request_id: 'mine',
    method: 'POST',
    route: '/v1/embeddings',
    operation: 'embeddings',
    label: 'engines',
    key: odd,
    model: odd,
    upstream: odd,
    attempts: 2,
    tries: [{ upstream: 'up', model: odd, outcome: 'failed', detail: 503, duration_ms: 1.3, connect_ms: 0.2 }],
    status: 502,
    error: 'upstream_unreachable',
    cause: odd,
    client_gone: true,
    cut: true,
    request_bytes: 10,
    response_bytes: 20,
    duration_ms: 12.3,
    first_byte_ms: 5.6,
    upstream_ms: 4.6,
    prompt_tokens: 3,
    completion_tokens: null,
    total_tokens: 3,
    search_units: null,
    client_address: '::1',
  });
});

test('the client address is logged only if the operator enables it', () => {
  const line = lineOf(exchangeOf({ clientAddress: '::1' }));
  assert.equal(Object.hasOwn(line as object, 'client_address'), false);
});
