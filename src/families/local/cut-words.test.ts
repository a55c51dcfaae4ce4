import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { eachWord, foldedStretches } from './cut-words.ts';

function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const stretch of foldedStretches(text)) eachWord(stretch, (word) => words.push(word));
  return words;
}

test('splits words of letters, marks and digits at anything else', () => {
  assert.deepEqual(wordsOf("Don't PANIC: it's 42_times (café-bar)!"), [
    'don',
    't',
    'panic',
    'it',
    's',
    '42',
    'times',
    'café',
    'bar',
  ]);
  assert.deepEqual(wordsOf('السَّلامُ عليكم שלום'), ['السَّلامُ', 'عليكم', 'שלום']);
});

test('normalises case, width, composition and invisible characters', () => {
  for (const [one, other] of [
    ['STRASSE', 'Straße'],
    ['ΟΔΟΣ', 'οδος'],
    ['ＡＢＣ１２３', 'abc123'],
    ['caf\u0065\u0301', 'CAFÉ'],
    ['ﬁle', 'FILE'],
    ['co\u00adop\u200berate', 'cooperate'],
  ] as const) {
    assert.deepEqual(wordsOf(one), wordsOf(other));
  }
});

test('treats each character of a script without spaces, and each emoji, as a word', () => {
  assert.deepEqual(wordsOf('東京タワー is 大きい🎉🎉'), [
    '東',
    '京',
    'タ',
    'ワ',
    'ー',
    'is',
    '大',
    'き',
    'い',
    '🎉',
    '🎉',
  ]);
  assert.deepEqual(wordsOf('한국어 문장'), ['한국어', '문장']);
});

test('treats a text of only symbols as one word, and white space as none', () => {
  assert.deepEqual(wordsOf('?! ?!'), ['?!?!']);
  assert.deepEqual(wordsOf(' \n\t '), []);
  assert.deepEqual(wordsOf(''), []);
});

test('treats lone surrogates as symbols between words', () => {
  assert.deepEqual(wordsOf('a\ud800b'), ['a', 'b']);
  assert.deepEqual(wordsOf('\ud800'), ['\ufffd']);
});

test('splits long texts between words, and very long words between characters', () => {
  const words = Array.from({ length: 20_000 }, (_, at) => `word${at}`);
  assert.deepEqual(wordsOf(words.join(' ')), words);

  const endless = `a${'𝒳'.repeat(20_000)}`;
  assert.equal([...foldedStretches(endless)].join(''), `a${'x'.repeat(20_000)}`);
});

test('reading a text in pieces gives all its characters', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'B', ' ', '\n', '.'),
    minLength: 0,
    maxLength: 30_000,
    size: 'max',
  });
  fc.assert(
    fc.property(text, (each) => {
      assert.equal([...foldedStretches(each)].join(''), each.toLowerCase());
    }),
    { numRuns: 30 },
  );
});

test('normalises at most 32 combining marks at a time, and drops no mark', (t) => {
  const spell = String.prototype.normalize;
  let longest = 0;
  t.mock.method(String.prototype, 'normalize', function (this: string, form: string) {
    for (const [run] of this.matchAll(/[\p{M}\uff9e\uff9f]+/gu)) longest = Math.max(longest, run.length);
    return spell.call(this, form);
  });
  // Of several combining classes, out of canonical order.
  const marks = '\u0301\u0316\u0334\uff9e\u0327'.repeat(2_000);
  const [folded] = [...foldedStretches(`a${marks.slice(0, 6_000)} b`)];
  assert.ok(longest > 0 && longest <= 32, String(longest));
  assert.equal(folded?.length, 'á'.length + 6_000 - 1 + ' b'.length);
});
