/** Types of the current tables, for queries; `migrations.ts` creates the tables. Times are milliseconds since the epoch. */

import type { Generated } from 'kysely';
import type { Capture, LedgerRow } from '../core/accounting/ledger-row.ts';
import type { KeyTerms } from '../core/key.ts';
import type { StoredAlert } from '../core/store/alerts.ts';
import type { BackgroundAnswer } from '../core/store/background-answers.ts';
import type { StoredKey } from '../core/store/keys.ts';
import type {
  StoredInvitation,
  StoredMember,
  StoredPasskey,
  StoredSession,
  StoredToken,
} from '../core/store/members.ts';
import type { Resource } from '../core/store/resources.ts';
import type { StoredKind, StoredObject } from '../core/store/stored-objects.ts';
import type { ColumnOf, Columns } from './columns.ts';

export interface Schema {
  readonly keys: KeyTable;
  readonly node_reports: {
    readonly node: string;
    readonly reported_at: number;
    /** A JSON list of target states. */
    readonly targets: string;
    /** What the node observed of models that change, as JSON; null in rows of a former version. */
    readonly drift: string | null;
    /** IDs of the keys with which the node can decrypt stored secrets, as a JSON list; null where it did not report them. */
    readonly secret_keys: string | null;
  };
  /** Configuration elements; the secrets in their documents are encrypted. */
  readonly resources: Columns<Resource>;
  /** Number of the latest change, in one row with the ID 1. */
  readonly change_counter: { readonly id: number; readonly latest: number };
  readonly changes: {
    readonly sequence: number;
    readonly kind: string;
    readonly subject: string;
    readonly changed_at: number;
  };
  readonly audit: {
    readonly id: string;
    readonly at: number;
    readonly actor: string;
    readonly action: string;
    readonly subject: string;
    /** The element before the change, as JSON; `after` likewise. */
    readonly before: string | null;
    readonly after: string | null;
  };
  readonly settings: {
    readonly name: string;
    readonly value: string;
  };
  readonly ledger: LedgerTable;
  /** Time slices; this table and the next two exist in SQLite only. */
  readonly ledger_slices: LedgerSliceTable;
  readonly ledger_places: LedgerSharedTable;
  /** Compact ledger rows, whose other columns are in `ledger-compact.ts`. */
  readonly ledger_rows: {
    /** The start time, and some bits of the ID's random part. */
    readonly seq: number;
    /** The characters of the ID after its time. */
    readonly rest: string;
    readonly place: number;
  };
  readonly usage_hours: UsageTable;
  readonly usage_days: UsageTable;
  readonly usage_key_days: KeyUsageTable;
  readonly usage_unit_hours: UnitUsageTable;
  readonly usage_unit_days: UnitUsageTable;
  /** SQLite only: how far the daily sums are complete; the views below add the hours after that. One row, with the ID 1. */
  readonly usage_rollup: {
    readonly id: number;
    /** Daily sums hold all hours before this time, and none later. */
    readonly before: number;
  };
  readonly usage_all_days: UsageTable;
  readonly usage_all_key_days: KeyUsageTable;
  readonly usage_all_unit_days: UnitUsageTable;
  readonly series_blocks: {
    readonly id: Generated<number>;
    /** The time that a block covers: that of an import's rows, a minute, an hour or a day; see `levels`. */
    readonly level: number;
    /** The kinds of names that the block's cells have: see `sections`. */
    readonly section: number;
    readonly at: number;
    /** 1 where a block of a longer time includes this one. */
    rolled: number;
    readonly data: Uint8Array;
  };
  /** When the series begin, in one row with the ID 1. */
  readonly series_since: {
    readonly id: number;
    /** All rows that began at this time or later are in series blocks. */
    readonly at: number;
  };
  /** Alerts; `untold` lists the pending notifications, and is null where there are none. */
  readonly alerts: Columns<Omit<StoredAlert, 'untold'> & { readonly untold?: readonly string[] }>;
  /** The node that evaluates the alert rules, in one row with the ID 1. */
  readonly alert_lease: { readonly id: number; readonly holder: string; readonly until: number };
  readonly captures: Columns<Capture & { readonly id: string }>;
  readonly journals: {
    readonly id: string;
    readonly segment: number;
    readonly position: number;
    readonly imported_at: number;
  };
  /** How far the ledger is pruned: one row with the ID 1, once anything was pruned. */
  readonly pruning: {
    readonly id: number;
    /** Rows that began before this time are deleted, or being deleted. */
    readonly before: number;
  };
  readonly budget_accounts: {
    readonly id: string;
    readonly holder_kind: string;
    readonly holder_id: string;
    readonly starts_at: number;
    /** End of the budget period; null where it never ends. */
    readonly ends_at: number | null;
    readonly spent_nanos: number;
  };
  readonly budget_leases: {
    readonly account: string;
    readonly node: string;
    readonly drawn_nanos: number;
    readonly spent_nanos: number;
  };
  readonly budget_nodes: { readonly node: string; readonly heard_at: number };
  readonly claims: { readonly name: string; readonly claimed_at: number };
  readonly members: MemberTable;
  readonly sessions: SessionTable;
  readonly tokens: TokenTable;
  readonly passkeys: PasskeyTable;
  readonly invitations: InvitationTable;
  readonly attempts: {
    readonly subject: string;
    readonly failures: number;
    readonly failed_at: number;
    readonly blocked_until: number;
  };
  /** A row with the ID 1, which changes to members lock. */
  readonly access_turn: { readonly id: number; readonly turns: number };
  readonly kept_objects: Omit<Columns<StoredObject>, 'kind'> & { readonly kind: StoredKind };
  readonly background_answers: BackgroundAnswerTable;
  readonly batches: BackgroundAnswerTable;
}

type KeyFields = 'id' | 'name' | 'hint' | 'createdAtMs' | 'revokedAtMs' | 'version';

/** Columns of a key's terms; null where a term is unset, or a former version did not know it. */
type KeyTermColumns = Columns<Partial<KeyTerms> & Pick<KeyTerms, 'models'>>;

export interface KeyTable extends KeyTermColumns, Columns<Pick<StoredKey, KeyFields>> {
  /** SHA-256 of the secret in lower-case hex; unique. */
  readonly digest: string;
  readonly old_digest: string | null;
  readonly old_digest_until: number | null;
}

/** Fields that are stored under another name or type: times, booleans as 0 or 1, and JSON, which is null where it would be empty. */
interface StoredFields {
  readonly started_at: number;
  readonly is_estimated: number;
  readonly tries: string | null;
  readonly units: string | null;
}

/** A column for each field of a row, such as `client_request_id`. */
export type LedgerTable = StoredFields & {
  readonly [Field in Exclude<
    keyof LedgerRow,
    'startedAtMs' | 'isEstimated' | 'tries' | 'units'
  > as ColumnOf<Field>]: LedgerRow[Field] extends string ? string : LedgerRow[Field];
};

export const nameColumns = [
  ...(['node', 'key', 'project', 'route', 'operation', 'label', 'model', 'upstream', 'upstream_model'] as const),
  ...(['outcome', 'status', 'error', 'is_estimated', 'cache'] as const),
] as const;

export interface LedgerSharedTable extends Pick<LedgerTable, (typeof nameColumns)[number]> {
  readonly id: number;
  /** No row that uses these values began more than a day after this time. */
  readonly used_at: number;
}

/** A time slice in which rows with this name began. */
export interface LedgerSliceTable {
  /** The ledger column, such as `model`, whose value is `name`. */
  readonly kind: string;
  /** A value of the column; empty where rows have none. */
  readonly name: string;
  /** The time, divided by the length of a slice. */
  readonly slice: number;
}

/** An integer that may exceed JavaScript's exact numbers. */
type Count = number | bigint;

/** Columns of figures, in the order in which they are written. */
export const sumColumns = [
  ...(['requests', 'input_tokens', 'output_tokens', 'search_units', 'items', 'cost_nanos', 'unpriced'] as const),
  ...(['estimated', 'request_bytes', 'response_bytes', 'duration_ms'] as const),
] as const;

type SumColumns = Readonly<Record<Exclude<(typeof sumColumns)[number], 'duration_ms'>, Count>> & {
  readonly duration_ms: number;
};

/** Columns that identify a sum. */
export interface UsageGroup {
  /** The beginning of the hour or day. */
  readonly span: number;
  readonly key: string;
  /** Empty where the requests have no project; model and upstream are treated likewise. */
  readonly project: string;
  readonly route: string;
  readonly operation: string;
  readonly model: string;
  readonly upstream: string;
  readonly outcome: string;
}

export interface UsageTable extends UsageGroup, SumColumns {}

/** Sums of units besides tokens, search units and items: one row for each unit. */
export interface UnitUsageTable extends UsageGroup {
  /** Name of the unit, as in `units` of the ledger; each kind of tool is a unit. */
  readonly unit: string;
  readonly amount: number;
}

/** Daily sums by key and project, over all routes, models, upstreams and outcomes. */
export interface KeyUsageTable extends SumColumns {
  /** The beginning of the day. */
  readonly span: number;
  readonly key: string;
  /** Empty where the key has no project. */
  readonly project: string;
  /** Requests with another outcome than `ok`. */
  readonly errors: Count;
}

export type MemberTable = Columns<Omit<StoredMember, 'passkeys'>>;
export type SessionTable = Columns<StoredSession & { readonly digest: string }>;
export type TokenTable = Columns<StoredToken & { readonly digest: string }>;
/** Passkeys; `public_key` is base64url. */
export type PasskeyTable = Columns<StoredPasskey>;
/** Invitations and reset links. `kept`: the means that a reset keeps; null where it keeps none. */
export type InvitationTable = Columns<
  StoredInvitation & { readonly digest: string; readonly kept?: readonly string[] }
>;

interface BackgroundAnswerTable extends Columns<Omit<BackgroundAnswer, 'estimate' | 'end'>> {
  /** The request estimate, and how the work ended, as JSON. */
  readonly asking: string;
  readonly ended: string | null;
  readonly due_at: number;
  readonly node: string;
  readonly node_until: number;
}
