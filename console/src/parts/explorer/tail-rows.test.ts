import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerRow } from '../../../../src/admin/contract.ts';
import { noRows, type TailRows, takeEvent } from './tail-rows.ts';

const rows = (...ids: string[]): LedgerRow[] => ids.map((id) => ({ id }) as LedgerRow);
const came = (state: TailRows, isHeld: boolean, ...ids: string[]): TailRows =>
  takeEvent(state, { kind: 'came', rows: rows(...ids), isHeld });
const ids = ({ shown }: TailRows): string[] => shown.map(({ id }) => id);

test('new rows of the live list come on top, newest first, each once', () => {
  const state = came(came(noRows, false, 'a', 'b'), false, 'b', 'c');
  assert.deepEqual(ids(state), ['c', 'b', 'a']);
});

test('rows held back are counted, and added on top when released', () => {
  const held = came(came(came(noRows, false, 'a'), true, 'b', 'c'), true, 'c', 'd');
  assert.deepEqual([ids(held), held.heldCount], [['a'], 3]);
  const released = takeEvent(held, { kind: 'release' });
  assert.deepEqual([ids(released), released.heldCount], [['d', 'c', 'b', 'a'], 0]);
  assert.equal(takeEvent(released, { kind: 'release' }), released);
});

test('rows that arrive after the list was held also release the rows held back', () => {
  const held = came(came(noRows, false, 'a'), true, 'b');
  assert.deepEqual(ids(came(held, false, 'c')), ['c', 'b', 'a']);
});

test('keeps at most fifty rows', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `row ${index}`);
  const state = came(came(noRows, false, ...many), true, ...many.map((id) => `next ${id}`));
  assert.deepEqual([state.shown.length, state.held.length, state.heldCount], [50, 50, 1_000]);
  assert.equal(ids(state)[0], 'row 999');
  assert.deepEqual(takeEvent(state, { kind: 'begin' }), noRows);
});

test('up to ten rows that arrive together are marked as fresh; if more arrive, none is', () => {
  const batch = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name} ${index}`);
  const few = came(noRows, false, ...batch('first', 10));
  assert.deepEqual([...few.fresh], batch('first', 10).reverse());
  assert.deepEqual([...came(few, false, 'next').fresh], ['next']);
  const many = came(few, false, ...batch('next', 11));
  assert.deepEqual([many.shown.length, many.fresh.size], [21, 0]);
});
