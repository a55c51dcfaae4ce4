import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ranked, scoreOf, typosBetween } from './matching.ts';

test('ranks a match as prefix first, then as inner word, as part of a word, and with a typo', () => {
  const names = ['audit log', 'see the audit', 'preaudit', 'audot'];
  assert.deepEqual(
    ranked('audit', names.toReversed(), (name) => [name]),
    names,
  );
});

test('finds a name despite wrong, missing, extra or swapped letters', () => {
  for (const typed of ['rvoke', 'revkoe', 'revvoke', 'revoke', 'rewoke']) {
    assert.notEqual(scoreOf(typed, ['Revoke a key']), undefined, typed);
  }
  assert.notEqual(scoreOf('hash-enbed', ['local/hash-embed']), undefined);
  assert.notEqual(scoreOf('text-embeding', ['text-embedding-3-small']), undefined);
});

test('typing errors in short words are not tolerated, and every typed word must be found', () => {
  assert.equal(scoreOf('kye', ['Keys and projects']), undefined);
  assert.equal(scoreOf('settings', ['Models', 'visible']), undefined);
  assert.equal(scoreOf('audit rotate', ['Audit log']), undefined, 'each word has to be found');
});

test('counts typos in the typed beginning of a name, not the missing rest', () => {
  assert.equal(typosBetween('playgr', 'playground', 1), 0);
  assert.equal(typosBetween('plaigr', 'playground', 1), 1);
  assert.equal(typosBetween('xyz', 'playground', 1), 2);
});

test('without a typed query all names are listed in their order', () => {
  assert.deepEqual(
    ranked('', ['b', 'a'], (name) => [name]),
    ['b', 'a'],
  );
});
