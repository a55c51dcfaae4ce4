import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toKeyRecord } from '../../test/support/gateways/keys.ts';
import type { KeyStore, NewKey, StoredKey } from '../core/store/keys.ts';
import { digestOf, hasValidChecksum } from '../lib/secrets/key-secret.ts';
import { ensureFirstKey, type FirstKeyDeps } from './first-key.ts';

const posternKey = 'a-key-from-the-environment';

/** Keys in memory, with their digests as in a database. */
function createStore(): FirstKeyDeps['store'] &
  Pick<KeyStore, 'revoke'> & { readonly digests: Map<string, StoredKey> } {
  const digests = new Map<string, StoredKey>();
  function add(key: NewKey): StoredKey {
    if (digests.has(key.digest)) throw new Error('the digest is there already');
    const stored: StoredKey = {
      ...toKeyRecord({ id: `key_${digests.size}`, models: key.models }),
      name: key.name,
      hint: key.hint,
      createdAtMs: 0,
      oldSecretUntilMs: undefined,
      version: 1,
    };
    digests.set(key.digest, stored);
    return stored;
  }
  return {
    digests,
    find: async (digest) => digests.get(digest),
    create: async (key) => add(key),
    createFirst: async (key) => (digests.size === 0 ? add(key) : undefined),
    async revoke(id) {
      for (const [digest, key] of digests) if (key.id === id) digests.set(digest, { ...key, revokedAtMs: 1 });
      return true;
    },
  };
}

test('the first start without any key creates one that allows every model, and the next start creates none', async () => {
  const store = createStore();
  const first = await ensureFirstKey({ store, fileKeyCount: 0, posternKey: undefined });
  assert.equal(first.kind, 'created');
  assert.ok(first.kind === 'created' && hasValidChecksum(first.secret));
  const stored = store.digests.get(digestOf(first.secret));
  assert.equal(stored?.name, 'first');
  assert.deepEqual(stored?.models, ['*']);
  assert.deepEqual(await ensureFirstKey({ store, fileKeyCount: 0, posternKey: undefined }), { kind: 'none' });
  assert.equal(store.digests.size, 1);
});

test('of two simultaneous first starts, one creates a key', async () => {
  const store = createStore();
  const starts = [1, 2].map(() => ensureFirstKey({ store, fileKeyCount: 0, posternKey: undefined }));
  const kinds = (await Promise.all(starts)).map(({ kind }) => kind);
  assert.deepEqual(kinds.toSorted(), ['created', 'none']);
});

test('with keys in the configuration file, no first key is created and POSTERN_KEY is ignored', async () => {
  const store = createStore();
  assert.deepEqual(await ensureFirstKey({ store, fileKeyCount: 1, posternKey: undefined }), { kind: 'none' });
  assert.deepEqual(await ensureFirstKey({ store, fileKeyCount: 1, posternKey }), { kind: 'none' });
  assert.deepEqual(await ensureFirstKey({ store, fileKeyCount: 1, posternKey: 'short' }), { kind: 'none' });
  assert.equal(store.digests.size, 0);
});

test('the key in POSTERN_KEY is added to the store once, beside existing keys', async () => {
  const store = createStore();
  await ensureFirstKey({ store, fileKeyCount: 0, posternKey: undefined });
  const given = { store, fileKeyCount: 0, posternKey: `  ${posternKey}\n` };
  assert.deepEqual(await ensureFirstKey(given), { kind: 'from-environment', created: true, weak: false });
  assert.deepEqual(await ensureFirstKey(given), { kind: 'from-environment', created: false, weak: false });
  assert.equal(store.digests.get(digestOf(posternKey))?.name, 'first');
  assert.equal(store.digests.size, 2);
});

test('a key in POSTERN_KEY that was revoked stays revoked and is not replaced', async () => {
  const store = createStore();
  await ensureFirstKey({ store, fileKeyCount: 0, posternKey });
  await store.revoke('key_0');
  assert.deepEqual(await ensureFirstKey({ store, fileKeyCount: 0, posternKey }), {
    kind: 'from-environment',
    created: false,
    weak: false,
  });
  assert.equal(store.digests.get(digestOf(posternKey))?.revokedAtMs, 1);
  assert.deepEqual(await ensureFirstKey({ store, fileKeyCount: 0, posternKey: undefined }), { kind: 'none' });
});

test('two simultaneous starts with the same key in POSTERN_KEY both succeed', async () => {
  const store = createStore();
  const starts = [1, 2].map(() => ensureFirstKey({ store, fileKeyCount: 0, posternKey }));
  const made = (await Promise.all(starts)).filter((key) => key.kind === 'from-environment' && key.created);
  assert.equal(made.length, 1);
  assert.equal(store.digests.size, 1);
});

test('an empty POSTERN_KEY counts as unset', async () => {
  for (const empty of ['', '  ']) {
    assert.equal((await ensureFirstKey({ store: createStore(), fileKeyCount: 0, posternKey: empty })).kind, 'created');
  }
});

test('an invalid key in POSTERN_KEY is refused without being shown', async () => {
  for (const unfit of ['k'.repeat(513), 'a key with blanks in the midst', 'schlüssel'.repeat(4)]) {
    const store = createStore();
    await assert.rejects(ensureFirstKey({ store, fileKeyCount: 0, posternKey: unfit }), (error: Error) => {
      assert.match(error.message, /^POSTERN_KEY must be up to 512/);
      assert.equal(error.message.includes(unfit), false);
      return true;
    });
    assert.equal(store.digests.size, 0);
  }
});

test('a short key in POSTERN_KEY works, is reported as weak, and is not shown even in part', async () => {
  const store = createStore();
  const made = await ensureFirstKey({ store, fileKeyCount: 0, posternKey: 'twenty-three-characters' });
  assert.deepEqual(made, { kind: 'from-environment', created: true, weak: true });
  assert.equal(store.digests.get(digestOf('twenty-three-characters'))?.hint, '…');
});
