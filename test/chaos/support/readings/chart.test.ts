import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChartRow, createCanvas, drawChart, fitColumns } from './chart.ts';

const row = (values: ChartRow['values'], top = 8): ChartRow => ({ label: 'alpha', values, top, note: '' });

/** The cells of a chart's only row. */
function cells(values: ChartRow['values'], top?: number): string | undefined {
  const [first] = drawChart({ spanMs: 1_000, columns: values.length, rows: [row(values, top)], marks: [] });
  return first?.slice('alpha  '.length);
}

test('draws values from zero to the maximum as rising blocks', () => {
  assert.equal(cells([0, 1, 2, 3, 4, 5, 6, 7, 8]), '·▁▂▃▄▅▆▇█');
});

test('shows the smallest positive value as a block, and a value above the maximum as a full block', () => {
  assert.equal(cells([0.001, 8, 80]), '▁██');
});

test('leaves a gap for unknown values, and draws zeros if the maximum is zero', () => {
  assert.equal(cells([4, undefined, 4]), '▄ ▄');
  assert.equal(cells([0, 0], 0), '··');
});

test('aligns rows, axis and marks, however much data there is', () => {
  const lines = drawChart({
    spanMs: 10_000,
    columns: 20,
    rows: [
      { label: 'alpha', values: [2, 2, 2, 0], top: 2, note: '0/s' },
      { label: 'p99', values: [1, 1, 1, 4], top: 8, note: '12 ms' },
    ],
    marks: [
      { atMs: 1_500, text: 'alpha is killed' },
      { atMs: 9_000, text: 'alpha is back' },
    ],
  });
  assert.deepEqual(lines, [
    'alpha  ███·                  0/s',
    'p99    ▁▁▁▄                  12 ms',
    '       ───1──────────────2─',
    '       0 s             10 s',
    '    1  1.5 s: alpha is killed',
    '    2  9 s: alpha is back',
  ]);
});

test('simultaneous marks are side by side, and none is beyond the axis', () => {
  const marks = [1_000, 1_000, 1_000, 5_000].map((atMs) => ({ atMs, text: 'x' }));
  const [, axis] = drawChart({ spanMs: 5_000, columns: 10, rows: [row([])], marks });
  assert.equal(axis, '       ──123─────');
});

test('a canvas erases all lines of the previous picture before it shows the next', () => {
  const written: string[] = [];
  const canvas = createCanvas({
    columns: 10,
    write: (text: string | Uint8Array) => written.push(String(text)) > 0,
  });
  canvas.show(['one', 'two']);
  canvas.show(['a line that would wrap']);
  canvas.show(['end']);
  assert.deepEqual(written, ['one\ntwo\n', '\r\x1b[2A\x1b[Ja line th\n', '\r\x1b[1A\x1b[Jend\n']);
});

test('uses the width left beside labels and notes, within limits', () => {
  assert.deepEqual([fitColumns(80, 20), fitColumns(300, 20), fitColumns(10, 20)], [60, 72, 24]);
  assert.deepEqual([fitColumns(0, 20), fitColumns(undefined, 20)], [60, 60]);
});
