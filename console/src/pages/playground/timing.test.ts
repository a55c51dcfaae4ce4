import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseServerTiming, toSpans } from './call.ts';

test('reads the named durations of a Server-Timing header, and skips invalid ones', () => {
  assert.deepEqual(
    [...parseServerTiming('gateway;dur=1.5, upstream;desc="x";dur=30')],
    [
      ['gateway', 1.5],
      ['upstream', 30],
    ],
  );
  assert.deepEqual([...parseServerTiming('cache, a;dur=no, ;dur=1')], []);
});

test("time that is neither the gateway's nor the upstream's is shown as rest", () => {
  const spans = toSpans({ headers: { 'server-timing': 'gateway;dur=2, upstream;dur=10' }, totalMs: 15 });
  assert.deepEqual(
    spans.map(({ name, ms }) => [name, ms]),
    [
      ['gateway', 2],
      ['upstream', 10],
      ['rest', 3],
    ],
  );
  assert.deepEqual(toSpans({ headers: {}, totalMs: 15 }), []);
});
