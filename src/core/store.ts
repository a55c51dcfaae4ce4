/** What the rest of the house asks of a store; which database answers is the store's own business. */

import type { KeyRecord } from './key.ts';
import type { Operation } from './operation.ts';
import type { HealthReport, TargetState } from './target-state.ts';

/** A key as people see it in lists: everything but the secret. */
export interface StoredKey extends KeyRecord {
  readonly name: string;
  /** The first characters of the secret, enough to recognise it by. */
  readonly hint: string;
  readonly createdAtMs: number;
}

export interface NewKey {
  readonly name: string;
  /** SHA-256 of the secret in lower-case hex. */
  readonly digest: string;
  readonly hint: string;
  readonly models: readonly string[];
  readonly operations?: readonly Operation[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly expiresAtMs?: number | undefined;
}

export interface KeyStore {
  find(digest: string): Promise<KeyRecord | undefined>;
  list(): Promise<StoredKey[]>;
  create(key: NewKey): Promise<StoredKey>;
  /** Only where no key is there at all, revoked ones included; else undefined. Of several callers at once, one succeeds. */
  createFirst(key: NewKey): Promise<StoredKey | undefined>;
  /** By ID. False where no such key is there; revoking twice changes nothing. */
  revoke(id: string): Promise<boolean>;
}

/** What every node says of its targets. It is for looking at: what is lost is said again. */
export interface HealthStore {
  /** In place of what the node said before. */
  report(node: string, targets: readonly TargetState[]): Promise<void>;
  /** The node says no more. */
  withdraw(node: string): Promise<void>;
  /** What was said within this time, the newest first. */
  latest(maxAgeMs: number): Promise<HealthReport[]>;
}

export interface Store {
  readonly keys: KeyStore;
  readonly health: HealthStore;
  close(): Promise<void>;
}
