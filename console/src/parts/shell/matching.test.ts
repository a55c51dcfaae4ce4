import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ranked, scoreOf, typosBetween } from './matching.ts';

test('a prefix comes before a word inside, a word before a part, a part before a typo', () => {
  const names = ['audit log', 'see the audit', 'preaudit', 'audot'];
  assert.deepEqual(
    ranked('audit', names.toReversed(), (name) => [name]),
    names,
  );
});

test('letters that are wrong, missing, too many or swapped still find a name', () => {
  for (const typed of ['rvoke', 'revkoe', 'revvoke', 'revoke', 'rewoke']) {
    assert.notEqual(scoreOf(typed, ['Revoke a key']), undefined, typed);
  }
  assert.notEqual(scoreOf('hash-enbed', ['local/hash-embed']), undefined);
  assert.notEqual(scoreOf('text-embeding', ['text-embedding-3-small']), undefined);
});

test('short words take no typo, and other words are not found', () => {
  assert.equal(scoreOf('kye', ['Keys and projects']), undefined);
  assert.equal(scoreOf('settings', ['Models', 'visible']), undefined);
  assert.equal(scoreOf('audit rotate', ['Audit log']), undefined, 'each word has to be found');
});

test('what is not typed yet costs nothing', () => {
  assert.equal(typosBetween('playgr', 'playground', 1), 0);
  assert.equal(typosBetween('plaigr', 'playground', 1), 1);
  assert.equal(typosBetween('xyz', 'playground', 1), 2);
});

test('nothing typed leaves all as they stand', () => {
  assert.deepEqual(
    ranked('', ['b', 'a'], (name) => [name]),
    ['b', 'a'],
  );
});
