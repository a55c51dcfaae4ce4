/** Composes the store from its parts, which are the same for SQLite and PostgreSQL. */

import type { Kysely } from 'kysely';
import type { Store } from '../core/store/store.ts';
import type { Clock } from '../lib/clock.ts';
import { createAlertStore } from './alerts.ts';
import { createBackgroundStore } from './background-answers.ts';
import { createBudgetAccountStore } from './budgets.ts';
import { createHealthStore } from './health.ts';
import { createKeyStore } from './keys.ts';
import { createLedgerStore } from './ledger/ledger.ts';
import { createInvitationStore } from './people/invitations.ts';
import { createMemberStore } from './people/members.ts';
import { createPasskeyStore, createTokenStore } from './people/passkeys.ts';
import { createAttemptStore, createSessionStore } from './people/sessions.ts';
import { createAuditStore, createChangeFeed, createRecorder, noSignal, type Signal } from './recording.ts';
import { createResourceStore } from './resources.ts';
import type { Schema } from './schema.ts';
import { createSeriesStore } from './series/series-blocks.ts';
import { createSettingStore } from './settings.ts';
import { createStoredObjectStore } from './stored-objects.ts';

export interface StoreParts {
  readonly db: Kysely<Schema>;
  /** Connections to the same database with short timeouts, for statements that a request waits for. */
  readonly quick?: Kysely<Schema>;
  /** Connections to the same database for budgets, with longer timeouts, as a late grant still serves the next request. */
  readonly money?: Kysely<Schema>;
  readonly clock: Clock;
  readonly signal?: Signal;
  secure(): Promise<boolean>;
  close(): Promise<void>;
}

export function createStore(parts: StoreParts): Store {
  const { db, quick = db, money = db, clock, signal = noSignal, secure, close } = parts;
  const recorder = createRecorder(db, clock, signal);
  return {
    keys: createKeyStore({ db, quick, clock, recorder }),
    health: createHealthStore(quick, clock),
    resources: createResourceStore({ db, clock, recorder, changes: createChangeFeed(db, signal) }),
    changes: createChangeFeed(quick, signal),
    audit: createAuditStore(db, clock),
    settings: createSettingStore(db, recorder, clock),
    ledger: createLedgerStore(db, clock, secure),
    series: createSeriesStore(db, clock),
    alerts: createAlertStore(db, clock),
    budgets: createBudgetAccountStore(money, clock),
    members: createMemberStore(db, recorder, clock),
    sessions: createSessionStore(db, clock),
    tokens: createTokenStore(db, recorder, clock),
    passkeys: createPasskeyStore(db, recorder, clock),
    invitations: createInvitationStore(db, recorder, clock),
    attempts: createAttemptStore(db, clock),
    storedObjects: createStoredObjectStore(db, quick),
    background: createBackgroundStore(db, quick, clock, 'background_answers'),
    batches: createBackgroundStore(db, quick, clock, 'batches'),
    close,
  };
}
