/** Alerts in the store, the lease of the evaluating node, and the store interface. */

export const alertRules = [
  'error_rate',
  'latency',
  'upstream_degraded',
  'upstream_down',
  'slo_missed',
  'budget',
  'ledger_lag',
  'drift',
  'certificate',
  'reload_refused',
] as const;
export type AlertRule = (typeof alertRules)[number];

export const alertSubjects = ['gateway', 'upstream', 'model', 'key', 'project', 'configuration'] as const;
type AlertSubject = (typeof alertSubjects)[number];

/** What an alert is about. */
export interface AlertFacts {
  readonly rule: AlertRule;
  readonly kind: AlertSubject;
  /** Empty where the kind says it all. */
  readonly subject: string;
  readonly severity: 'bad' | 'warning';
  /** A sentence. */
  readonly cause: string;
  /** What to ask of the series to see it. */
  readonly explore?: Readonly<Record<string, string>> | undefined;
}

export interface StoredAlert extends AlertFacts {
  /** The same each time that it is told. */
  readonly id: string;
  readonly openedAtMs: number;
  readonly closedAtMs: number | undefined;
  /** Nobody is told before. */
  readonly silencedUntilMs: number | undefined;
  /** Who is still to be told of what: `opened` or `closed`, a colon, and the channel. */
  readonly untold: readonly string[];
}

export interface AlertStore {
  /** True where it is the holder's until that time, or was already; of several who ask, one has it. */
  lease(holder: string, untilMs: number): Promise<boolean>;
  get(id: string): Promise<StoredAlert | undefined>;
  /** The newest first. `before` is the ID of the last one of the page before. */
  page(options: {
    readonly isOpen?: boolean | undefined;
    readonly before?: string | undefined;
    readonly limit: number;
  }): Promise<StoredAlert[]>;
  /** Those of which somebody is still to be told. */
  untold(): Promise<StoredAlert[]>;
  /** In place of what it was. */
  put(alert: StoredAlert): Promise<void>;
  /** Deletes those that were closed before. */
  prune(beforeMs: number): Promise<void>;
}
