/** Collects all store interfaces in one, and adds two small ones: audit log and changes. Callers do not see which database is behind. */

import type { AlertStore } from './alerts.ts';
import type { BackgroundStore } from './background-answers.ts';
import type { BudgetAccountStore } from './budgets.ts';
import type { HealthStore } from './health.ts';
import type { KeyStore } from './keys.ts';
import type { LedgerStore } from './ledger.ts';
import type { AttemptStore, InvitationStore, MemberStore, PasskeyStore, SessionStore, TokenStore } from './members.ts';
import type { ResourceStore, SettingStore } from './resources.ts';
import type { SeriesStore } from './series.ts';
import type { StoredObjectStore } from './stored-objects.ts';

export interface Store {
  readonly keys: KeyStore;
  readonly health: HealthStore;
  readonly resources: ResourceStore;
  readonly changes: ChangeFeed;
  readonly audit: AuditStore;
  readonly settings: SettingStore;
  readonly ledger: LedgerStore;
  readonly series: SeriesStore;
  readonly alerts: AlertStore;
  readonly budgets: BudgetAccountStore;
  readonly members: MemberStore;
  readonly sessions: SessionStore;
  readonly tokens: TokenStore;
  readonly passkeys: PasskeyStore;
  readonly invitations: InvitationStore;
  readonly attempts: AttemptStore;
  readonly storedObjects: StoredObjectStore;
  readonly background: BackgroundStore;
  /** Batches until their cost is known, stored like background responses. */
  readonly batches: BackgroundStore;
  close(): Promise<void>;
}

export interface AuditEntry {
  readonly id: string;
  readonly atMs: number;
  /** The writer: `command line`, `first start`, or a member of the console. */
  readonly actor: string;
  /** What was done, such as `key.create` or `upstream.put`. */
  readonly action: string;
  readonly subject: string;
  /** The element before the change, without secrets; null where it did not exist. */
  readonly before: unknown;
  readonly after: unknown;
}

interface AuditFilter {
  readonly actor?: string | undefined;
  /** Prefix of the action: `key.` for all changes of keys. */
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  /** Only entries of this time or later. */
  readonly fromMs?: number | undefined;
  /** Only entries before this time. */
  readonly toMs?: number | undefined;
}

export interface AuditStore {
  add(entry: Omit<AuditEntry, 'id' | 'atMs'>): Promise<void>;
  /** Entries, the newest first; `before` is the last ID of the previous page. */
  page(options: AuditFilter & { readonly before?: string | undefined; readonly limit: number }): Promise<AuditEntry[]>;
}

/** A change of the store, with its number: other nodes and threads read these to follow each other. */
export interface Change {
  readonly sequence: number;
  readonly kind: 'key' | 'resource' | 'setting';
  readonly id: string;
  readonly atMs: number;
}

export interface ChangeFeed {
  latest(): Promise<Change | undefined>;
  /**
   * The next changes after a known one, the oldest first. Undefined where the store does not have the known change, so that others may be
   * missing: they were pruned, or the database is an older copy, in which another change may have its number.
   */
  since(known: Change | undefined): Promise<Change[] | undefined>;
  /** Calls back when the database announces a change, where it can; do not rely on it. */
  listen(onChange: () => void): { close(): Promise<void> };
}
