/** Everything the admin endpoints depend on. `serve/admin.ts` creates it; tests create their own. */

import type * as z from 'zod';
import type { Family } from '../core/family.ts';
import type { KeyJudge } from '../core/key-judge.ts';
import type { Log } from '../core/log.ts';
import type { Probe } from '../core/probe.ts';
import type { ResourceEditor } from '../core/resource-editor.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { SeriesStore } from '../core/store/series.ts';
import type { Store } from '../core/store/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Access } from './access/access.ts';
import type { OidcSignIn } from './access/oidc.ts';
import type { Passkeys } from './access/passkeys.ts';
import type { alertChannel } from './alerts/contract/alerts.ts';
import type { EventStreams } from './api/event-stream.ts';
import type { LedgerTail } from './ledger/tail.ts';
import type { LiveSource } from './overview/live/sampler.ts';
import type { GatewayCalls } from './playground/gateway-calls.ts';

export interface AdminContext {
  readonly store: Store;
  /** Queries of the store's series, in a thread. */
  readonly series: Pick<SeriesStore, 'read'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly families: readonly Family[];
  readonly configuration: ConfigurationView;
  readonly access: Access;
  readonly oidc: OidcSignIn;
  readonly passkeys: Passkeys;
  /** Upstreams, models and projects, wherever they are declared. */
  readonly resources: ResourceEditor;
  readonly keyTerms: KeyJudge;
  readonly probe: Probe;
  readonly alerts: AlertWatch;
  readonly streams: EventStreams;
  readonly live: LiveSource;
  readonly instance: InstanceFacts;
  readonly tail: LedgerTail;
  /** Calls the gateway through its own listener, as a client, for the playground. */
  readonly gatewayCalls: GatewayCalls;
  /** The clients' URL, such as `http://127.0.0.1:4000/ai`. */
  clientUrl(): string;
}

/** Facts of the process and its environment. */
export interface InstanceFacts {
  readonly startedAtMs: number;
  /** Such as `Node.js 26.10.0`. */
  readonly runtime: string;
  storeKind(): 'memory' | 'file' | 'postgres';
  /** On this machine's disk; undefined for a remote store. */
  storeBytes(): Promise<number | undefined>;
  /** Whether credentials can be stored: there is a key for them, or one can be created. */
  canSeal(): Promise<boolean>;
  /** The key beside the database: its file and its ID, which does not reveal it; undefined where there is none. */
  ownKey(): Promise<{ readonly file: string; readonly id: string } | undefined>;
}

/** The configuration in force: another one after each reload. */
export interface ConfigurationView {
  snapshot(): Snapshot;
  /** Absolute; undefined where there is no file and the embedded configuration applies. */
  file(): string | undefined;
  warnings(): readonly string[];
  /** The faults of the present file; undefined where it is in force. */
  refused(): RefusedConfiguration | undefined;
  /** Misplaced secrets of services, by their masks. */
  misplacedSecrets(): ReadonlyMap<string, string>;
}

/** A change of the configuration file that is not in force. */
export interface RefusedConfiguration {
  readonly atMs: number;
  readonly faults: readonly {
    readonly file: string | undefined;
    readonly line: number | undefined;
    readonly message: string;
  }[];
}

export type AlertChannel = Readonly<z.output<typeof alertChannel>>;

export interface AlertWatch {
  channels(): AlertChannel[];
  /** The results of a test, for each channel or for one. */
  test(channel: string | undefined): Promise<{ channel: AlertChannel; ok: boolean; detail: string }[]>;
  /** Evaluates once, if this node has the lease. */
  look(): Promise<void>;
  close(): Promise<void>;
}
