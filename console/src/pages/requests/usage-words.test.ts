import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageLine } from '../../../../src/admin/contract.ts';
import { inOrder, toBars } from './usage-words.ts';

const line = (by: UsageLine['by'], requests: number, cost = '0'): UsageLine => ({
  by,
  requests,
  errors: 0,
  inputTokens: requests,
  outputTokens: 1,
  searchUnits: 0,
  items: 0,
  cost,
  unpriced: 0,
  estimated: 0,
  requestBytes: 0,
  responseBytes: 0,
  durationMs: 0,
  units: {},
});

const name = (value: string | null): string => value ?? 'None';

test('days stand in their order, those without a request too, and no more than a month of them', () => {
  const bars = toBars([line({ day: '2026-11-20' }, 3), line({ day: '2026-11-17' }, 1)], 'day', 'requests', name);
  assert.deepEqual(
    bars.map(({ value }) => value),
    [1, 0, 0, 3],
  );
  const far = toBars([line({ day: '2020-01-01' }, 1), line({ day: '2026-11-17' }, 2)], 'day', 'requests', name);
  assert.deepEqual([far.length, far.at(-1)?.value, far[0]?.value], [31, 2, 0]);
  assert.deepEqual(toBars([], 'day', 'requests', name), []);
});

test('names stand with the largest first, and many small ones are one bar', () => {
  const lines = Array.from({ length: 20 }, (_, index) => line({ model: `m${index}` }, index + 1));
  const bars = toBars(lines, 'model', 'tokens', name);
  assert.equal(bars.length, 12);
  assert.deepEqual(bars[0], { name: 'm19', value: 21 });
  assert.deepEqual(bars.at(-1), { name: '9 others', value: 54 });
});

test('what has no name is called so, and cost is a number', () => {
  const lines = [line({ project: null }, 1, '0.5'), line({ project: 'p' }, 9, '0.25')];
  assert.deepEqual(toBars(lines, 'project', 'cost', name), [
    { name: 'None', value: 0.5 },
    { name: 'p', value: 0.25 },
  ]);
  assert.deepEqual(
    inOrder(lines, 'project', 'requests').map(({ by }) => by.project),
    ['p', null],
  );
});
