/** The scripts of the limiter, in a real Redis with a time of the test's own, beside the limiter in memory. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '@redis/client';
import fc from 'fast-check';
import { type Holder, noCaps, type Rate } from '../../src/core/caps.ts';
import type { Taken } from '../../src/limits/limiter.ts';
import { MemoryLimiter } from '../../src/limits/local-limiter.ts';
import { adjustScript, reserveScript } from '../../src/limits/redis-scripts.ts';
import { headersIn } from '../support/limits/rate-lines.ts';
import { startOwnRedis } from '../support/servers/redis.ts';
import { createFakeClock } from '../support/time/fake-clock.ts';

/** The scripts, with a time that the test sets. */
function atTestTime(text: string): string {
  const changed = text.replace("redis.call('TIME')", "{ 0, redis.call('GET', 'test-now') * 1000 }");
  assert.notEqual(changed, text);
  return changed;
}

test('counts in Redis as in memory, in any order of reserve, settle and wait', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const client = createClient({ url: redis.url, RESP: 2 });
  client.on('error', () => undefined); // the server ends before it
  await client.connect();
  t.after(() => client.destroy());
  const run = async (text: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> =>
    client.sendCommand(['EVAL', text, String(keys.length), ...keys, ...args.map(String)]);
  const [reserveText, adjustText] = [atTestTime(reserveScript.text), atTestTime(adjustScript.text)];
  const rates: Rate[] = [
    { measure: 'requests', window: 'minute', most: 9 },
    { measure: 'tokens', window: 'minute', most: 200 },
    { measure: 'tokens', window: 'day', most: 900 },
  ];
  const bucketMs = [1_000, 1_000, 1_440_000];
  const measures = [1, 2, 2];
  const keys = ['r', 't', 'd', 'crowd', 'nodes'];

  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('reserve' as const), value: fc.nat(80) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('settle' as const), value: fc.nat(80) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        value: fc.oneof(fc.nat(3_000), fc.nat(100_000), fc.nat(30_000_000)),
      }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (story) => {
      await client.sendCommand(['FLUSHALL']);
      const clock = createFakeClock(0);
      const limiter = new MemoryLimiter(clock);
      const holders = [{ kind: 'key', id: 'k', caps: { ...noCaps, rates, concurrency: 4 } }] satisfies Holder[];
      const open: { readonly taken: Taken; readonly tokens: number; readonly atMs: number }[] = [];
      clock.advance(100_000_000);
      for (const { do: what, value } of story) {
        await client.sendCommand(['SET', 'test-now', String(clock.monotonicMs())]);
        if (what === 'wait') clock.advance(value);
        else if (what === 'reserve') {
          const mine = limiter.reserve(holders, { requests: 1, tokens: value, items: 0 });
          const theirs = await run(reserveText, keys, [
            ...['node', 1, value, 0, 3],
            ...rates.flatMap(({ most }, index) => [measures[index] ?? 0, bucketMs[index] ?? 0, most]),
            4,
          ]);
          assert.ok(Array.isArray(theirs));
          if (mine.kind === 'taken') {
            assert.equal(theirs[0], 1);
            assert.equal(headersIn(mine)[3], String(9 - Number(theirs[2])));
            open.push({ taken: mine, tokens: value, atMs: clock.monotonicMs() });
          } else {
            assert.equal(theirs[0], 0);
            assert.equal(theirs[3], mine.isForever ? -1 : mine.retryAfterMs);
          }
        } else {
          const entry = open.shift();
          if (entry === undefined) continue;
          entry.taken.settle({ requests: 1, tokens: value, items: 0 });
          const more = value - entry.tokens;
          const bucket = (index: number): number => Math.floor(entry.atMs / (bucketMs[index] ?? 1));
          await run(
            adjustText,
            ['t', 'd', 'crowd'],
            ['node', 2, bucketMs[1] ?? 0, bucket(1), more, bucketMs[2] ?? 0, bucket(2), more, -1],
          );
        }
      }
    }),
    { numRuns: 60 },
  );
});
