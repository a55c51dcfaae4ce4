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

test('a recently read key is returned synchronously, without the store', async () => {
  const { directory, rows, state, clock } = setUp();
  const key = record('key_a');
  rows.set('a', key);
  assert.equal(await directory.find('a'), key);
  clock.advance(999);
  assert.equal(directory.find('a'), key);
  assert.equal(state.asked, 1);
});

test('a digest recently found unknown is answered synchronously too', async () => {
  const { directory, state, clock } = setUp();
  assert.equal(await directory.find('x'), undefined);
  clock.advance(999);
  assert.equal(directory.find('x'), undefined);
  assert.equal(state.asked, 1);
});

test('a revocation is seen once the cached answer is stale', async () => {
  const { directory, rows, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('the age of an answer counts from its query', async () => {
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

test('a key created after it was looked up is found once the answer is stale', async () => {
  const { directory, rows, clock } = setUp();
  assert.equal(await directory.find('a'), undefined);
  rows.set('a', record('key_a'));
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.id, 'key_a');
});

test('a deleted key is unknown, even when the store fails right after', async () => {
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

test('concurrent look-ups of one digest share one query', async () => {
  const { directory, rows, state } = setUp();
  rows.set('a', record('key_a'));
  const found = await Promise.all(Array.from({ length: 50 }, () => directory.find('a')));
  assert.equal(found.filter((key) => key?.id === 'key_a').length, 50);
  assert.equal(state.asked, 1);
});

test('while the store fails a known key works for ten minutes, then cannot be looked up', async () => {
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

test('a key whose look-up failed is never reported as unknown', async () => {
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

test('while the store fails, a digest found unknown before is not reported as unknown', async () => {
  const { directory, state, clock } = setUp();
  assert.equal(await directory.find('x'), undefined);
  state.mode = 'down';
  clock.advance(1_000);
  await assert.rejects(async () => directory.find('x'), { code: 'store_unavailable' });
});

test('a revoked key stays revoked while the store fails', async () => {
  const { directory, rows, state, clock } = setUp();
  rows.set('a', record('key_a', 1));
  await directory.find('a');
  state.mode = 'down';
  clock.advance(60_000);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a failing store is queried about once a second, and no request waits for it', async () => {
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

test('a revocation made during an outage takes effect within a second of its end', async () => {
  const { directory, clock } = await revokeInOutage();
  clock.advance(1_000);
  await directory.find('a');
  await settled();
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a key unused during the outage is looked up before it is trusted again', async () => {
  const { directory, clock } = await revokeInOutage();
  clock.advance(120_000);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a hanging store counts as failing', async () => {
  const { directory, rows, state, clock } = setUp({ lookUpTimeoutMs: 5 });
  rows.set('a', record('key_a'));
  await directory.find('a');
  state.mode = 'hung';
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.id, 'key_a');
  await assert.rejects(async () => directory.find('b'), { code: 'store_unavailable' });
});

test('a flood of unknown keys evicts no known key', async () => {
  const { directory, rows, state } = setUp({ maxEntries: 100 });
  rows.set('a', record('key_a'));
  await directory.find('a');
  for (let round = 0; round < 10_000; round++) await directory.find(`random-${round}`);
  state.asked = 0;
  assert.equal((await directory.find('a'))?.id, 'key_a');
  assert.equal(state.asked, 0);
});

test('remembers the latest unknown keys, up to the limit', async () => {
  const { directory, state } = setUp({ maxEntries: 100 });
  for (let round = 0; round < 1_000; round++) await directory.find(`random-${round}`);
  state.asked = 0;
  for (let round = 900; round < 1_000; round++) await directory.find(`random-${round}`);
  assert.equal(state.asked, 0);
  await directory.find('random-899');
  assert.equal(state.asked, 1);
});

test('remembers the latest known keys, up to the limit', async () => {
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

test('while the store confirms that nothing changed, a known key needs no query', async () => {
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

test('a second after the last confirmation the store is queried again', async () => {
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

test('a change is seen by the next request, despite later confirmations', async () => {
  const { directory, rows, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  directory.changed(['key_a']);
  directory.confirmed(clock.monotonicMs());
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
  assert.equal((directory.find('a') as KeyRecord).revokedAtMs, 1);
});

test('a changed key does not affect the others', async () => {
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

test('if it is unknown which keys changed, each is read again', async () => {
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

test('a new key is found as soon as the change is reported', async () => {
  const { directory, rows, clock } = setUp();
  directory.confirmed(clock.monotonicMs());
  assert.equal(await directory.find('a'), undefined);
  rows.set('a', record('key_a'));
  directory.changed(['key_a']);
  directory.confirmed(clock.monotonicMs());
  assert.equal((await directory.find('a'))?.id, 'key_a');
});

test('an answer in flight during a change is trusted for a moment only', async () => {
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

test('the ten minutes of an outage begin when the key was last confirmed', async () => {
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

test('a key reported as changed works while the store cannot answer', async () => {
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

test('a change reported after a failed look-up waits for the store', async () => {
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
