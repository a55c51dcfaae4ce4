import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSseReader } from './sse.ts';

const read = (...pieces: string[]): string[] => {
  const reader = createSseReader();
  return pieces.flatMap((piece) => reader.push(piece));
};

test('events are read across any chunks', () => {
  const text = 'data: {"a":1}\r\n\r\n: a comment\nevent: x\ndata: two\ndata: lines\n\ndata:[DONE]\r\r';
  const whole = ['{"a":1}', 'two\nlines', '[DONE]'];
  assert.deepEqual(read(text), whole);
  assert.deepEqual(read(...text), whole);
  for (let at = 0; at <= text.length; at += 1) assert.deepEqual(read(text.slice(0, at), text.slice(at)), whole);
});

test('an unfinished event is ignored', () => {
  assert.deepEqual(read('data: 1\n\ndata: half'), ['1']);
  assert.deepEqual(read('data: half\n'), []);
});

test('other fields, empty data and colons in data are handled as in the standard', () => {
  assert.deepEqual(read('\uFEFFdata: a:b\n\nid: 3\nretry\n\ndata\n\n'), ['a:b', '']);
});
