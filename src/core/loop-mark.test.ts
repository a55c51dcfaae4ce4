import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withOwnMark } from './loop-mark.ts';

test('a request carries on the marks that it came with, and ours behind them', () => {
  assert.equal(withOwnMark('own', undefined), 'own');
  assert.equal(withOwnMark('own', 'other'), 'other, own');
  assert.equal(withOwnMark('own', ' a ,b,\tc.d_e-f'), 'a, b, c.d_e-f, own');
  assert.equal(withOwnMark('own', 'owner'), 'owner, own');
});

test('one that has been here before is refused, wherever our mark stands among the others', () => {
  for (const came of ['own', 'a, own', 'own,a', 'a,own , b']) {
    assert.throws(() => withOwnMark('own', came), { code: 'malformed_request', status: 400 }, came);
  }
});

test('what is no list of marks, and a longer way than anybody builds, are refused', () => {
  const many = Array.from({ length: 16 }, (_, i) => `m${i}`);
  for (const came of ['', ',', 'a,,b', 'a b', 'a;b', 'a\x00', 'ü', 'x'.repeat(65), many.join(',')]) {
    assert.throws(() => withOwnMark('own', came), { code: 'malformed_request' }, JSON.stringify(came));
  }
  assert.equal(withOwnMark('own', many.slice(1).join(',')).split(', ').length, 16);
});
