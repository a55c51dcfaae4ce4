import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPiece, nothingWritten } from './written.ts';

const piece = (text: unknown, index: unknown = 0, reason: unknown = null) => ({
  choices: [{ index, text, finish_reason: reason }],
});

test('streamed pieces of several choices are joined by choice index', () => {
  const events = [piece('a', 0), piece('x', 1), piece('b', 0, 'stop'), piece('', 1, 'length'), { choices: [] }];
  assert.deepEqual(events.reduce(addPiece, nothingWritten), {
    texts: ['ab', 'x'],
    reasons: ['stop', 'length'],
    pieces: 3,
  });
});

test('a streamed piece without text adds nothing, and an invalid index creates no huge list', () => {
  const events = ['text', null, {}, { choices: 'no' }, piece(7), piece('a', 1e9), piece('b', -1), piece('c', 'x')];
  const { texts } = events.reduce(addPiece, nothingWritten);
  assert.deepEqual(texts, ['abc']);
});
