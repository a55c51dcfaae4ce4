import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slots, Window } from './window.ts';

const minuteMs = 60_000;

function toldOf(window: Window, nowMs: number): [number, number][] {
  const told: [number, number][] = [];
  window.tell(nowMs, (bucket, amount) => told.push([bucket, amount]));
  return told;
}

test('what was noted is told once, bucket by bucket', () => {
  const window = new Window(minuteMs, 5_000);
  window.note(5_000, 2);
  window.note(5_900, 1);
  window.note(7_000, 4);
  window.note(8_000, 0);
  assert.deepEqual(toldOf(window, 8_000), [
    [5, 3],
    [7, 4],
  ]);
  assert.deepEqual(toldOf(window, 8_000), []);
});

test('what was noted so long ago that it counts no more is not told, and never as something of now', () => {
  const window = new Window(minuteMs, 0);
  window.note(0, 2);
  assert.equal(window.totalAt(slots * 1_000), 0);
  window.note(0, 3);
  assert.deepEqual(toldOf(window, slots * 1_000), []);
  window.note(1_000, 5);
  assert.deepEqual(toldOf(window, slots * 1_000), [[1, 5]]);
});

test('a node may use its part of what others left, less what it let through since, as long as that was heard lately', () => {
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
