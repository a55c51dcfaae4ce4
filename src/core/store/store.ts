/** All ports of a store in one; which database answers is the store's own business. */

import type { AlertStore } from './alerts.ts';
import type { AuditStore } from './audit.ts';
import type { BackgroundStore } from './background-answers.ts';
import type { BudgetAccountStore } from './budgets.ts';
import type { ChangeFeed } from './changes.ts';
import type { HealthStore } from './health.ts';
import type { KeyStore } from './keys.ts';
import type { LedgerStore } from './ledger.ts';
import type { AttemptStore, InvitationStore, MemberStore, PasskeyStore, SessionStore, TokenStore } from './members.ts';
import type { ResourceStore } from './resources.ts';
import type { SeriesStore } from './series.ts';
import type { SettingStore } from './settings.ts';
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
