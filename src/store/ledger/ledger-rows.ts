/** Converts ledger rows between table and code, and reads the time in an ID. */

import type { LedgerRow, TryRecord } from '../../core/accounting/ledger-row.ts';
import { readUnits, type Units } from '../../core/accounting/units.ts';
import type { LedgerFilter } from '../../core/store/ledger.ts';
import { readJson } from '../../lib/json/read-json.ts';
import { pick } from '../../lib/record-of.ts';
import { fieldOf } from '../columns.ts';
import type { LedgerSharedTable, LedgerTable } from '../schema.ts';

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

/** Number of hex digits with which an ID begins; they are its time. */
export const idDigitsOfTime = 12;
export const toTimeOf = (id: string): number => Number.parseInt(id.slice(0, idDigitsOfTime), 16);

const lastIdMs = 2 ** 48 - 1;

/** The smallest ID made at `ms` or later, where `ms` is rounded up to whole milliseconds. */
export function firstIdOf(ms: number): string {
  const whole = Math.ceil(Math.min(Math.max(ms, 0), lastIdMs));
  return whole.toString(16).padStart(idDigitsOfTime, '0');
}

export const isId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** Removes NUL, which PostgreSQL's text cannot hold, and unpaired surrogates, which cannot be encoded. */
export function toStorable(text: string): string {
  const known = text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
  return known.isWellFormed() ? known : known.toWellFormed();
}

/** Longest indexed text: PostgreSQL allows 2,704 bytes for all columns of an index. */
const longestName = 128;
/** Longest model name that is stored, as clients choose the names for model patterns. */
const longestModel = 256;

/** The columns of names and outcome, whose values many rows share. */
export type RowNames = Omit<LedgerSharedTable, 'id' | 'used_at'>;
export type RowFigures = Omit<LedgerTable, keyof RowNames>;

/** A ledger row in two parts. Rows may share one object of names, and what was computed from it. */
export interface NamedRow {
  readonly names: RowNames;
  readonly row: RowFigures;
}

/** The names of a row, made storable: a row that the database refused would be refused at every retry, and block all later ones. */
export function toNames(row: LedgerRow): RowNames {
  return {
    outcome: toText(row.outcome, longestName),
    status: toCount(row.status),
    error: orNull(row.error, toStorable),
    cache: orNull(row.cache, toStorable),
    is_estimated: row.isEstimated ? 1 : 0,
    node: toText(row.node, longestName),
    key: toText(row.key, longestName),
    project: orNull(row.project, toName),
    route: toText(row.route, longestName),
    operation: toText(row.operation, longestName),
    label: toText(row.label, longestName),
    upstream: orNull(row.upstream, toName),
    upstream_model: orNull(row.upstreamModel, toModel),
    model: orNull(row.model, toModel),
  };
}

export function toFigures(row: LedgerRow): RowFigures {
  return {
    id: toText(row.id, longestName),
    client_request_id: orNull(row.clientRequestId, toName),
    started_at: toCount(row.startedAtMs),
    attempts: toCount(row.attempts),
    tries: orNull(row.tries, (tries) => (tries.length === 0 ? null : JSON.stringify(tries))),
    prompt_tokens: orNull(row.promptTokens, toCount),
    completion_tokens: orNull(row.completionTokens, toCount),
    total_tokens: orNull(row.totalTokens, toCount),
    search_units: orNull(row.searchUnits, toCount),
    cached_tokens: orNull(row.cachedTokens, toCount),
    billed_input_tokens: orNull(row.billedInputTokens, toCount),
    billed_output_tokens: orNull(row.billedOutputTokens, toCount),
    billed_search_units: orNull(row.billedSearchUnits, toCount),
    items: toCount(row.items),
    cost_nanos: orNull(row.costNanos, toCount),
    request_bytes: toCount(row.requestBytes),
    response_bytes: toCount(row.responseBytes),
    duration_ms: toDuration(row.durationMs),
    first_byte_ms: orNull(row.firstByteMs, toDuration),
    upstream_ms: orNull(row.upstreamMs, toDuration),
    client_address: orNull(row.clientAddress, toStorable),
    units: orNull(row.units, toUnitsText),
    trace_id: orNull(row.traceId, toName),
    queue_ms: orNull(row.queueMs, toDuration),
    connect_ms: orNull(row.connectMs, toDuration),
  };
}

/** All columns of `ledger`, in the order in which commands print the fields of a row. */
export const ledgerColumns = [
  ...(['id', 'client_request_id', 'started_at', 'node', 'key', 'project', 'route', 'operation', 'label'] as const),
  ...(['model', 'upstream', 'upstream_model', 'attempts', 'tries', 'outcome', 'status', 'error'] as const),
  ...(['prompt_tokens', 'completion_tokens', 'total_tokens', 'search_units', 'cached_tokens'] as const),
  ...(['billed_input_tokens', 'billed_output_tokens', 'billed_search_units', 'is_estimated', 'items'] as const),
  ...(['cost_nanos', 'request_bytes', 'response_bytes', 'duration_ms', 'first_byte_ms', 'upstream_ms'] as const),
  ...(['queue_ms', 'connect_ms', 'cache', 'client_address', 'trace_id', 'units'] as const),
] as const satisfies readonly (keyof LedgerTable)[];

/** A row with the same columns in the same order each time, for the prepared statement. SQLite's `names` may have more columns. */
export const toTableRow = ({ names, row }: NamedRow): LedgerTable => pick({ ...names, ...row }, ledgerColumns);

/** The converted value, or null: rows of other versions may lack a field. */
const orNull = <T, R>(value: T | null | undefined, convert: (value: T) => R): R | null =>
  value === null || value === undefined ? null : convert(value);

function toText(value: string, longest: number): string {
  const text = String(value);
  return toStorable(text.length > longest ? text.slice(0, longest) : text);
}

export const toName = (text: string): string => toText(text, longestName);
const toModel = (text: string): string => toText(text, longestModel);

const filterColumns = ['key', 'project', 'model', 'upstream', 'operation', 'outcome'] as const;

export function toConditions(filter: LedgerFilter): { column: (typeof filterColumns)[number]; value: string }[] {
  return filterColumns.flatMap((column) => {
    const value = filter[column];
    return value === undefined ? [] : { column, value: column === 'model' ? toModel(value) : toName(value) };
  });
}

/** A count as an integer, which the column takes; upstreams may report anything. */
function toCount(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  if (typeof value !== 'number' || Number.isNaN(value)) return 0;
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(value)));
}

/** The units that this version knows, as text: the journal may be of another version. */
function toUnitsText(units: Units): string | null {
  const known = readUnits(units);
  if (known === undefined) return null;
  const text = JSON.stringify(known);
  if (!text.includes('\\u')) return text;
  // Escapes may stand for characters that no database stores, on which its JSON functions would fail.
  const kinds = Object.entries(known.toolCalls ?? {}).map(([kind, count]) => [toStorable(kind), count]);
  const toolCalls = kinds.length === 0 ? undefined : Object.fromEntries(kinds);
  return JSON.stringify({ ...known, toolCalls }, (_, value) => (typeof value === 'string' ? toStorable(value) : value));
}

const toDuration = (value: number): number => (Number.isFinite(value) ? value : 0);

const fields = ledgerColumns.map((column) => [fieldOf(column), column] as const);

export function fromTableRow(row: LedgerTable): LedgerRow {
  const values = Object.fromEntries(fields.map(([field, column]) => [field, row[column]]));
  return Object.assign(values as unknown as LedgerRow, {
    tries: row.tries === null ? [] : toTries(row.tries),
    isEstimated: row.is_estimated === 1,
    units: row.units === null ? null : (readUnits(readJson(row.units)) ?? null),
  });
}

/** The tries of a stored text; JSON leaves out undefined fields, which are added again. */
function toTries(text: string): TryRecord[] {
  const tries: TryRecord[] = JSON.parse(text);
  return tries.map(({ upstream, model, credential, outcome, detail, startMs, durationMs, connectMs }) => ({
    ...{ upstream, model, credential, outcome, detail, startMs, durationMs, connectMs },
  }));
}
