/** All store interfaces in one, with two small ones: audit log and changes. The database behind is not visible. */

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
  /** The same for batches of requests. */
  readonly batches: BackgroundStore;
  close(): Promise<void>;
}

/** The audit log's entries, and its port. */
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
  /** The newest first; `before` is the ID of the last entry of the page before. */
  page(options: AuditFilter & { readonly before?: string | undefined; readonly limit: number }): Promise<AuditEntry[]>;
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
