import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClientWork, Listening } from '../../core/outcome.ts';
import { fullJitterMs, pause } from './pause.ts';

test('a pause ends when its time is over or its client leaves, and does not begin for a client that has left', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const client: Listening = { gone: false, work: undefined };
  const over = pause(1_000, client);
  t.mock.timers.tick(1_000);
  assert.deepEqual([await over, client.work], [true, undefined]);
  const left = pause(1_000, client);
  (client.work as ClientWork | undefined)?.clientLeft();
  assert.equal(client.work, undefined);
  assert.equal(await left, false);
  client.gone = true;
  assert.equal(await pause(1_000, client), false);
});

test('the longest delay doubles with each attempt, up to a second', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 2_000].map((attempt) => fullJitterMs(attempt, () => 1));
  assert.deepEqual(longest, [50, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test('delays are uniformly distributed up to the longest', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(40), random, (attempt, chance) => {
      const waitMs = fullJitterMs(attempt, () => chance);
      assert.equal(waitMs, chance * fullJitterMs(attempt, () => 1));
      assert.ok(waitMs >= 0 && waitMs < 1_000);
    }),
  );
});
