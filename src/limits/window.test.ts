import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slots, Window } from './window.ts';

const minuteMs = 60_000;

function reportOf(window: Window, nowMs: number): [number, number][] {
  const reported: [number, number][] = [];
  window.report(nowMs, (bucket, amount) => reported.push([bucket, amount]));
  return reported;
}

test('counts are reported once, as a sum for each one-second bucket', () => {
  const window = new Window(minuteMs, 5_000);
  window.note(5_000, 2);
  window.note(5_900, 1);
  window.note(7_000, 4);
  window.note(8_000, 0);
  assert.deepEqual(reportOf(window, 8_000), [
    [5, 3],
    [7, 4],
  ]);
  assert.deepEqual(reportOf(window, 8_000), []);
});

test('counts older than the window are neither reported nor part of the current total', () => {
  const window = new Window(minuteMs, 0);
  window.note(0, 2);
  assert.equal(window.totalAt(slots * 1_000), 0);
  window.note(0, 3);
  assert.deepEqual(reportOf(window, slots * 1_000), []);
  window.note(1_000, 5);
  assert.deepEqual(reportOf(window, slots * 1_000), [[1, 5]]);
});

test("a node's share of the remaining amount falls by its own use, and ends a second after the last report", () => {
  const window = new Window(minuteMs, 0);
  assert.equal(window.shareOfRest(0, 10, 2), undefined);
  window.hear(0, 4);
  assert.equal(window.shareOfRest(0, 10, 2), 3);
  window.addUnheard(2);
  assert.equal(window.shareOfRest(999, 10, 2), 1);
  assert.equal(window.shareOfRest(1_000, 10, 2), undefined);
  window.hear(1_000, 12);
  assert.equal(window.shareOfRest(1_000, 10, 2), 0);
});
