import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toKeyRecord } from '../../test/support/gateways/keys.ts';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import type { KeyRecord } from '../core/key.ts';
import { createKeyDirectory, type KeyDirectoryDeps } from './store-keys.ts';

const record = (id: string, revokedAtMs?: number): KeyRecord => toKeyRecord({ id, revokedAtMs });

/** A directory over a store with the test's `rows`, which counts its queries. */
function setUp(more: Partial<KeyDirectoryDeps> = {}) {
  const clock = createFakeClock();
  const rows = new Map<string, KeyRecord>();
  const state = { asked: 0, mode: 'up' as 'up' | 'down' | 'hung' };
  const directory = createKeyDirectory({
    clock,
    store: {
      async find(digest) {
        state.asked++;
        if (state.mode === 'down') throw new Error('connection refused');
        if (state.mode === 'hung') await new Promise(() => {});
        return rows.get(digest);
      },
    },
    ...more,
  });
  return { clock, rows, state, directory };
}

test('a recently read key is returned from the cache, synchronously and without a query', async () => {
  const { directory, rows, state, clock } = setUp();
  const key = record('key_a');
  rows.set('a', key);
  assert.equal(await directory.find('a'), key);
  clock.advance(999);
  assert.equal(directory.find('a'), key);
  assert.equal(state.asked, 1);
});

test('a key recently found to be unknown is answered from the cache, synchronously', async () => {
  const { directory, state, clock } = setUp();
  assert.equal(await directory.find('x'), undefined);
  clock.advance(999);
  assert.equal(directory.find('x'), undefined);
  assert.equal(state.asked, 1);
});

test('a revocation in the store takes effect when the cached key is one second old', async () => {
  const { directory, rows, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('the age of a cached key counts from the start of its query', async () => {
  const clock = createFakeClock();
  const rows = new Map([['a', record('key_a')]]);
  const directory = createKeyDirectory({
    clock,
    store: {
      async find(digest) {
        const row = rows.get(digest);
        clock.advance(600); // the answer is in flight
        return row;
      },
    },
  });
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  clock.advance(400);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a key created after a look-up found none is found once the cached result is a second old', async () => {
  const { directory, rows, clock } = setUp();
  assert.equal(await directory.find('a'), undefined);
  rows.set('a', record('key_a'));
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.id, 'key_a');
});

test('a deleted key is not answered from the cache if the store fails right after its deletion', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  rows.delete('a');
  clock.advance(1_000);
  assert.equal(await directory.find('a'), undefined);
  state.mode = 'down';
  clock.advance(1_000);
  await assert.rejects(async () => directory.find('a'), { code: 'store_unavailable' });
});

test('concurrent look-ups of one key share one query', async () => {
  const { directory, rows, state } = setUp();
  rows.set('a', record('key_a'));
  const found = await Promise.all(Array.from({ length: 50 }, () => directory.find('a')));
  assert.equal(found.filter((key) => key?.id === 'key_a').length, 50);
  assert.equal(state.asked, 1);
});

test('while the store fails, a cached key works for ten minutes and then causes 503', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  state.mode = 'down';
  for (let passedMs = 0; passedMs < 599_500; passedMs += 500) {
    clock.advance(500);
    assert.equal((await directory.find('a'))?.id, 'key_a', `after ${passedMs} ms`);
  }
  clock.advance(500);
  await assert.rejects(async () => directory.find('a'), { code: 'store_unavailable', status: 503 });
});

test('a key whose look-up failed is reported as unavailable, never as unknown', async () => {
  const { directory, rows, state } = setUp();
  rows.set('a', record('key_a'));
  state.mode = 'down';
  await assert.rejects(
    async () => directory.find('a'),
    (error: Error) => {
      assert.equal('code' in error && error.code, 'store_unavailable');
      assert.match(String(error.cause), /connection refused/);
      return true;
    },
  );
  state.mode = 'up';
  assert.equal((await directory.find('a'))?.id, 'key_a');
});

test('while the store fails, a key found unknown before causes 503, not unknown', async () => {
  const { directory, state, clock } = setUp();
  assert.equal(await directory.find('x'), undefined);
  state.mode = 'down';
  clock.advance(1_000);
  await assert.rejects(async () => directory.find('x'), { code: 'store_unavailable' });
});

test('a key that was cached as revoked stays revoked while the store fails', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a', 1));
  await directory.find('a');
  state.mode = 'down';
  clock.advance(60_000);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a store that fails is queried about once a second, and no request waits for it', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  state.mode = 'down';
  clock.advance(1_000);
  await directory.find('a');
  state.asked = 0;
  for (let tick = 0; tick < 100; tick++) {
    clock.advance(100);
    const answer = directory.find('a');
    assert.equal(answer instanceof Promise, false);
    await settled();
  }
  assert.equal(state.asked, 10);
});

/** A key that was read, and revoked during an outage that is over now. */
async function revokeInOutage(): Promise<ReturnType<typeof setUp>> {
  const all = setUp();
  const { directory, rows, state, clock } = all;
  rows.set('a', record('key_a'));
  await directory.find('a');
  state.mode = 'down';
  clock.advance(1_000);
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  state.mode = 'up';
  return all;
}

test('a key that was revoked during an outage of the store is refused within a second of its end', async () => {
  const { directory, clock } = await revokeInOutage();
  clock.advance(1_000);
  await directory.find('a');
  await settled();
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a key that was not used during the outage is looked up before it is used again', async () => {
  const { directory, clock } = await revokeInOutage();
  clock.advance(120_000);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a store that does not answer counts as failing', async () => {
  const { directory, rows, state, clock } = setUp({ lookUpTimeoutMs: 5 });
  rows.set('a', record('key_a'));
  await directory.find('a');
  state.mode = 'hung';
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.id, 'key_a');
  await assert.rejects(async () => directory.find('b'), { code: 'store_unavailable' });
});

test('many look-ups of unknown keys evict no known key from the cache', async () => {
  const { directory, rows, state } = setUp({ maxEntries: 100 });
  rows.set('a', record('key_a'));
  await directory.find('a');
  for (let round = 0; round < 10_000; round++) await directory.find(`random-${round}`);
  state.asked = 0;
  assert.equal((await directory.find('a'))?.id, 'key_a');
  assert.equal(state.asked, 0);
});

test('caches the latest unknown keys, up to the limit', async () => {
  const { directory, state } = setUp({ maxEntries: 100 });
  for (let round = 0; round < 1_000; round++) await directory.find(`random-${round}`);
  state.asked = 0;
  for (let round = 900; round < 1_000; round++) await directory.find(`random-${round}`);
  assert.equal(state.asked, 0);
  await directory.find('random-899');
  assert.equal(state.asked, 1);
});

test('caches the latest known keys, up to the limit', async () => {
  const { directory, rows, state } = setUp({ maxEntries: 100 });
  for (let round = 0; round < 101; round++) {
    rows.set(`key-${round}`, record(`key_${round}`));
    await directory.find(`key-${round}`);
  }
  state.asked = 0;
  for (let round = 1; round < 101; round++) await directory.find(`key-${round}`);
  assert.equal(state.asked, 0);
  await directory.find('key-0');
  assert.equal(state.asked, 1);
});

test('while the store confirms that no key changed, cached keys need no query', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  await directory.find('x');
  state.asked = 0;
  for (let passedMs = 0; passedMs < 3_600_000; passedMs += 500) {
    directory.confirmed(clock.monotonicMs());
    clock.advance(500);
    assert.equal((directory.find('a') as KeyRecord).id, 'key_a');
    assert.equal(directory.find('x'), undefined);
  }
  assert.equal(state.asked, 0);
});

test('a second after the store last confirmed that no key changed, a cached key is queried again', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  clock.advance(5_000);
  directory.confirmed(clock.monotonicMs() - 200);
  clock.advance(799);
  assert.equal(directory.find('a') instanceof Promise, false);
  rows.set('a', record('key_a', 1));
  clock.advance(1);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
  assert.equal(state.asked, 2);
});

test('a reported change of a key takes effect at its next look-up, despite later confirmations', async () => {
  const { directory, rows, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  directory.changed(['key_a']);
  directory.confirmed(clock.monotonicMs());
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
  assert.equal((directory.find('a') as KeyRecord).revokedAtMs, 1);
});

test('a reported change of one key does not affect other cached keys', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  rows.set('b', record('key_b'));
  await directory.find('a');
  await directory.find('b');
  clock.advance(5_000);
  directory.changed(['key_b']);
  directory.confirmed(clock.monotonicMs());
  state.asked = 0;
  assert.equal((directory.find('a') as KeyRecord).id, 'key_a');
  assert.equal(state.asked, 0);
  await directory.find('b');
  assert.equal(state.asked, 1);
});

test('a report that any key may have changed causes each key to be queried again', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  clock.advance(5_000);
  directory.changed();
  directory.confirmed(clock.monotonicMs());
  state.asked = 0;
  await directory.find('a');
  assert.equal(state.asked, 1);
});

test('a key cached as unknown is found as soon as the store reports it as new', async () => {
  const { directory, rows, clock } = setUp();
  directory.confirmed(clock.monotonicMs());
  assert.equal(await directory.find('a'), undefined);
  rows.set('a', record('key_a'));
  directory.changed(['key_a']);
  directory.confirmed(clock.monotonicMs());
  assert.equal((await directory.find('a'))?.id, 'key_a');
});

test('the result of a key query that overlapped with a change is used for a second at most', async () => {
  const clock = createFakeClock();
  const { promise: slow, resolve } = Promise.withResolvers<KeyRecord | undefined>();
  const answers = [slow, slow, Promise.resolve(record('key_a', 1)), Promise.resolve(record('key_b'))];
  const directory = createKeyDirectory({ clock, store: { find: () => answers.shift() ?? slow } });
  const asked = [directory.find('a'), directory.find('b')];
  directory.changed(['key_a']);
  resolve(undefined);
  assert.deepEqual(await Promise.all(asked), [undefined, undefined]);
  directory.confirmed(clock.monotonicMs());
  // An unknown key may be created meanwhile: the result is not cached.
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);

  const late = Promise.withResolvers<KeyRecord | undefined>();
  answers.splice(0, answers.length, late.promise, Promise.resolve(record('key_c', 1)));
  const first = directory.find('c');
  directory.changed(['key_c']);
  late.resolve(record('key_c'));
  assert.equal((await first)?.revokedAtMs, undefined);
  clock.advance(1_000);
  directory.confirmed(clock.monotonicMs());
  assert.equal((await directory.find('c'))?.revokedAtMs, 1);
});

test('the ten minutes of an outage begin when the key was last read or confirmed', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  clock.advance(3_600_000);
  directory.confirmed(clock.monotonicMs());
  state.mode = 'down';
  clock.advance(599_999);
  assert.equal((await directory.find('a'))?.id, 'key_a');
  clock.advance(1);
  await assert.rejects(async () => directory.find('a'), { code: 'store_unavailable' });
});

test('a key that was reported as changed works from the cache while the store fails', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  directory.confirmed(clock.monotonicMs());
  directory.changed(['key_a']);
  state.mode = 'down';
  assert.equal((await directory.find('a'))?.id, 'key_a');
  rows.set('a', record('key_a', 1));
  state.mode = 'up';
  clock.advance(1_000);
  await directory.find('a');
  await settled();
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a reported change after a failed look-up is read from the store before the key is used', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  clock.advance(1_000);
  state.mode = 'down';
  await directory.find('a');
  state.mode = 'up';
  rows.set('a', record('key_a', 1));
  directory.changed(['key_a']);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

/** Waits for background work. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
