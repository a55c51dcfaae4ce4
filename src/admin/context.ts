/** Lists everything that the admin endpoints depend on. `serve/admin.ts` creates it; tests create their own. */

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
  /** Queries of time series, which run in a thread. */
  readonly series: Pick<SeriesStore, 'read'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly families: readonly Family[];
  readonly configuration: ConfigurationView;
  readonly access: Access;
  readonly oidc: OidcSignIn;
  readonly passkeys: Passkeys;
  /** Reads and writes upstreams, models and projects, wherever they are declared. */
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
  /** The runtime and its version, such as `Node.js 26.10.0`. */
  readonly runtime: string;
  storeKind(): 'memory' | 'file' | 'postgres';
  /** The size of the store on this machine's disk; undefined for a remote store. */
  storeBytes(): Promise<number | undefined>;
  /** Whether credentials can be stored: a key to encrypt them exists, or can be created. */
  canSeal(): Promise<boolean>;
  /** The file and the ID of the encryption key beside the database; undefined where there is none. The ID does not reveal the key. */
  ownKey(): Promise<{ readonly file: string; readonly id: string } | undefined>;
}

/** A view of the configuration in force, which changes with each reload. */
export interface ConfigurationView {
  snapshot(): Snapshot;
  /** The configuration file's absolute path; undefined where there is none and the embedded configuration applies. */
  file(): string | undefined;
  warnings(): readonly string[];
  /** The faults of the present file; undefined where the file is in force. */
  refused(): RefusedConfiguration | undefined;
  /** Secrets of services that stand in wrong places of the configuration, by the masks that replace them in output. */
  misplacedSecrets(): ReadonlyMap<string, string>;
}

/** A change of the configuration file that did not take effect because of its faults. */
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
  /** Sends a test notification to all channels or to one, and returns the result of each. */
  test(channel: string | undefined): Promise<{ channel: AlertChannel; ok: boolean; detail: string }[]>;
  /** Evaluates the alert rules once, if this node has the lease. */
  look(): Promise<void>;
  close(): Promise<void>;
}
