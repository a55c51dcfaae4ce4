/** Interface to store client keys: create, change, rotate, revoke and find them. */

import type { KeyRecord, KeyTerms } from '../key.ts';

export interface StoredKey extends KeyRecord {
  readonly name: string;
  /** The secret's first characters, to recognise it by. */
  readonly hint: string;
  readonly createdAtMs: number;
  readonly oldSecretUntilMs: number | undefined;
  readonly version: number;
}

export interface NewKey extends Partial<KeyTerms> {
  /** The ID of the new key; undefined: a random one is made. */
  readonly id?: string;
  readonly name: string;
  /** SHA-256 of the secret in lower-case hex. */
  readonly digest: string;
  readonly hint: string;
  readonly models: readonly string[];
}

export interface SecretHolder {
  readonly id: string;
  /** False where it is the secret before the last rotation. */
  readonly isCurrent: boolean;
}

type Changed<T> = undefined extends T ? Exclude<T, undefined> | null : T;

/** A change of a key: fields that are left out stay, `null` removes a limit. */
export type KeyChange = { readonly name?: string } & { readonly [Term in keyof KeyTerms]?: Changed<KeyTerms[Term]> };

/** Stores keys; every write is also in the audit log, in the same transaction. */
export interface KeyStore {
  /** Finds a key by the digest of its secret; the secret before a rotation is valid until its overlap ends. */
  find(digest: string): Promise<KeyRecord | undefined>;
  /** Finds the key whose current or previous secret has this digest, whether that still works or not. */
  holder(digest: string): Promise<SecretHolder | undefined>;
  get(id: string): Promise<StoredKey | undefined>;
  list(): Promise<StoredKey[]>;
  create(key: NewKey, actor?: string): Promise<StoredKey>;
  /** Creates a key only where none exists, not even a revoked one; else returns undefined. Of several callers at once, one succeeds. */
  createFirst(key: NewKey): Promise<StoredKey | undefined>;
  change(id: string, change: KeyChange, actor?: string): Promise<StoredKey | undefined>;
  /** Changes a key for a writer who saw this version: `conflict` where another change was first. */
  changeVersion(
    id: string,
    expected: number,
    change: KeyChange,
    actor: string,
  ): Promise<StoredKey | 'conflict' | undefined>;
  /** Makes a new secret; the former one works until then. Undefined where the key does not exist or is revoked. */
  rotate(
    id: string,
    secret: { readonly digest: string; readonly hint: string },
    oldUntilMs: number,
    actor?: string,
  ): Promise<StoredKey | undefined>;
  /** Revokes a key by its ID. False where there is no such key; idempotent. */
  revoke(id: string, actor?: string): Promise<boolean>;
}
