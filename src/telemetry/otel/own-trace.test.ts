import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSpanId, createTraceId, readTraceParent, toTraceParent } from './own-trace.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('a traceparent is parsed and written', () => {
  for (const isSampled of [true, false]) {
    assert.deepEqual(readTraceParent(toTraceParent({ traceId, spanId, isSampled })), { traceId, spanId, isSampled });
  }
});

test('a traceparent with other flags or of a later version is accepted', () => {
  assert.equal(readTraceParent(`00-${traceId}-${spanId}-03`)?.isSampled, true);
  assert.equal(readTraceParent(`00-${traceId}-${spanId}-02`)?.isSampled, false);
  assert.equal(readTraceParent(`cc-${traceId}-${spanId}-01-what-comes-later`)?.traceId, traceId);
});

test('an invalid traceparent starts a new trace', () => {
  for (const header of [
    undefined,
    '',
    'x',
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  ]) {
    assert.equal(readTraceParent(header), undefined, String(header));
  }
});

test('IDs have the right length and are unique', () => {
  const ids = Array.from({ length: 2_000 }, () => [createTraceId(), createSpanId()] as const);
  assert.ok(ids.every(([trace, span]) => /^[0-9a-f]{32}$/.test(trace) && /^[0-9a-f]{16}$/.test(span)));
  assert.equal(new Set(ids.flat()).size, 4_000);
});
