import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countWords, type DiffPart, diffWords } from './word-diff.ts';

const marks = { same: '', removed: '-', added: '+' } as const;
const show = (parts: readonly DiffPart[]): string[] => parts.map(({ kind, text }) => marks[kind] + text);
const textOf = (parts: readonly DiffPart[], without: DiffPart['kind']): string =>
  parts.flatMap(({ kind, text }) => (kind === without ? [] : [text])).join('');

test('added and removed words are shown at their positions', () => {
  assert.deepEqual(show(diffWords('the small gate', 'the big gate')), ['the ', '-small', '+big', ' gate']);
  assert.deepEqual(show(diffWords('a gate', 'a small gate')), ['a ', '+small ', 'gate']);
  assert.deepEqual(show(diffWords('the small gate.', 'the back door.')), ['the ', '-small gate', '+back door', '.']);
  assert.deepEqual(show(diffWords('same', 'same')), ['same']);
  assert.deepEqual(show(diffWords('', 'new')), ['+new']);
  assert.deepEqual(diffWords('', ''), []);
});

test('the text before and after can be rebuilt from the parts of the diff', () => {
  const texts = [
    '',
    'a',
    'Größe, naïve – 日本語 text',
    'a b a b a',
    'b a b',
    'x\n\ny  z',
    "it's <b>bold</b> & more",
    '👍🏽 ok',
  ];
  for (const before of texts) {
    for (const after of texts) {
      const parts = diffWords(before, after);
      assert.equal(textOf(parts, 'added'), before);
      assert.equal(textOf(parts, 'removed'), after);
    }
  }
});

test('as many words as possible stay unchanged', () => {
  const parts = diffWords('a b c d e f', 'a c d x f');
  assert.equal(countWords(parts, 'same'), 4);
  assert.equal(countWords(parts, 'removed'), 2);
  assert.equal(countWords(parts, 'added'), 1);
});

test('texts too long to compare are shown as replaced, except for a common beginning and end', () => {
  const before = `start ${'a '.repeat(3_000)}end`;
  const after = `start ${'b '.repeat(3_000)}end`;
  assert.deepEqual(
    diffWords(before, after).map(({ kind }) => kind),
    ['same', 'removed', 'added', 'same'],
  );
});
