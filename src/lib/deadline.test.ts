import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeDeadline } from './deadline.ts';

const tooLate = (): Error => new Error('too late');

test('a promise settled before the deadline passes on its result or failure', async () => {
  assert.equal(await beforeDeadline(Promise.resolve('here'), 60_000, tooLate), 'here');
  await assert.rejects(beforeDeadline(Promise.reject(new Error('refused')), 60_000, tooLate), /refused/);
});

test('a promise still pending at the deadline rejects with the given error, and no timer is left', async (t) => {
  const cleared = t.mock.method(globalThis, 'clearTimeout');
  const set = t.mock.method(globalThis, 'setTimeout');
  const { promise: never } = Promise.withResolvers<void>();
  await assert.rejects(beforeDeadline(never, 5, tooLate), /too late/);
  await beforeDeadline(Promise.resolve(), 60_000, tooLate);
  const own = set.mock.calls.filter(({ arguments: [, ms] }) => ms === 5 || ms === 60_000).map(({ result }) => result);
  assert.equal(own.length, 2);
  for (const timer of own) assert.ok(cleared.mock.calls.some(({ arguments: [one] }) => one === timer));
});
