/** Conformance tests of every store: keys, health reports and settings. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { TargetState } from '../../../src/core/target-state.ts';
import { createSecret } from '../../../src/lib/secrets/key-secret.ts';
import { newKey } from '../gateways/keys.ts';
import { hostileTexts, toStored } from '../json/hostile-texts.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { describeAccess } from './access-conformance.ts';
import { describeAlertStore } from './alert-conformance.ts';
import { describeBackground } from './background-conformance.ts';
import { describeWrites, type OpenStore } from './store-writes.ts';
import { describeStoredObjects } from './stored-object-conformance.ts';

export type { OpenStore } from './store-writes.ts';

export function targetState(more: Partial<TargetState>): TargetState {
  return {
    upstream: 'up',
    model: 'm',
    state: 'healthy',
    restsForMs: 0,
    why: undefined,
    inFlight: 0,
    waiting: 0,
    latencyMs: 0,
    restingCredentials: [],
    ...more,
  };
}

export function describeStore(name: string, openStore: OpenStore): void {
  const open = (t: TestContext) => openStore(t, createFakeClock());

  describe(name, () => {
    test('a new store has no key', async (t) => {
      const { keys } = await open(t);
      assert.deepEqual(await keys.list(), []);
      assert.equal(await keys.find(newKey().digest), undefined);
      assert.equal(await keys.revoke('key_first'), false);
    });

    test('an installation gets one random name, whichever process asks first, without a change entry', async (t) => {
      const { settings, changes, audit } = await open(t);
      const names = await Promise.all(Array.from({ length: 8 }, () => settings.installation()));
      assert.match(names[0] ?? '', /^[0-9a-f]{32}$/);
      assert.equal(new Set([...names, await settings.installation()]).size, 1);
      assert.notEqual(await (await open(t)).settings.installation(), names[0]);
      assert.deepEqual([await changes.latest(), await audit.page({ limit: 1 })], [undefined, []]);
    });

    test('an installation keeps the time of its first request', async (t) => {
      const clock = createFakeClock();
      const { settings, changes } = await openStore(t, clock);
      const first = await settings.installedAtMs();
      assert.equal(first, clock.nowMs());
      clock.advance(60_000);
      assert.equal(await settings.installedAtMs(), first);
      assert.equal(await changes.latest(), undefined);
    });

    test('a key is found by its digest with all its limits', async (t) => {
      const clock = createFakeClock();
      const { keys } = await openStore(t, clock);
      const key = newKey({
        models: ['gpt-*', 'bge-m3'],
        operations: ['rerank', 'embeddings'],
        addresses: ['10.0.0.0/8', '::1'],
        project: 'search',
        caps: {
          rates: [{ measure: 'tokens', window: 'minute', most: 60_000 }],
          concurrency: 4,
          budgets: [{ period: 'month', nanos: 9_000_000_000_000_000, alerts: [50, 90] }],
        },
        metadata: { team: 'search', ticket: '42' },
        captureMs: 60_000,
        lane: 'bulk',
        shape: 'voyage',
        expiresAtMs: clock.nowMs() + 1,
      });
      const made = await keys.create(key);
      assert.match(made.id, /^key_[a-z2-9]{16}$/);
      const record = {
        id: made.id,
        managedBy: 'store',
        models: ['gpt-*', 'bge-m3'],
        operations: ['rerank', 'embeddings'],
        addresses: ['10.0.0.0/8', '::1'],
        project: 'search',
        caps: key.caps,
        metadata: { team: 'search', ticket: '42' },
        captureMs: 60_000,
        lane: 'bulk',
        shape: 'voyage',
        expiresAtMs: clock.nowMs() + 1,
        revokedAtMs: undefined,
      };
      assert.deepEqual(await keys.find(key.digest), record);
      const inLists = {
        name: 'test',
        hint: key.hint,
        createdAtMs: clock.nowMs(),
        oldSecretUntilMs: undefined,
        version: 1,
      };
      assert.deepEqual(made, { ...record, ...inLists });
      assert.deepEqual(await keys.get(made.id), made);
      assert.deepEqual(await keys.list(), [made]);
    });

    test("a key's missing list of models, operations or addresses is stored differently from an empty one", async (t) => {
      const { keys } = await open(t);
      const free = newKey();
      const bound = newKey({ models: [], operations: [], addresses: [] });
      await keys.create(free);
      await keys.create(bound);
      const { operations, addresses, expiresAtMs } = (await keys.find(free.digest)) ?? {};
      assert.deepEqual([operations, addresses, expiresAtMs], [undefined, undefined, undefined]);
      const found = await keys.find(bound.digest);
      assert.deepEqual([found?.models, found?.operations, found?.addresses], [[], [], []]);
    });

    test('keys are listed in creation order', async (t) => {
      const clock = createFakeClock();
      const { keys } = await openStore(t, clock);
      for (const name of ['one', 'two', 'three']) {
        await keys.create(newKey({ name }));
        clock.advance(1);
      }
      assert.deepEqual(
        (await keys.list()).map((key) => key.name),
        ['one', 'two', 'three'],
      );
    });

    test('a digest is unique', async (t) => {
      const { keys } = await open(t);
      const key = newKey();
      const made = await keys.create(key);
      await assert.rejects(keys.create({ ...key, name: 'again' }), /A key with this secret is there already/);
      assert.deepEqual(await keys.list(), [made]);
    });

    test('a digest matches exactly and completely', async (t) => {
      const { keys } = await open(t);
      const { digest } = newKey();
      await keys.create(newKey({ digest }));
      for (const near of [digest.toUpperCase(), digest.slice(0, 20), `${digest} `, `${digest.slice(0, 63)}_`, '%']) {
        if (near !== digest) assert.equal(await keys.find(near), undefined, near);
      }
    });

    test('an invalid digest is not stored', async (t) => {
      const { keys } = await open(t);
      await assert.rejects(keys.create(newKey({ digest: createSecret() })));
      await assert.rejects(keys.createFirst(newKey({ digest: '' })));
      assert.deepEqual(await keys.list(), []);
    });

    test('a revoked key keeps its first revocation time', async (t) => {
      const clock = createFakeClock();
      const { keys } = await openStore(t, clock);
      const key = newKey();
      const other = newKey();
      const { id } = await keys.create(key);
      await keys.create(other);
      const revokedAtMs = clock.nowMs();
      assert.equal(await keys.revoke(id), true);
      clock.advance(1_000);
      assert.equal(await keys.revoke(id), true);
      assert.equal((await keys.find(key.digest))?.revokedAtMs, revokedAtMs);
      assert.equal((await keys.find(other.digest))?.revokedAtMs, undefined);
      assert.equal((await keys.list()).filter((row) => row.revokedAtMs !== undefined).length, 1);
    });

    test('a first key is created only if there is none', async (t) => {
      const { keys } = await open(t);
      const key = newKey({ name: 'first', expiresAtMs: 4_102_444_800_000, addresses: ['::1'] });
      const made = await keys.createFirst(key);
      assert.deepEqual(await keys.list(), [made]);
      assert.equal((await keys.find(key.digest))?.expiresAtMs, 4_102_444_800_000);
      assert.equal(await keys.createFirst(newKey()), undefined);
      assert.equal((await keys.list()).length, 1);
    });

    test('no first key is created if a key exists, even a revoked one', async (t) => {
      const { keys } = await open(t);
      const { id } = await keys.create(newKey());
      await keys.revoke(id);
      assert.equal(await keys.createFirst(newKey()), undefined);
    });

    test('of many parallel first keys, one is created', async (t) => {
      const { keys } = await open(t);
      const made = await Promise.all(Array.from({ length: 20 }, () => keys.createFirst(newKey())));
      assert.equal(made.filter((key) => key !== undefined).length, 1);
      assert.equal((await keys.list()).length, 1);
    });

    test('numbers above 32 bits are read as written', async (t) => {
      const { keys } = await open(t);
      const key = newKey({ expiresAtMs: Number.MAX_SAFE_INTEGER });
      await keys.create(key);
      assert.equal((await keys.find(key.digest))?.expiresAtMs, Number.MAX_SAFE_INTEGER);
    });

    test('hostile text in every field is stored as text', async (t) => {
      const { keys } = await open(t);
      for (const text of hostileTexts) {
        const key = newKey({ name: text, hint: text, models: [text, '*'], addresses: [text] });
        const made = await keys.create(key);
        const found = await keys.find(key.digest);
        assert.deepEqual(found?.models, [text, '*']);
        assert.deepEqual(found?.addresses, [text]);
        const listed = (await keys.list()).find(({ id }) => id === made.id);
        assert.equal(listed?.name, toStored(text));
        assert.equal(listed?.hint, toStored(text));
      }
    });

    test('hostile text as a digest or an ID finds nothing and changes nothing', async (t) => {
      const { keys } = await open(t);
      const made = await keys.create(newKey());
      for (const text of hostileTexts) {
        assert.equal(await keys.find(text), undefined, text);
        assert.equal(await keys.revoke(text), false, text);
      }
      assert.deepEqual(await keys.list(), [made]);
    });

    test("a node's new health report replaces its old one", async (t) => {
      const clock = createFakeClock();
      const { health } = await openStore(t, clock);
      await health.report('one', [targetState({ state: 'resting', why: "it's \u2028 down" })]);
      clock.advance(1_000);
      await health.report('two', [targetState({})]);
      await health.report('one', [targetState({ model: 'now' }), targetState({ model: 'and this' })]);
      const [reports, beside] = await Promise.all([health.latest(10_000), health.latest(10_000)]);
      for (const [at, one] of beside.entries())
        assert.equal(one, reports[at], 'callers at the same time share what is read');
      // One that was not made anew is not read again.
      const again = await health.latest(10_000);
      assert.deepEqual(
        again.map((one, at) => one === reports[at]),
        again.map(() => true),
      );
      await health.report('two', [targetState({})], undefined, ['0a1b2c3d']);
      assert.deepEqual((await health.nodes(10_000)).map(({ node, secretKeys }) => [node, secretKeys]).toSorted(), [
        ['one', undefined],
        ['two', ['0a1b2c3d']],
      ]);
      assert.deepEqual(reports.map(({ node, targets }) => [node, targets.map(({ model }) => model)]).toSorted(), [
        ['one', ['now', 'and this']],
        ['two', ['m']],
      ]);
    });

    test('the report of a silent or withdrawn node is ignored', async (t) => {
      const clock = createFakeClock();
      const { health } = await openStore(t, clock);
      await health.report('old', [targetState({})]);
      clock.advance(5_000);
      await health.report('new', [targetState({})]);
      assert.deepEqual(
        (await health.latest(4_999)).map(({ node }) => node),
        ['new'],
      );
      await health.withdraw('new');
      assert.deepEqual(await health.latest(4_999), []);
      assert.equal((await health.latest(5_000)).length, 1);
    });

    describeWrites(openStore);
    describeAccess(openStore);
    describeStoredObjects(openStore);
    describeAlertStore('alerts', openStore);
    describeBackground(openStore);

    test('a closed store says so, and can be closed twice', async (t) => {
      const store = await open(t);
      await store.close();
      await store.close();
      await assert.rejects(store.keys.find(newKey().digest));
    });
  });
}
