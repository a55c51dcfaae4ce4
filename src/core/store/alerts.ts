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

export interface AlertFacts {
  readonly rule: AlertRule;
  readonly kind: AlertSubject;
  /** Empty where the rule has no subject. */
  readonly subject: string;
  readonly severity: 'bad' | 'warning';
  /** A sentence. */
  readonly cause: string;
  /** A query of the series that shows it. */
  readonly explore?: Readonly<Record<string, string>> | undefined;
}

export interface StoredAlert extends AlertFacts {
  /** Stable over all notifications. */
  readonly id: string;
  readonly openedAtMs: number;
  readonly closedAtMs: number | undefined;
  /** No notification before. */
  readonly silencedUntilMs: number | undefined;
  /** Pending notifications: `opened` or `closed`, a colon, and the channel. */
  readonly untold: readonly string[];
}

export interface AlertStore {
  /** True where the holder has the lease until then, or had it already; only one of several callers gets it. */
  lease(holder: string, untilMs: number): Promise<boolean>;
  get(id: string): Promise<StoredAlert | undefined>;
  /** The newest first. `before` is the last ID of the previous page. */
  page(options: {
    readonly isOpen?: boolean | undefined;
    readonly before?: string | undefined;
    readonly limit: number;
  }): Promise<StoredAlert[]>;
  /** Those with pending notifications. */
  untold(): Promise<StoredAlert[]>;
  /** Replaces the alert of the same ID. */
  put(alert: StoredAlert): Promise<void>;
  /** Deletes those closed before. */
  prune(beforeMs: number): Promise<void>;
}
