/** Conformance tests of every store: changes of keys, resources and settings, and their traces. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { noCaps } from '../../../src/core/caps.ts';
import type { Change, Store } from '../../../src/core/store/store.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { digestOf } from '../../../src/lib/secrets/key-secret.ts';
import { newKey } from '../gateways/keys.ts';
import { hostileTexts, toStored } from '../json/hostile-texts.ts';
import { createFakeClock } from '../time/fake-clock.ts';

/** Opens an empty store, and sees to its end when the test is over. */
export type OpenStore = (t: TestContext, clock: Clock) => Promise<Store>;

const by = { actor: 'tester' };

async function actionsOf({ audit }: Store): Promise<string[]> {
  return (await audit.page({ limit: 1_000 })).map(({ actor, action, subject }) => `${actor}: ${action} ${subject}`);
}

export function describeWrites(openStore: OpenStore): void {
  const open = (t: TestContext) => openStore(t, createFakeClock());

  test('changed fields of a key are stored, and the others kept', async (t) => {
    const { keys } = await open(t);
    const key = newKey({ operations: ['rerank'], addresses: ['::1'], project: 'p', expiresAtMs: 5, captureMs: 6 });
    const made = await keys.create(key);
    assert.deepEqual(await keys.change(made.id, {}), made);
    const caps = { ...noCaps, concurrency: 3 };
    const changed = await keys.change(made.id, { name: 'new', models: ['m'], caps, metadata: { a: 'b' } });
    assert.deepEqual(changed, { ...made, name: 'new', models: ['m'], caps, metadata: { a: 'b' }, version: 2 });
    const freed = await keys.change(made.id, {
      operations: null,
      addresses: null,
      project: null,
      expiresAtMs: null,
      captureMs: null,
    });
    assert.deepEqual(freed, {
      ...changed,
      operations: undefined,
      addresses: undefined,
      project: undefined,
      expiresAtMs: undefined,
      captureMs: undefined,
      version: 3,
    });
    assert.deepEqual(await keys.get(made.id), freed);
    assert.deepEqual((await keys.find(key.digest))?.caps, caps);
    assert.equal(await keys.change('key_none', { name: 'x' }), undefined);
  });

  test('of two changes to the same version of a key, one gets a conflict', async (t) => {
    const store = await open(t);
    const { keys, changes } = store;
    const made = await keys.create(newKey({ name: 'old' }));
    const both = await Promise.all(
      ['one', 'two'].map((name) => keys.changeVersion(made.id, made.version, { name }, by.actor)),
    );
    assert.equal(both.filter((answer) => answer === 'conflict').length, 1);
    const now = await keys.get(made.id);
    assert.deepEqual(
      both.filter((answer) => answer !== 'conflict'),
      [now],
    );
    assert.equal(now?.version, 2);
    assert.equal((await changes.latest())?.sequence, 2);
    // What changes nothing is no new version; a new secret, and the end, are.
    assert.deepEqual(await keys.changeVersion(made.id, 2, { name: now.name }, by.actor), now);
    assert.equal((await keys.get(made.id))?.version, 2);
    const { digest, hint } = newKey();
    assert.equal((await keys.rotate(made.id, { digest, hint }, 0))?.version, 3);
    await keys.revoke(made.id);
    assert.equal(await keys.changeVersion(made.id, 3, { name: 'late' }, by.actor), 'conflict');
    assert.equal((await keys.get(made.id))?.version, 4);
    assert.equal(await keys.changeVersion('key_none', 1, { name: 'x' }, by.actor), undefined);
  });

  test('a rotated key accepts both secrets until the old one ends', async (t) => {
    const clock = createFakeClock();
    const { keys } = await openStore(t, clock);
    const [former, next] = [newKey(), newKey()];
    const { id } = await keys.create(former);
    const untilMs = clock.nowMs() + 1_000;
    const rotated = await keys.rotate(id, { digest: next.digest, hint: 'pst_next' }, untilMs);
    assert.deepEqual([rotated?.hint, rotated?.oldSecretUntilMs], ['pst_next', untilMs]);
    assert.deepEqual(
      [(await keys.find(next.digest))?.id, (await keys.find(next.digest))?.expiresAtMs],
      [id, undefined],
    );
    assert.deepEqual(
      [(await keys.find(former.digest))?.id, (await keys.find(former.digest))?.expiresAtMs],
      [id, untilMs],
    );
    clock.advance(1_000);
    assert.equal(await keys.find(former.digest), undefined);
    assert.equal((await keys.find(next.digest))?.id, id);
  });

  test('an old secret ends no later than its key', async (t) => {
    const clock = createFakeClock();
    const { keys } = await openStore(t, clock);
    const [former, next] = [newKey({ expiresAtMs: clock.nowMs() + 10 }), newKey()];
    const { id } = await keys.create(former);
    await keys.rotate(id, next, clock.nowMs() + 1_000);
    assert.equal((await keys.find(former.digest))?.expiresAtMs, clock.nowMs() + 10);
    await keys.revoke(id);
    assert.notEqual((await keys.find(former.digest))?.revokedAtMs, undefined);
  });

  test('a secret belongs to one key, old ones too, and a revoked key gets none', async (t) => {
    const clock = createFakeClock();
    const { keys } = await openStore(t, clock);
    const [one, two, three] = [newKey(), newKey(), newKey()];
    const first = await keys.create(one);
    const second = await keys.create(two);
    await keys.rotate(first.id, three, clock.nowMs() + 1_000);
    for (const { digest, hint } of [one, two, three]) {
      await assert.rejects(keys.rotate(second.id, { digest, hint }, 0), /A key with this secret is there already/);
      await assert.rejects(keys.create(newKey({ digest })), /A key with this secret is there already/);
    }
    assert.equal((await keys.find(two.digest))?.id, second.id);
    await keys.revoke(second.id);
    assert.equal(await keys.rotate(second.id, newKey(), 0), undefined);
    assert.equal(await keys.rotate('key_none', newKey(), 0), undefined);
  });

  test('a resource is written, changed and deleted, with a version number', async (t) => {
    const clock = createFakeClock();
    const { resources } = await openStore(t, clock);
    const document = {
      id: 'up',
      family: 'openai',
      weight: 1.5,
      credentials: [{ api_key: 'sealed:v1:abc' }],
      none: null,
    };
    const madeAtMs = clock.nowMs();
    const made = await resources.put('upstream', 'up', document, by);
    assert.ok(made !== 'conflict');
    assert.deepEqual(made, {
      kind: 'upstream',
      id: 'up',
      document,
      version: 1,
      createdAtMs: madeAtMs,
      updatedAtMs: madeAtMs,
    });
    clock.advance(5);
    const changed = await resources.put('upstream', 'up', { id: 'up' }, by);
    const expected = { ...made, document: { id: 'up' }, version: 2, updatedAtMs: madeAtMs + 5 };
    assert.deepEqual(changed, expected);
    // The same ID of another kind is another thing.
    await resources.put('model', 'up', { id: 'up' }, by);
    assert.deepEqual(await resources.get('upstream', 'up'), expected);
    assert.deepEqual(
      (await resources.list()).map(({ kind, id }) => `${kind}/${id}`),
      ['upstream/up', 'model/up'],
    );
    const known = await resources.list();
    await resources.put('model', 'up', { id: 'up', visible: false }, by);
    await resources.put('model', 'new', { id: 'new' }, by);
    const again = await resources.list();
    assert.deepEqual(again, await resources.list());
    // Of what is known already, nothing was read again.
    assert.deepEqual(
      again.map((one) => known.includes(one)),
      [true, false, false],
    );
    // One that is made anew goes to the end.
    clock.advance(5);
    await resources.remove('model', 'up', by);
    await resources.put('model', 'up', { id: 'up' }, by);
    assert.deepEqual(
      (await resources.list()).map(({ kind, id, document }) => [kind, id, document]),
      [
        ['upstream', 'up', { id: 'up' }],
        ['model', 'new', { id: 'new' }],
        ['model', 'up', { id: 'up' }],
      ],
    );
    await resources.remove('model', 'new', by);
    assert.equal(await resources.remove('upstream', 'up', by), 'removed');
    assert.equal(await resources.remove('upstream', 'up', by), 'absent');
    assert.equal(await resources.get('upstream', 'up'), undefined);
    assert.equal((await resources.list()).length, 1);
  });

  test('a write for another version of a resource changes nothing', async (t) => {
    const store = await open(t);
    const { resources, changes } = store;
    assert.equal(await resources.put('model', 'm', { id: 'm' }, { ...by, expected: 1 }), 'conflict');
    assert.notEqual(await resources.put('model', 'm', { id: 'm' }, { ...by, expected: 0 }), 'conflict');
    assert.equal(await resources.put('model', 'm', { id: 'm', visible: false }, { ...by, expected: 0 }), 'conflict');
    assert.equal(await resources.remove('model', 'm', { ...by, expected: 2 }), 'conflict');
    assert.deepEqual((await resources.get('model', 'm'))?.document, { id: 'm' });
    assert.equal((await changes.latest())?.sequence, 1);
    assert.deepEqual(await actionsOf(store), ['tester: model.put m']);
    assert.equal(await resources.remove('model', 'm', { ...by, expected: 1 }), 'removed');
  });

  test('of many writers of the same version, one succeeds', async (t) => {
    const { resources } = await open(t);
    const attempt = (expected: number) =>
      Promise.all(
        Array.from({ length: 8 }, (_, turn) => resources.put('project', 'p', { id: 'p', turn }, { ...by, expected })),
      );
    assert.equal((await attempt(0)).filter((made) => made !== 'conflict').length, 1);
    assert.equal((await attempt(1)).filter((made) => made !== 'conflict').length, 1);
    assert.equal((await resources.get('project', 'p'))?.version, 2);
  });

  test('many writers without a version all succeed, one after another', async (t) => {
    const { resources, changes } = await open(t);
    await Promise.all(Array.from({ length: 8 }, (_, turn) => resources.put('project', 'p', { id: 'p', turn }, by)));
    assert.equal((await resources.get('project', 'p'))?.version, 8);
    assert.deepEqual(
      (await changes.since(undefined))?.map(({ sequence }) => sequence),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
  });

  test('each write is a change, numbered in commit order', async (t) => {
    const clock = createFakeClock();
    const { keys, resources, settings, changes } = await openStore(t, clock);
    assert.equal(await changes.latest(), undefined);
    assert.deepEqual(await changes.since(undefined), []);
    const { id } = await keys.create(newKey());
    await keys.change(id, { name: 'other' });
    await resources.put('upstream', 'up', { id: 'up' }, by);
    await settings.set('theme', 'dark', 'tester');
    await keys.revoke(id);
    const atMs = clock.nowMs();
    const all: Change[] = [
      { sequence: 1, kind: 'key', id, atMs },
      { sequence: 2, kind: 'key', id, atMs },
      { sequence: 3, kind: 'resource', id: 'upstream/up', atMs },
      { sequence: 4, kind: 'setting', id: 'theme', atMs },
      { sequence: 5, kind: 'key', id, atMs },
    ];
    assert.deepEqual(await changes.since(undefined), all);
    assert.deepEqual(await changes.since(all[2]), all.slice(3));
    assert.deepEqual([await changes.latest(), await changes.since(all[4])], [all[4], []]);
  });

  test('changes since a position that the store does not have (after a failover) are reported as lost', async (t) => {
    const clock = createFakeClock();
    const { settings, changes } = await openStore(t, clock);
    await settings.set('theme', 'dark', 'tester');
    await settings.set('theme', 'light', 'tester');
    const last = await changes.latest();
    assert.ok(last !== undefined);
    // As known before a failover to a database that lacked it, and has another of the same number by now.
    for (const other of [{ atMs: last.atMs - 1 }, { id: 'colour' }, { sequence: 3 }]) {
      assert.equal(await changes.since({ ...last, ...other }), undefined);
    }
  });

  test('a write without effect leaves no change or log entry', async (t) => {
    const store = await open(t);
    const { keys, resources, settings, changes } = store;
    const { id } = await keys.create(newKey({ name: 'same' }));
    await keys.revoke(id);
    await settings.set('a', [1], 'tester');
    const latest = await changes.latest();
    const actions = await actionsOf(store);
    await keys.revoke(id);
    await keys.change(id, { name: 'same' });
    await keys.rotate(id, newKey(), 0);
    await keys.createFirst(newKey());
    await keys.create(newKey({ digest: 'short' })).catch(() => undefined);
    await resources.remove('model', 'none', by);
    await settings.set('a', [1], 'tester');
    assert.deepEqual(await changes.latest(), latest);
    assert.deepEqual(await actionsOf(store), actions);
  });

  test('the audit log has actor and action, newest first, paged', async (t) => {
    const clock = createFakeClock();
    const store = await openStore(t, clock);
    const { keys, resources, settings, audit } = store;
    const step = async <T>(work: Promise<T>): Promise<T> => {
      const result = await work;
      clock.advance(1);
      return result;
    };
    const first = await step(keys.createFirst(newKey()));
    const made = await step(keys.create(newKey(), 'ann'));
    await step(keys.change(made.id, { name: 'b' }, 'ben'));
    await step(keys.rotate(made.id, newKey(), 0, 'cid'));
    await step(keys.revoke(made.id));
    await step(resources.put('upstream', 'up', { id: 'up' }, by));
    await step(resources.remove('upstream', 'up', by));
    await step(settings.set('theme', 'dark', 'dan'));
    await step(
      audit.add({ actor: 'eve', action: 'console.sign_in', subject: 'eve', before: null, after: { ok: true } }),
    );
    const expected = [
      'eve: console.sign_in eve',
      'dan: setting.set theme',
      'tester: upstream.remove up',
      'tester: upstream.put up',
      `command line: key.revoke ${made.id}`,
      `cid: key.rotate ${made.id}`,
      `ben: key.change ${made.id}`,
      `ann: key.create ${made.id}`,
      `first start: key.create ${first?.id}`,
    ];
    assert.deepEqual(await actionsOf(store), expected);
    const page = await audit.page({ limit: 4 });
    const rest = await audit.page({ limit: 100, before: page.at(-1)?.id });
    assert.deepEqual([page.length, rest.length], [4, 5]);
    assert.equal(rest[0]?.subject, made.id);
    const change = rest.find(({ action }) => action === 'key.change');
    assert.deepEqual(
      [Reflect.get(Object(change?.before), 'name'), Reflect.get(Object(change?.after), 'name')],
      ['test', 'b'],
    );
    assert.deepEqual(rest.at(-1)?.before, null);
  });

  test('the audit log has no secret: no digest, encrypted value or credential', async (t) => {
    const { keys, resources, settings, audit } = await open(t);
    const [key, next] = [newKey(), newKey()];
    const { id } = await keys.create(key);
    await keys.rotate(id, next, 0);
    const document = {
      id: 'up',
      base_url: 'https://up.example',
      api_key: 'CANARY-plain',
      credentials: [{ api_key: 'sealed:v1:CANARY', weight: 2 }],
      headers: { 'x-account': 'CANARY-header' },
      options: { client_secret: 'CANARY-secret', region: 'eu', session: 'sealed:v1:CANARY' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is how a file refers to the environment.
      token: '${FROM_THE_ENVIRONMENT}',
    };
    await resources.put('upstream', 'up', document, by);
    await resources.remove('upstream', 'up', by);
    await settings.set('webhook_secret', 'CANARY-setting', 'tester');
    const entries = await audit.page({ limit: 100 });
    const text = JSON.stringify(entries);
    for (const secret of ['CANARY', key.digest, next.digest]) assert.equal(text.includes(secret), false);
    assert.deepEqual(entries.find(({ action }) => action === 'upstream.put')?.after, {
      ...document,
      api_key: '(sealed)',
      credentials: [{ api_key: '(sealed)', weight: 2 }],
      headers: { 'x-account': '(sealed)' },
      options: { client_secret: '(sealed)', region: 'eu', session: '(sealed)' },
    });
    // What is stored is what was put.
    assert.equal(await settings.get('webhook_secret'), 'CANARY-setting');
  });

  test('settings are any JSON value under a name', async (t) => {
    const { settings } = await open(t);
    assert.equal(await settings.get('none'), undefined);
    const values: [string, unknown][] = [
      ['text', 'x'],
      ['empty', ''],
      ['none', null],
      ['number', 1.5],
      ['list', [1, { a: [] }]],
      ['object', { __proto__: null, deep: { a: true } }],
    ];
    for (const [name, value] of values) await settings.set(name, value, 'tester');
    for (const [name, value] of values) assert.deepEqual(await settings.get(name), JSON.parse(JSON.stringify(value)));
    await settings.set('text', 'y', 'tester');
    assert.equal((await settings.all()).get('text'), 'y');
    assert.equal((await settings.all()).size, values.length);
  });

  test('hostile text is stored as text everywhere', async (t) => {
    const store = await open(t);
    const { keys, resources, settings, audit, health } = store;
    for (const text of hostileTexts) {
      const made = await keys.create(newKey({ project: text, metadata: { [text]: text } }), text);
      assert.equal((await keys.get(made.id))?.project, toStored(text));
      await keys.change(made.id, { name: text, models: [text], addresses: [text] }, text);
      assert.equal((await keys.get(made.id))?.name, toStored(text));
      assert.deepEqual((await keys.get(made.id))?.models, [text]);
      await keys.rotate(made.id, { digest: digestOf(text), hint: text }, 0, text);
      assert.equal((await keys.find(digestOf(text)))?.id, made.id);
      await settings.set(`name-${text.slice(0, 100)}`, { [text]: text }, text);
      assert.deepEqual(await settings.get(`name-${text.slice(0, 100)}`), { [text]: text });
      await health.report(text.slice(0, 100), []);
      await audit.add({ actor: text, action: text, subject: text, before: text, after: { [text]: text } });
      if (Buffer.byteLength(text) > 512) continue;
      const put = await resources.put('model', text, { id: text }, { actor: text });
      assert.notEqual(put, 'conflict');
      assert.deepEqual((await resources.get('model', text))?.document, { id: text });
      assert.equal(await resources.remove('model', text, { actor: text }), 'removed');
    }
    assert.equal((await keys.list()).length, hostileTexts.length);
  });

  test('hostile text in a look-up finds nothing and changes nothing', async (t) => {
    const store = await open(t);
    const { keys, resources, settings, audit, changes, health } = store;
    await keys.create(newKey());
    await resources.put('model', 'm', { id: 'm' }, by);
    const latest = await changes.latest();
    for (const text of hostileTexts) {
      assert.equal(await keys.get(text), undefined);
      assert.equal(await keys.change(text, { name: text }), undefined);
      assert.equal(await keys.rotate(text, { digest: digestOf(text), hint: text }, 0), undefined);
      assert.equal(await resources.get('model', text), undefined);
      assert.equal(await resources.remove('upstream', text, by), 'absent');
      assert.equal(await settings.get(text), undefined);
      await health.withdraw(text);
      assert.ok(Array.isArray(await audit.page({ before: text, limit: 10 })));
    }
    assert.deepEqual(await changes.latest(), latest);
  });

  test('an ID too long for an index is refused with advice', async (t) => {
    const { resources } = await open(t);
    await assert.rejects(resources.put('model', 'é'.repeat(257), {}, by), /longer than 512 bytes; make it shorter/);
    assert.notEqual(await resources.put('model', 'é'.repeat(256), {}, by), 'conflict');
  });

  test('parallel writes are all stored, and a failed one affects no other', async (t) => {
    const { keys, settings, changes } = await open(t);
    const twice = newKey();
    await keys.create(twice);
    const results = await Promise.allSettled([
      ...Array.from({ length: 40 }, () => keys.create(newKey())),
      keys.create({ ...twice }),
      ...Array.from({ length: 40 }, (_, turn) => settings.set(`s${turn}`, turn, 'tester')),
    ]);
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 1);
    assert.equal((await keys.list()).length, 41);
    assert.equal((await settings.all()).size, 40);
    assert.equal((await changes.latest())?.sequence, 81);
  });
}
