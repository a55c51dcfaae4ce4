import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reading, ReadRequest } from '../../../support/wire/reading.ts';
import { differenceBehind } from './passed-on.ts';

const own: ReadRequest = { method: 'POST', target: '/a', minor: 1, fields: ['Host', 'a', 'X', 'y'], body: 'ok' };
const passed: ReadRequest = { ...own, fields: ['host', 'a', 'x', 'y', 'x-origin-port', '1', 'connection', 'close'] };

function differs(requests: readonly ReadRequest[], end: Reading['end'], behind: readonly ReadRequest[]): boolean {
  return differenceBehind({ requests, end }, behind, Buffer.from('any')) !== undefined;
}

test('a front proxy may forward the same or fewer requests, and any that the gateway refuses', () => {
  assert.equal(differs([own], 'clean', [passed]), false);
  assert.equal(differs([own, own], 'clean', [passed]), false);
  assert.equal(differs([own], 'clean', []), false);
  assert.equal(differs([own], 'refused', [passed, passed]), false);
  assert.equal(differs([own], 'last', [passed, passed]), false);
});

test('a request that is passed on changed, or was never sent, is a fault', () => {
  for (const other of [
    { method: 'PUT' },
    { target: '/b' },
    { body: 'o' },
    { fields: ['host', 'a', 'x', 'z'] },
    { fields: ['host', 'a'] },
  ]) {
    assert.equal(differs([own], 'clean', [{ ...passed, ...other }]), true, JSON.stringify(other));
  }
  assert.equal(differs([own], 'clean', [passed, passed]), true);
  assert.equal(differs([own], 'cut', [passed, passed]), true);
  assert.equal(differs([own], 'refused', [{ ...passed, body: '' }]), true);
});
