/** The current tables for queries; `migrations.ts` creates them. */

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
    /** Milliseconds since the epoch. */
    readonly reported_at: number;
    /** A JSON list of target states. */
    readonly targets: string;
    /** Its drift states, as JSON; null in rows of a former version. */
    readonly drift: string | null;
    /** The IDs of the keys that it can decrypt stored secrets with, as a JSON list; null where it did not report them. */
    readonly secret_keys: string | null;
  };
  /** The secrets in a document are encrypted. */
  readonly resources: Columns<Resource>;
  /** One row, with the ID 1. */
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
    /** JSON. */
    readonly before: string | null;
    readonly after: string | null;
  };
  readonly settings: {
    readonly name: string;
    /** JSON. */
    readonly value: string;
  };
  readonly ledger: LedgerTable;
  /** SQLite only, as are the next two. */
  readonly ledger_slices: LedgerSliceTable;
  readonly ledger_places: LedgerSharedTable;
  /** Further columns are in `ledger-compact.ts`. */
  readonly ledger_rows: {
    /** The time, and some bits of the ID after it. */
    readonly seq: number;
    /** The remaining characters of the ID. */
    readonly rest: string;
    readonly place: number;
  };
  readonly usage_hours: UsageTable;
  readonly usage_days: UsageTable;
  readonly usage_key_days: KeyUsageTable;
  readonly usage_unit_hours: UnitUsageTable;
  readonly usage_unit_days: UnitUsageTable;
  /** SQLite only; the views below have all daily sums, rolled up or not. One row, with the ID 1. */
  readonly usage_rollup: {
    readonly id: number;
    /** Daily sums hold all hours before, and none later. */
    readonly before: number;
  };
  readonly usage_all_days: UsageTable;
  readonly usage_all_key_days: KeyUsageTable;
  readonly usage_all_unit_days: UnitUsageTable;
  readonly series_blocks: {
    readonly id: Generated<number>;
    /** Rows of one import, a minute, an hour or a day: see `levels`. */
    readonly level: number;
    /** The included names: see `sections`. */
    readonly section: number;
    readonly at: number;
    /** 1 where a longer block includes it. */
    rolled: number;
    readonly data: Uint8Array;
  };
  /** One row, with the ID 1. */
  readonly series_since: {
    readonly id: number;
    /** All rows that began at this time or later are in blocks. */
    readonly at: number;
  };
  /** `untold` is null where all were notified. */
  readonly alerts: Columns<Omit<StoredAlert, 'untold'> & { readonly untold?: readonly string[] }>;
  /** One row, with the ID 1. */
  readonly alert_lease: { readonly id: number; readonly holder: string; readonly until: number };
  readonly captures: Columns<Capture & { readonly id: string }>;
  readonly journals: {
    readonly id: string;
    readonly segment: number;
    readonly position: number;
    readonly imported_at: number;
  };
  /** One row, with the ID 1, once anything was pruned. */
  readonly pruning: {
    readonly id: number;
    /** Rows that began before are deleted, or being deleted. */
    readonly before: number;
  };
  readonly budget_accounts: {
    readonly id: string;
    readonly holder_kind: string;
    readonly holder_id: string;
    readonly starts_at: number;
    /** Null where it never ends. */
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
  /** One row, with the ID 1. */
  readonly access_turn: { readonly id: number; readonly turns: number };
  readonly kept_objects: Omit<Columns<StoredObject>, 'kind'> & { readonly kind: StoredKind };
  readonly background_answers: BackgroundAnswerTable;
  readonly batches: BackgroundAnswerTable;
}

type KeyFields = 'id' | 'name' | 'hint' | 'createdAtMs' | 'revokedAtMs' | 'version';

/** Terms are null where unset, and where a former version did not know them. */
type KeyTermColumns = Columns<Partial<KeyTerms> & Pick<KeyTerms, 'models'>>;

export interface KeyTable extends KeyTermColumns, Columns<Pick<StoredKey, KeyFields>> {
  /** SHA-256 of the secret in lower-case hex; unique. */
  readonly digest: string;
  /** The digest of the secret before the last rotation. */
  readonly old_digest: string | null;
  readonly old_digest_until: number | null;
}

/** Fields that are stored otherwise: a time as `started_at`, a boolean as 0 or 1, and JSON, which is null where there is nothing in it. */
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

/** Columns shared by many rows. */
export const nameColumns = [
  ...(['node', 'key', 'project', 'route', 'operation', 'label', 'model', 'upstream', 'upstream_model'] as const),
  ...(['outcome', 'status', 'error', 'is_estimated', 'cache'] as const),
] as const;

export interface LedgerSharedTable extends Pick<LedgerTable, (typeof nameColumns)[number]> {
  readonly id: number;
  /** No row that uses it began more than a day later. */
  readonly used_at: number;
}

/** Present where rows of this name began within this time slice. */
export interface LedgerSliceTable {
  /** A column of the ledger. */
  readonly kind: string;
  /** Empty where the row has none. */
  readonly name: string;
  /** Milliseconds since the epoch, divided by the length of a slice. */
  readonly slice: number;
}

/** An integer that may exceed JavaScript's exact numbers. */
type Count = number | bigint;

/** In the order in which they are written. */
export const sumColumns = [
  ...(['requests', 'input_tokens', 'output_tokens', 'search_units', 'items', 'cost_nanos', 'unpriced'] as const),
  ...(['estimated', 'request_bytes', 'response_bytes', 'duration_ms'] as const),
] as const;

type SumColumns = Readonly<Record<Exclude<(typeof sumColumns)[number], 'duration_ms'>, Count>> & {
  readonly duration_ms: number;
};

/** The key of a sum. */
export interface UsageGroup {
  /** Milliseconds since the epoch, at the beginning of the hour or day. */
  readonly span: number;
  readonly key: string;
  /** Empty where there is none, like model and upstream. */
  readonly project: string;
  readonly route: string;
  readonly operation: string;
  readonly model: string;
  readonly upstream: string;
  readonly outcome: string;
}

export interface UsageTable extends UsageGroup, SumColumns {}

/** Units beside tokens, search units and items: one line for each. */
export interface UnitUsageTable extends UsageGroup {
  /** As in `units` of the ledger; each kind of tool by itself. */
  readonly unit: string;
  readonly amount: number;
}

/** Over all routes, models, upstreams and outcomes. */
export interface KeyUsageTable extends SumColumns {
  /** Milliseconds since the epoch, at the beginning of the day. */
  readonly span: number;
  readonly key: string;
  /** Empty where there is none. */
  readonly project: string;
  /** Requests with another outcome than `ok`. */
  readonly errors: Count;
}

/** Times are milliseconds since the epoch, here and in the tables below. */
export type MemberTable = Columns<Omit<StoredMember, 'passkeys'>>;
export type SessionTable = Columns<StoredSession & { readonly digest: string }>;
export type TokenTable = Columns<StoredToken & { readonly digest: string }>;
/** `public_key` is base64url. */
export type PasskeyTable = Columns<StoredPasskey>;
/** `kept` is for a reset; null where it is empty. */
export type InvitationTable = Columns<
  StoredInvitation & { readonly digest: string; readonly kept?: readonly string[] }
>;

interface BackgroundAnswerTable extends Columns<Omit<BackgroundAnswer, 'estimate' | 'end'>> {
  /** JSON: the estimate, and the end. */
  readonly asking: string;
  readonly ended: string | null;
  readonly due_at: number;
  readonly node: string;
  readonly node_until: number;
}
