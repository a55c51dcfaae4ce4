import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineBytes } from './line-bytes.ts';

function written(write: (line: LineBytes) => void): string {
  const line = new LineBytes(1);
  write(line);
  return line.take().toString();
}

test('numbers are written as JSON writes them', () => {
  const numbers = [0, 7, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, 2 ** 53, 1e21, 1.5, -1, -0, 0.1 + 0.2];
  for (const number of numbers)
    assert.equal(
      written((line) => line.number(number)),
      JSON.stringify(number),
    );
  for (const none of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.equal(
      written((line) => line.number(none)),
      'null',
    );
  }
});

test('tenths() rounds to one decimal place and leaves out a zero there', () => {
  const tenths = { 0: '0', 12.34: '12.3', 12.35: '12.4', 9.96: '10', 0.04: '0', 0.05: '0.1', 3e9: '3000000000' };
  for (const [value, text] of Object.entries(tenths)) {
    assert.equal(
      written((line) => line.tenths(Number(value))),
      text,
    );
  }
  assert.equal(
    written((line) => line.tenths(-1.26)),
    '-1.3',
  );
  assert.equal(
    written((line) => line.tenths(Number.NaN)),
    'null',
  );
});

test('appended texts, bytes and numbers stay in order however often the buffer grows', () => {
  const text = written((line) => {
    for (let count = 0; count < 100; count += 1) {
      line.ascii('a:');
      line.text('\u00fc\u20ac\u{1f600}');
      line.number(count);
      line.copy(Buffer.from('|'));
      line.tenths(count / 10);
    }
  });
  const expected = Array.from({ length: 100 }, (_, count) => `a:\u00fc\u20ac\u{1f600}${count}|${count / 10}`);
  assert.equal(text, expected.join(''));
});

test('taking the bytes up to a position keeps those after it', () => {
  const line = new LineBytes(4);
  line.ascii('first');
  const end = line.length;
  line.ascii('second');
  assert.equal(line.take(end).toString(), 'first');
  line.ascii('!');
  assert.equal(line.take().toString(), 'second!');
  assert.equal(line.length, 0);
});
