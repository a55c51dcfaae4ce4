import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeDeadline } from './deadline.ts';

const tooLate = (): Error => new Error('too late');

test('an answer in time is handed on, and so is a failure', async () => {
  assert.equal(await beforeDeadline(Promise.resolve('here'), 60_000, tooLate), 'here');
  await assert.rejects(beforeDeadline(Promise.reject(new Error('refused')), 60_000, tooLate), /refused/);
});

test('once the time is up the wait ends with the error, and no timer is left either way', async () => {
  const { promise: never } = Promise.withResolvers<void>();
  await assert.rejects(beforeDeadline(never, 5, tooLate), /too late/);
  await beforeDeadline(Promise.resolve(), 60_000, tooLate);
  assert.equal(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length, 0);
});
