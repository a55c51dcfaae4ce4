import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  highest,
  lonely,
  stack,
  toArea,
  toBars,
  toEdge,
  toLine,
  toMarks,
  toTicks,
  toTimeMarks,
} from './chart-geometry.ts';

const plot = { left: 0, top: 0, width: 100, height: 50 };

test('axis ticks are evenly spaced, begin at zero, are few, and reach the maximum', () => {
  for (const most of [0, 0.0003, 0.07, 1, 3, 9.99, 10, 42, 100, 1234, 7e9]) {
    const ticks = toTicks(most);
    assert.equal(ticks[0], 0);
    assert.ok((ticks.at(-1) ?? 0) >= most * 0.999, String(most));
    assert.ok(ticks.length >= 2 && ticks.length <= 6, `${most}: ${ticks}`);
  }
  assert.deepEqual(toTicks(10), [0, 5, 10]);
  assert.deepEqual(toTicks(Number.NaN), [0, 1]);
});

test('stacked series add up, and unknown values stay unknown', () => {
  assert.deepEqual(
    stack([
      [1, 2, undefined],
      [3, 0, undefined],
    ]),
    [
      { low: [0, 0, undefined], high: [1, 2, undefined] },
      { low: [1, 2, undefined], high: [4, 2, undefined] },
    ],
  );
  assert.equal(highest([[1, undefined], [0.5]]), 1);
});

test('lines and areas have gaps for unknown values', () => {
  const values = [1, undefined, 2, 2];
  assert.equal(toLine(values, plot, 2).match(/M/g)?.length, 2);
  const [layer] = stack([values]);
  assert.ok(layer);
  assert.equal(toArea(layer, plot, 2).match(/Z/g)?.length, 2);
  assert.equal(toLine([undefined], plot, 2), '');
  assert.deepEqual(lonely([1, undefined, 2, 2, undefined, 3]), [0, 5]);
});

test('a stacked layer has an upper edge only at and beside its own non-zero values', () => {
  const values = [0, 0, 0, 2, 0, 0];
  const [, layer] = stack([[5, 5, 5, 5, 5, 5], values]);
  assert.ok(layer);
  assert.deepEqual(toEdge(values, layer), [undefined, undefined, 5, 7, 5, undefined]);
});

test('a bar of zero is not drawn', () => {
  const [layer] = stack([[0, 4, undefined]]);
  assert.ok(layer);
  assert.equal(toBars(layer, plot, 4).match(/M/g)?.length, 1);
});

test('the last point in time has a label, and labels fit the width', () => {
  assert.deepEqual(toMarks(0, 100, 50), []);
  assert.deepEqual(toMarks(1, 10, 50), [0]);
  const marks = toMarks(60, 400, 100);
  assert.ok(marks.length <= 4);
  assert.equal(marks.at(-1), 59);
});

test("time labels are at round times of the reader's time zone, with the day at midnight", () => {
  const minuteMs = 60_000;
  const from = (hour: number, minute: number): number => new Date(2026, 10, 26, hour, minute).getTime();
  const points = (fromMs: number, stepMinutes: number, count: number): number[] =>
    Array.from({ length: count }, (_, at) => fromMs + at * stepMinutes * minuteMs);
  const minutesOf = (times: readonly number[], most: number): number[] =>
    toTimeMarks(times, most).map(({ at }) => new Date(times[at] ?? 0).getMinutes());
  assert.deepEqual(minutesOf(points(from(6, 4), 1, 60), 4), [15, 30, 45, 0]);
  assert.deepEqual(minutesOf(points(from(6, 5), 5, 12), 6), [10, 20, 30, 40, 50, 0]);
  const day = points(from(7, 0), 15, 96);
  const marks = toTimeMarks(day, 4).map(({ at, label }) => ({ hour: new Date(day[at] ?? 0).getHours(), label }));
  assert.deepEqual(
    marks.map(({ hour }) => hour),
    [12, 18, 0, 6],
  );
  assert.match(marks[2]?.label ?? '', /27/);
  const month = points(from(0, 0), 360, 120);
  assert.deepEqual(new Set(toTimeMarks(month, 5).map(({ at }) => new Date(month[at] ?? 0).getHours())), new Set([0]));
  assert.deepEqual(toTimeMarks([from(6, 4)], 4).length, 1);
});
