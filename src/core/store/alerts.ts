/** Interface to store alerts: what they are about, when they opened and closed, and which notifications are pending. */

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
  /** The ID of what the alert is about, such as an upstream; empty where the rule has no subject. */
  readonly subject: string;
  readonly severity: 'bad' | 'warning';
  /** A sentence for people that says why the alert was opened. */
  readonly cause: string;
  /** Parameters of a query in the console that shows the cause. */
  readonly explore?: Readonly<Record<string, string>> | undefined;
}

export interface StoredAlert extends AlertFacts {
  /** The alert's ID, the same in all its notifications. */
  readonly id: string;
  readonly openedAtMs: number;
  readonly closedAtMs: number | undefined;
  readonly silencedUntilMs: number | undefined;
  /** Pending notifications: `opened` or `closed`, a colon, and the channel. */
  readonly untold: readonly string[];
}

export interface AlertStore {
  /** True where the holder has the lease until then, or had it already; of several callers only one gets it. */
  lease(holder: string, untilMs: number): Promise<boolean>;
  get(id: string): Promise<StoredAlert | undefined>;
  /** Alerts, the newest first. `before` is the last ID of the previous page. */
  page(options: {
    readonly isOpen?: boolean | undefined;
    readonly before?: string | undefined;
    readonly limit: number;
  }): Promise<StoredAlert[]>;
  untold(): Promise<StoredAlert[]>;
  put(alert: StoredAlert): Promise<void>;
  /** Deletes alerts that were closed before. */
  prune(beforeMs: number): Promise<void>;
}
