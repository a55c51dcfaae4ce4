/** Everything the admin endpoints depend on. `serve/admin.ts` creates it; tests create their own. */

import type { Family, ListedModel } from '../core/family.ts';
import type { KeyJudge } from '../core/key-judge.ts';
import type { Log } from '../core/log.ts';
import type { ResourceEditor } from '../core/resource-editor.ts';
import type { Snapshot, Upstream } from '../core/snapshot.ts';
import type { SeriesStore } from '../core/store/series.ts';
import type { Store } from '../core/store/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Access } from './access/access.ts';
import type { OidcSignIn } from './access/oidc.ts';
import type { Passkeys } from './access/passkeys.ts';
import type { EventStreams } from './api/event-stream.ts';
import type { LedgerTail } from './ledger/tail.ts';
import type { LiveSource } from './overview/live/sampler.ts';
import type { GatewayCalls } from './playground/gateway-calls.ts';

export interface AdminContext {
  readonly store: Store;
  /** Those of the store, answered where nobody waits for it. */
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
  /** Tries what an upstream is like from here. */
  readonly probe: UpstreamProbe;
  readonly alerts: AlertWatch;
  readonly streams: EventStreams;
  readonly live: LiveSource;
  readonly instance: InstanceFacts;
  readonly tail: LedgerTail;
  /** The gateway through its own listener, as a client: to try things out. */
  readonly gatewayCalls: GatewayCalls;
  /** Where clients are served, such as `http://127.0.0.1:4000/ai`. */
  clientUrl(): string;
}

/** The process itself, and what it stands on. */
export interface InstanceFacts {
  readonly startedAtMs: number;
  /** Such as `Node.js 26.10.0`. */
  readonly runtime: string;
  storeKind(): 'memory' | 'file' | 'postgres';
  /** On this machine's disk; undefined where the store is elsewhere. */
  storeBytes(): Promise<number | undefined>;
  /** Whether credentials can be kept in the store: there is a key for them, or one can be made. */
  canSeal(): Promise<boolean>;
  /** The key that was made beside the database: where it is, and which, which says nothing of it; undefined where there is none. */
  ownKey(): Promise<{ readonly file: string; readonly id: string } | undefined>;
}

/** The configuration in force: another one after each reload. */
export interface ConfigurationView {
  snapshot(): Snapshot;
  /** Absolute; undefined where there is no file and the embedded configuration holds. */
  file(): string | undefined;
  warnings(): readonly string[];
  /** How the file is refused as it is now; undefined where it is in force. */
  refused(): RefusedConfiguration | undefined;
  /** Secrets of services that stand where none belongs, by the masks that are shown in their place. */
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

/** Who is told of alerts. */
export interface AlertChannel {
  readonly id: string;
  readonly kind: 'webhook' | 'slack' | 'smtp';
  readonly host: string;
}

export interface AlertWatch {
  channels(): readonly AlertChannel[];
  /** What came of a test, for each channel or for one. */
  test(channel: string | undefined): Promise<readonly { channel: AlertChannel; ok: boolean; detail: string }[]>;
  /** Looks once, where the lease is ours. */
  look(): Promise<void>;
  close(): Promise<void>;
}

interface ProbeProblem {
  readonly message: string;
  readonly advice: string;
  /** Of the upstream's document. */
  readonly field: string | undefined;
}

interface ProbeReport {
  readonly ok: boolean;
  readonly steps: readonly {
    readonly name: 'look-up' | 'connect' | 'secure' | 'ask';
    readonly state: 'passed' | 'failed' | 'skipped';
    readonly ms: number | undefined;
    readonly detail: string;
  }[];
  readonly credentials: readonly { readonly id: string; readonly status: number; readonly ok: boolean }[];
  readonly problem: ProbeProblem | undefined;
  /** How many it lists; undefined where it has no list. */
  readonly models: number | undefined;
}

type FoundModels =
  | { readonly kind: 'listed'; readonly models: readonly ListedModel[] }
  | { readonly kind: 'no-list' }
  | { readonly kind: 'failed'; readonly problem: ProbeProblem };

/** Asked of whoever can connect to an upstream. Never a secret in what comes back. */
interface UpstreamProbe {
  test(upstream: Upstream, signal: AbortSignal): Promise<ProbeReport>;
  models(upstream: Upstream, signal: AbortSignal): Promise<FoundModels>;
}
