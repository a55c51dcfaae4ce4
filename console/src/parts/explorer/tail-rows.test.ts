import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerRow } from '../../../../src/admin/contract.ts';
import { noRows, type TailRows, takeEvent } from './tail-rows.ts';

const rows = (...ids: string[]): LedgerRow[] => ids.map((id) => ({ id }) as LedgerRow);
const came = (state: TailRows, isHeld: boolean, ...ids: string[]): TailRows =>
  takeEvent(state, { kind: 'came', rows: rows(...ids), isHeld });
const ids = ({ shown }: TailRows): string[] => shown.map(({ id }) => id);

test('what comes is on top, the last one first, and each once', () => {
  const state = came(came(noRows, false, 'a', 'b'), false, 'b', 'c');
  assert.deepEqual(ids(state), ['c', 'b', 'a']);
});

test('what has to wait is counted, and comes on top when it is let go', () => {
  const held = came(came(came(noRows, false, 'a'), true, 'b', 'c'), true, 'c', 'd');
  assert.deepEqual([ids(held), held.heldCount], [['a'], 3]);
  const released = takeEvent(held, { kind: 'release' });
  assert.deepEqual([ids(released), released.heldCount], [['d', 'c', 'b', 'a'], 0]);
  assert.equal(takeEvent(released, { kind: 'release' }), released);
});

test('what comes when nobody looks brings along what waited', () => {
  const held = came(came(noRows, false, 'a'), true, 'b');
  assert.deepEqual(ids(came(held, false, 'c')), ['c', 'b', 'a']);
});

test('however much comes, the page holds a hundred', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `row ${index}`);
  const state = came(came(noRows, false, ...many), true, ...many.map((id) => `next ${id}`));
  assert.deepEqual([state.shown.length, state.held.length, state.heldCount], [100, 100, 1_000]);
  assert.equal(ids(state)[0], 'row 999');
  assert.deepEqual(takeEvent(state, { kind: 'begin' }), noRows);
});
