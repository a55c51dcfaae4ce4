/** What the rest of the house asks of a store; which database answers is the store's own business. */

import type { Caps, HolderKind } from './caps.ts';
import type { KeyRecord } from './key.ts';
import type { Capture, LedgerRow, RowOutcome } from './ledger-row.ts';
import type { AttemptStore, InvitationStore, MemberStore, PasskeyStore, SessionStore, TokenStore } from './member.ts';
import type { Operation } from './operation.ts';
import type { HealthReport, TargetState } from './target-state.ts';
import type { RerankShape } from './translation.ts';

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

export interface NewKey {
  readonly name: string;
  /** SHA-256 of the secret in lower-case hex. */
  readonly digest: string;
  readonly hint: string;
  readonly models: readonly string[];
  readonly operations?: readonly Operation[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly project?: string | undefined;
  readonly caps?: Caps | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly captureMs?: number | undefined;
  readonly shape?: RerankShape | undefined;
  readonly expiresAtMs?: number | undefined;
}

/** What of a key can be changed; what is left out stays. `null` takes a limit away. */
export interface KeyChange {
  readonly name?: string;
  readonly models?: readonly string[];
  readonly operations?: readonly Operation[] | null;
  readonly addresses?: readonly string[] | null;
  readonly project?: string | null;
  readonly caps?: Caps;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly captureMs?: number | null;
  readonly shape?: RerankShape | null;
  readonly expiresAtMs?: number | null;
}

/** Every write also stands in the audit log, in the same transaction. */
export interface KeyStore {
  /** By the digest of a secret; a former secret counts until its overlap ends, and then no more. */
  find(digest: string): Promise<KeyRecord | undefined>;
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

/** What every node says of its targets. It is for looking at: what is lost is said again. */
export interface HealthStore {
  /** In place of what the node said before. */
  report(node: string, targets: readonly TargetState[]): Promise<void>;
  /** The node says no more. */
  withdraw(node: string): Promise<void>;
  /** What was said within this time, the newest first. */
  latest(maxAgeMs: number): Promise<HealthReport[]>;
}

/** Something that is configured in the store as the file would have it. */
/** A setting is a section of the file, of which the store may hold what the file leaves open. */
export const resourceKinds = ['upstream', 'model', 'project', 'setting'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export interface Resource {
  readonly kind: ResourceKind;
  readonly id: string;
  /** As an element of the file's list, ID included; secrets in it are sealed. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Goes up by one with each change. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ResourceStore {
  list(): Promise<Resource[]>;
  get(kind: ResourceKind, id: string): Promise<Resource | undefined>;
  /**
   * `expected` is the version that the writer saw, 0 where it saw none, undefined where it does not care. `conflict` where
   * someone else was quicker.
   */
  put(
    kind: ResourceKind,
    id: string,
    document: Readonly<Record<string, unknown>>,
    options: { readonly expected?: number | undefined; readonly actor: string },
  ): Promise<Resource | 'conflict'>;
  remove(
    kind: ResourceKind,
    id: string,
    options: { readonly expected?: number | undefined; readonly actor: string },
  ): Promise<'removed' | 'absent' | 'conflict'>;
}

/** What changed, in order: how other nodes and threads hear of it. */
export interface Change {
  readonly sequence: number;
  readonly kind: 'key' | 'resource' | 'setting';
  readonly id: string;
}

export interface ChangeFeed {
  /** The number of the last change; 0 where none was made yet. */
  latest(): Promise<number>;
  /** Those after it, the oldest first, a thousand at most. */
  since(sequence: number): Promise<Change[]>;
  /** Calls as soon as the database says that something changed, where it can; nobody may rely on it. */
  listen(onChange: () => void): { close(): Promise<void> };
}

export interface AuditEntry {
  readonly id: string;
  readonly atMs: number;
  /** Who: `command line`, `first start`, a member of the console. */
  readonly actor: string;
  /** Such as `key.create`, `upstream.put`. */
  readonly action: string;
  readonly subject: string;
  /** Without secrets; null where there was, or is, nothing. */
  readonly before: unknown;
  readonly after: unknown;
}

interface AuditFilter {
  readonly actor?: string | undefined;
  /** How the action begins: `key.` for all that is done to keys. */
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  /** At this time or later. */
  readonly fromMs?: number | undefined;
  /** Before. */
  readonly toMs?: number | undefined;
}

export interface AuditStore {
  add(entry: Omit<AuditEntry, 'id' | 'atMs'>): Promise<void>;
  get(id: string): Promise<AuditEntry | undefined>;
  /** The newest first; `before` is the ID of the last entry of the page before. */
  page(options: AuditFilter & { readonly before?: string | undefined; readonly limit: number }): Promise<AuditEntry[]>;
}

export interface SettingStore {
  get(name: string): Promise<unknown>;
  all(): Promise<ReadonlyMap<string, unknown>>;
  set(name: string, value: unknown, actor: string): Promise<void>;
  /** Of all who ask for one name, the first hears yes, once and for all. It is no change of a setting, and not in the audit log. */
  claim(name: string): Promise<boolean>;
  /** A random name of whoever shares this store, the same for all of them from the first time that it was asked for. */
  installation(): Promise<string>;
}

/** Up to where a journal is in the store. */
export interface JournalPosition {
  readonly segment: number;
  readonly offset: number;
}

export interface ImportedRow {
  readonly row: LedgerRow;
  readonly accounts: readonly string[];
  readonly capture?: Capture | undefined;
}

export interface LedgerFilter {
  /** Started at this time or later. */
  readonly fromMs?: number | undefined;
  /** Started before. */
  readonly toMs?: number | undefined;
  readonly key?: string | undefined;
  readonly project?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
  readonly operation?: Operation | undefined;
  readonly outcome?: RowOutcome | undefined;
  readonly status?: number | undefined;
  /** The client's own; sums know nothing of it. */
  readonly clientRequestId?: string | undefined;
}

export interface LedgerPage {
  /** The newest first. */
  readonly rows: readonly LedgerRow[];
  /** What to give as `before` for the next page; undefined where this was the last. */
  readonly next: string | undefined;
}

/** By what usage is added up; the columns of the answer, in this order. */
export const usageGroups = [
  'key',
  'project',
  'model',
  'upstream',
  'route',
  'operation',
  'outcome',
  'hour',
  'day',
] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageSums {
  readonly requests: number;
  /** Of them, those that ended with an outcome other than `ok`. */
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly searchUnits: number;
  readonly items: number;
  readonly costNanos: bigint;
  /** Requests whose cost is not known, and is not in the sum. */
  readonly unpriced: number;
  /** Requests whose usage is an estimate, at least in part. */
  readonly estimated: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly durationMs: number;
}

export interface UsageLine {
  /** One value for each group that was asked for; days as 2026-11-21 and hours as 2026-11-21T10:00Z, in UTC. */
  readonly by: Readonly<Partial<Record<UsageGroup, string>>>;
  readonly sums: UsageSums;
}

export interface LedgerStore {
  /**
   * In one transaction: the rows that are not there yet, their sums, what they cost the budgets, and the position. Rows that
   * are there already change nothing. Gives back how many were new.
   */
  import(journal: string, rows: readonly ImportedRow[], position: JournalPosition): Promise<number>;
  position(journal: string): Promise<JournalPosition | undefined>;
  /**
   * True where all that was imported stands in the database itself by now, and hangs on no log beside it that could be lost alone.
   * False where someone is in the way just now; it can be asked again.
   */
  secure(): Promise<boolean>;
  get(id: string): Promise<LedgerRow | undefined>;
  capture(id: string): Promise<Capture | undefined>;
  /** `before` is a `next`; `limit` is 1,000 at most. */
  page(
    filter: LedgerFilter,
    options: { readonly before?: string | undefined; readonly limit: number },
  ): Promise<LedgerPage>;
  /** From the sums by hour and by day, never from the rows: whole hours, at the ends of the span too. */
  usage(filter: LedgerFilter, by: readonly UsageGroup[]): Promise<UsageLine[]>;
  /** Deletes rows and captures that began before; sums stay. A few thousand at a time: call again until it says 0. */
  prune(beforeMs: number): Promise<number>;
  /** Deletes what was captured and is over its time. */
  pruneCaptures(): Promise<number>;
  /** Compares rows with sums, hour by hour, in the span: whatever differs, in words. Hours of which rows were pruned are left out. */
  verify(fromMs: number, toMs: number): Promise<string[]>;
}

/** One budget's money within one period. */
export interface BudgetAccount {
  /** `key/dev/month/2026-11-01`: holder kind, ID, period, first day; the name is its own key. */
  readonly id: string;
  readonly holderKind: HolderKind;
  readonly holderId: string;
  readonly startsAtMs: number;
  /** Infinity where it never ends. */
  readonly endsAtMs: number;
  readonly nanos: number;
}

export interface AccountState {
  readonly spentNanos: number;
  /** Drawn by nodes, and not spent as far as the store knows. */
  readonly outstandingNanos: number;
  /** Nodes of which something is outstanding. */
  readonly holders: number;
}

/**
 * Budgets over any number of nodes. A node draws money before it is spent, and the import of its rows says what was spent:
 * spent + outstanding never exceeds the budget by more than rows cost beyond what was reserved for them.
 */
export interface BudgetBank {
  /**
   * Grants between `leastNanos` and `wantNanos`, or 0; and beyond that up to the node's part of what is held ahead, see
   * `shareAheadNanos`. An account that is not there yet begins with what the sums of the ledger say for its holder since `startsAtMs`.
   */
  draw(
    account: BudgetAccount,
    node: string,
    leastNanos: number,
    wantNanos: number,
    unitNanos?: number,
  ): Promise<AccountState & { readonly grantedNanos: number }>;
  /** What a node drew and will not need. */
  giveBack(accountId: string, node: string, nanos: number): Promise<void>;
  /** The node is gone, and all its rows are here: what it drew and did not spend is free again. */
  release(node: string): Promise<void>;
  state(accountId: string): Promise<AccountState | undefined>;
  /** Of many at once; those that are not there are left out. */
  states(accountIds: readonly string[]): Promise<ReadonlyMap<string, AccountState>>;
  /**
   * The node is there; what others drew that were not heard of for `lostAfterMs` is free again. False where the node is new, or was taken for
   * lost: then nothing is drawn by it any more.
   */
  renew(node: string): Promise<boolean>;
}

/** A node that cannot reach the bank spends what it drew for so long. */
export const spendsAloneMs = 600_000;
/** A node that was not heard of for so long is lost, and what it drew comes back. */
export const lostAfterMs = 3_600_000;

export interface Store {
  readonly keys: KeyStore;
  readonly health: HealthStore;
  readonly resources: ResourceStore;
  readonly changes: ChangeFeed;
  readonly audit: AuditStore;
  readonly settings: SettingStore;
  readonly ledger: LedgerStore;
  readonly budgets: BudgetBank;
  readonly members: MemberStore;
  readonly sessions: SessionStore;
  readonly tokens: TokenStore;
  readonly passkeys: PasskeyStore;
  readonly invitations: InvitationStore;
  readonly attempts: AttemptStore;
  close(): Promise<void>;
}
