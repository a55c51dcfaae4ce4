import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSpan } from './rate-headers.ts';

test('writes spans as OpenAI does, and never shorter than they are', () => {
  const spans: [number, string][] = [
    [0, '0s'],
    [0.2, '1ms'],
    [120, '120ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_001, '2s'],
    [59_999, '1m0s'],
    [360_000, '6m0s'],
    [3_600_000, '1h0m0s'],
    [87_839_500, '24h24m0s'],
  ];
  for (const [ms, text] of spans) assert.equal(toSpan(ms), text);
});
