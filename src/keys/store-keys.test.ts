import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toKeyRecord } from '../../test/support/gateways/keys.ts';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import type { KeyRecord } from '../core/key.ts';
import { createKeyDirectory, type KeyDirectoryDeps } from './store-keys.ts';

const record = (id: string, revokedAtMs?: number): KeyRecord => toKeyRecord({ id, revokedAtMs });

/** A directory over a store that holds what the test puts in `rows`, and counts what it is asked. */
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

test('a key that was just read is answered at once, without a promise and without the store', async () => {
  const { directory, rows, state, clock } = setUp();
  const key = record('key_a');
  rows.set('a', key);
  assert.equal(await directory.find('a'), key);
  clock.advance(999);
  assert.equal(directory.find('a'), key);
  assert.equal(state.asked, 1);
});

test('a digest that was just found unknown is answered at once too', async () => {
  const { directory, state, clock } = setUp();
  assert.equal(await directory.find('x'), undefined);
  clock.advance(999);
  assert.equal(directory.find('x'), undefined);
  assert.equal(state.asked, 1);
});

test('a revocation is seen as soon as the answer is no longer fresh', async () => {
  const { directory, rows, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('an answer is as old as its question', async () => {
  const clock = createFakeClock();
  const rows = new Map([['a', record('key_a')]]);
  const directory = createKeyDirectory({
    clock,
    store: {
      async find(digest) {
        const row = rows.get(digest);
        clock.advance(600); // the answer travels
        return row;
      },
    },
  });
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  clock.advance(400);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a key that is made after it was asked for is found once the answer is no longer fresh', async () => {
  const { directory, rows, clock } = setUp();
  assert.equal(await directory.find('a'), undefined);
  rows.set('a', record('key_a'));
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.id, 'key_a');
});

test('a key that is gone from the store is unknown, even when the store fails right after', async () => {
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

test('look-ups of one digest at the same time share one question', async () => {
  const { directory, rows, state } = setUp();
  rows.set('a', record('key_a'));
  const found = await Promise.all(Array.from({ length: 50 }, () => directory.find('a')));
  assert.equal(found.filter((key) => key?.id === 'key_a').length, 50);
  assert.equal(state.asked, 1);
});

test('while the store fails a known key keeps working for ten minutes, and then cannot be looked up', async () => {
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

test('a key that the store fails to look up is never called unknown', async () => {
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

test('a digest found unknown before is not called so while the store fails', async () => {
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

test('known keys ask a failing store about once a second, and nobody waits for it', async () => {
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

/** A key that was read, and revoked while the store could not be asked; now it can be again. */
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

test('a revocation made during an outage is in force within a second of its end', async () => {
  const { directory, clock } = await revokeInOutage();
  clock.advance(1_000);
  await directory.find('a');
  await settled();
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a key that rested during the outage is looked up before it is trusted again', async () => {
  const { directory, clock } = await revokeInOutage();
  clock.advance(120_000);
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
});

test('a store that hangs counts as failing', async () => {
  const { directory, rows, state, clock } = setUp({ lookUpTimeoutMs: 5 });
  rows.set('a', record('key_a'));
  await directory.find('a');
  state.mode = 'hung';
  clock.advance(1_000);
  assert.equal((await directory.find('a'))?.id, 'key_a');
  await assert.rejects(async () => directory.find('b'), { code: 'store_unavailable' });
});

test('a flood of unknown keys pushes no known key out', async () => {
  const { directory, rows, state } = setUp({ maxEntries: 100 });
  rows.set('a', record('key_a'));
  await directory.find('a');
  for (let round = 0; round < 10_000; round++) await directory.find(`random-${round}`);
  state.asked = 0;
  assert.equal((await directory.find('a'))?.id, 'key_a');
  assert.equal(state.asked, 0);
});

test('unknown keys are remembered up to the bound, the latest of them', async () => {
  const { directory, state } = setUp({ maxEntries: 100 });
  for (let round = 0; round < 1_000; round++) await directory.find(`random-${round}`);
  state.asked = 0;
  for (let round = 900; round < 1_000; round++) await directory.find(`random-${round}`);
  assert.equal(state.asked, 0);
  await directory.find('random-899');
  assert.equal(state.asked, 1);
});

test('known keys are remembered up to the bound, the latest of them', async () => {
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

test('as long as it is confirmed that nothing changed, nobody asks the store for a key that was read', async () => {
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

test('a second after the last confirmation the store is asked again', async () => {
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

test('a change is seen by the next request, and confirmations do not hide it', async () => {
  const { directory, rows, clock } = setUp();
  rows.set('a', record('key_a'));
  await directory.find('a');
  rows.set('a', record('key_a', 1));
  directory.changed(['key_a']);
  directory.confirmed(clock.monotonicMs());
  assert.equal((await directory.find('a'))?.revokedAtMs, 1);
  assert.equal((directory.find('a') as KeyRecord).revokedAtMs, 1);
});

test('a change of one key leaves the others as they are', async () => {
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

test('where nobody knows which keys were changed, each is read again', async () => {
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

test('a key that is made is found as soon as the change is told', async () => {
  const { directory, rows, clock } = setUp();
  directory.confirmed(clock.monotonicMs());
  assert.equal(await directory.find('a'), undefined);
  rows.set('a', record('key_a'));
  directory.changed(['key_a']);
  directory.confirmed(clock.monotonicMs());
  assert.equal((await directory.find('a'))?.id, 'key_a');
});

test('an answer that was on its way while something changed is trusted for a moment only', async () => {
  const clock = createFakeClock();
  const { promise: slow, resolve } = Promise.withResolvers<KeyRecord | undefined>();
  const answers = [slow, slow, Promise.resolve(record('key_a', 1)), Promise.resolve(record('key_b'))];
  const directory = createKeyDirectory({ clock, store: { find: () => answers.shift() ?? slow } });
  const asked = [directory.find('a'), directory.find('b')];
  directory.changed(['key_a']);
  resolve(undefined);
  assert.deepEqual(await Promise.all(asked), [undefined, undefined]);
  directory.confirmed(clock.monotonicMs());
  // What was unknown then may be the very key that was made: it is not remembered at all.
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

test('the ten minutes of an outage begin when the key was last known to be good', async () => {
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

test('a key of which a change was told keeps working while the store cannot say which', async () => {
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

test('a change that is told after a failed look-up is waited for', async () => {
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

/** Lets what was begun behind the scenes come to its end. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
