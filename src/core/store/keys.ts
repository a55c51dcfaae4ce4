/** Client keys, and the store interface. */

import type { KeyRecord, KeyTerms } from '../key.ts';

/** A key as people see it in lists: everything but the secret. */
export interface StoredKey extends KeyRecord {
  readonly name: string;
  /** The first characters of the secret, enough to recognise it by. */
  readonly hint: string;
  readonly createdAtMs: number;
  /** Until when the secret before the last rotation still works. */
  readonly oldSecretUntilMs: number | undefined;
  /** Goes up by one with each change. */
  readonly version: number;
}

export interface NewKey extends Partial<KeyTerms> {
  /** Where whoever makes it chooses one. */
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

/** What of a key can be changed; what is left out stays. `null` takes a limit away. */
export type KeyChange = { readonly name?: string } & { readonly [Term in keyof KeyTerms]?: Changed<KeyTerms[Term]> };

/** Every write also stands in the audit log, in the same transaction. */
export interface KeyStore {
  /** By the digest of a secret; a former secret counts until its overlap ends, and then no more. */
  find(digest: string): Promise<KeyRecord | undefined>;
  /** Whose secret it is, or was before the last rotation, whether that still works or not. */
  holder(digest: string): Promise<SecretHolder | undefined>;
  get(id: string): Promise<StoredKey | undefined>;
  list(): Promise<StoredKey[]>;
  create(key: NewKey, actor?: string): Promise<StoredKey>;
  /** Only where no key is there at all, revoked ones included; else undefined. Of several callers at once, one succeeds. */
  createFirst(key: NewKey): Promise<StoredKey | undefined>;
  /** Undefined where no such key is there. */
  change(id: string, change: KeyChange, actor?: string): Promise<StoredKey | undefined>;
  /** The same for who saw it in this version: `conflict` where someone else was quicker. */
  changeVersion(
    id: string,
    expected: number,
    change: KeyChange,
    actor: string,
  ): Promise<StoredKey | 'conflict' | undefined>;
  /** Gives it another secret; the former one goes on working until then. Undefined where no such key is there, or it is revoked. */
  rotate(
    id: string,
    secret: { readonly digest: string; readonly hint: string },
    oldUntilMs: number,
    actor?: string,
  ): Promise<StoredKey | undefined>;
  /** By ID. False where no such key is there; revoking twice changes nothing. */
  revoke(id: string, actor?: string): Promise<boolean>;
}
