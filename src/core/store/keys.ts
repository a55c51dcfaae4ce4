/** Client keys, and the store interface. */

import type { KeyRecord, KeyTerms } from '../key.ts';

/** A key for lists: everything but the secret. */
export interface StoredKey extends KeyRecord {
  readonly name: string;
  /** The secret's first characters, to recognise it by. */
  readonly hint: string;
  readonly createdAtMs: number;
  /** Until when the secret before the last rotation still works. */
  readonly oldSecretUntilMs: number | undefined;
  /** Incremented by each change. */
  readonly version: number;
}

export interface NewKey extends Partial<KeyTerms> {
  /** Undefined: a random one is made. */
  readonly id?: string;
  readonly name: string;
  /** SHA-256 of the secret in lower-case hex. */
  readonly digest: string;
  readonly hint: string;
  readonly models: readonly string[];
}

export interface SecretHolder {
  readonly id: string;
  /** False for the secret before the last rotation. */
  readonly isCurrent: boolean;
}

type Changed<T> = undefined extends T ? Exclude<T, undefined> | null : T;

/** Fields that are left out stay. `null` removes a limit. */
export type KeyChange = { readonly name?: string } & { readonly [Term in keyof KeyTerms]?: Changed<KeyTerms[Term]> };

/** Every write is also in the audit log, in the same transaction. */
export interface KeyStore {
  /** By the digest of a secret; the secret before a rotation is valid until its overlap ends. */
  find(digest: string): Promise<KeyRecord | undefined>;
  /** The key whose current or previous secret this is, whether it still works or not. */
  holder(digest: string): Promise<SecretHolder | undefined>;
  get(id: string): Promise<StoredKey | undefined>;
  list(): Promise<StoredKey[]>;
  create(key: NewKey, actor?: string): Promise<StoredKey>;
  /** Only where no key exists, revoked ones included; else undefined. Of several callers at once, one succeeds. */
  createFirst(key: NewKey): Promise<StoredKey | undefined>;
  /** Undefined where there is no such key. */
  change(id: string, change: KeyChange, actor?: string): Promise<StoredKey | undefined>;
  /** The same for a writer who saw this version: `conflict` where another change was first. */
  changeVersion(
    id: string,
    expected: number,
    change: KeyChange,
    actor: string,
  ): Promise<StoredKey | 'conflict' | undefined>;
  /** Makes a new secret; the former one works until then. Undefined where there is no such key, or it is revoked. */
  rotate(
    id: string,
    secret: { readonly digest: string; readonly hint: string },
    oldUntilMs: number,
    actor?: string,
  ): Promise<StoredKey | undefined>;
  /** By ID. False where there is no such key; idempotent. */
  revoke(id: string, actor?: string): Promise<boolean>;
}
