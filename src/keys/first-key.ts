/** Ensures that a new installation has a key: a generated one, or the one from the environment. */

import type { KeyStore, NewKey } from '../core/store/keys.ts';
import { createSecret, digestOf, hintOf } from '../lib/secrets/key-secret.ts';

export interface FirstKeyDeps {
  readonly store: Pick<KeyStore, 'find' | 'create' | 'createFirst'>;
  readonly fileKeyCount: number;
  readonly posternKey: string | undefined;
}

export type FirstKey =
  | { readonly kind: 'none' }
  /** A key was generated; its secret is shown once, and stored nowhere. */
  | { readonly kind: 'created'; readonly secret: string }
  /** The key is from the environment. `weak`: shorter than a key in the file may be; it works, with a warning to the operator. */
  | { readonly kind: 'from-environment'; readonly created: boolean; readonly weak: boolean };

/** Minimum length of secrets in the configuration file. */
const strongCharacters = 24;
const maxCharacters = 512;

/** `POSTERN_KEY` is not a valid key; the message says why, without showing the key. */
export class UnfitKeyError extends Error {
  override readonly name = 'UnfitKeyError';
}

export async function ensureFirstKey({ store, fileKeyCount, posternKey }: FirstKeyDeps): Promise<FirstKey> {
  if (fileKeyCount > 0) return { kind: 'none' };
  const given = posternKey?.trim() ?? '';
  if (given !== '') {
    return { kind: 'from-environment', created: await addOnce(store, given), weak: given.length < strongCharacters };
  }
  const secret = createSecret();
  // Of several processes that start at once on one store, one makes the key and shows it.
  const made = await store.createFirst(toFirstKey(secret));
  return made === undefined ? { kind: 'none' } : { kind: 'created', secret };
}

async function addOnce(store: FirstKeyDeps['store'], secret: string): Promise<boolean> {
  if (secret.length > maxCharacters || !/^[\x21-\x7e]+$/.test(secret)) {
    throw new UnfitKeyError(
      `POSTERN_KEY must be up to ${maxCharacters} visible ASCII characters, ${strongCharacters} at least to be safe; "openssl rand -hex 32" makes a good one.`,
    );
  }
  const key = toFirstKey(secret);
  if ((await store.find(key.digest)) !== undefined) return false; // unchanged, revoked or not
  try {
    await store.create(key);
    return true;
  } catch (error) {
    // Another process created the key first.
    if ((await store.find(key.digest)) !== undefined) return false;
    throw error;
  }
}

function toFirstKey(secret: string): NewKey {
  return {
    name: 'first',
    digest: digestOf(secret),
    hint: secret.length < strongCharacters ? '…' : hintOf(secret),
    models: ['*'],
  };
}
