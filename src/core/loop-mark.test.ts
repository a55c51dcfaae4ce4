import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withOwnMark } from './loop-mark.ts';

test("a forwarded request keeps its loop marks, with this gateway's mark appended", () => {
  assert.equal(withOwnMark('own', undefined), 'own');
  assert.equal(withOwnMark('own', 'other'), 'other, own');
  assert.equal(withOwnMark('own', ' a ,b,\tc.d_e-f'), 'a, b, c.d_e-f, own');
  assert.equal(withOwnMark('own', 'owner'), 'owner, own');
});

test("refuses a request whose loop marks contain this gateway's own", () => {
  for (const came of ['own', 'a, own', 'own,a', 'a,own , b']) {
    assert.throws(() => withOwnMark('own', came), { code: 'malformed_request', status: 400 }, came);
  }
});

test('refuses a malformed list of loop marks and one that is too long', () => {
  const many = Array.from({ length: 16 }, (_, i) => `m${i}`);
  for (const came of ['', ',', 'a,,b', 'a b', 'a;b', 'a\x00', 'ü', 'x'.repeat(65), many.join(',')]) {
    assert.throws(() => withOwnMark('own', came), { code: 'malformed_request' }, JSON.stringify(came));
  }
  assert.equal(withOwnMark('own', many.slice(1).join(',')).split(', ').length, 16);
});
