import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Line, LineReader } from './lines.ts';

function readIn(pieces: readonly Buffer[], longestBytes: number): Line[] {
  const reader = new LineReader(longestBytes);
  const lines = pieces.flatMap((piece) => [...reader.push(piece)]);
  const last = reader.end();
  return last === undefined ? lines : [...lines, last];
}

test('splits into the same numbered lines across any chunks', () => {
  const text = fc.array(fc.constantFrom('a', 'bc', '\n', '\r\n', 'é'), { maxLength: 30 }).map((some) => some.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (whole, step) => {
      const bytes = Buffer.from(whole);
      const pieces = [];
      for (let at = 0; at < bytes.length; at += step) pieces.push(bytes.subarray(at, at + step));
      const expected = whole.split('\n');
      if (expected.at(-1) === '') expected.pop();
      const lines = readIn(pieces, 1_000);
      assert.deepEqual(
        lines.map((line) => line.bytes?.toString()),
        expected,
      );
      for (const { no, at, bytes: line } of lines) {
        assert.equal(bytes.subarray(at, at + (line?.length ?? 0)).toString(), expected[no - 1]);
      }
    }),
  );
});

test('an overlong line takes no memory, and the lines after it are read', () => {
  const pieces = ['12345678', '9', '\nok\n123456789', '\n12345678\n', '1234567890'].map((text) => Buffer.from(text));
  assert.deepEqual(
    readIn(pieces, 8).map(({ no, at, bytes }) => [no, at, bytes?.toString()]),
    [
      [1, 0, undefined],
      [2, 10, 'ok'],
      [3, 13, undefined],
      [4, 23, '12345678'],
      [5, 32, undefined],
    ],
  );
  const reader = new LineReader(8);
  for (let no = 0; no < 5; no += 1) assert.deepEqual([...reader.push(Buffer.from('12345'))], []);
  assert.equal(reader.heldBytes, 0);
});
