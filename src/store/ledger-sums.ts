/** Adds the rows of an import up: by hour, by day, and by the day of each key. Lists are in the order of what tells their sums apart. */

import { compareTexts } from './ledger-insert.ts';
import { dayMs, hourMs } from './ledger-rows.ts';
import type { KeyUsageTable, LedgerTable, UsageTable } from './schema.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Sums = Writable<UsageTable>;
type KeySums = Writable<KeyUsageTable>;
type Figures = Omit<KeySums, 'span' | 'key' | 'project' | 'errors'>;

/** Of each table, always with the same columns in the same order. */
export interface BatchSums {
  readonly hours: readonly UsageTable[];
  readonly days: readonly UsageTable[];
  readonly keyDays: readonly KeyUsageTable[];
}

export function addUpRows(rows: readonly LedgerTable[]): BatchSums {
  const hours = inOrder(toHours(rows));
  const days = inOrder(toDays(hours));
  return { hours, days, keyDays: inOrder(toKeyDays(days)) };
}

type ByName<T> = Map<string, T>;

function toHours(rows: readonly LedgerTable[]): ByName<Sums> {
  const sums: ByName<Sums> = new Map();
  for (const row of rows) {
    const sum = ofRow(row);
    addUp(sums, sum, sum.span);
  }
  return sums;
}

function toDays(hours: readonly Sums[]): ByName<Sums> {
  const sums: ByName<Sums> = new Map();
  for (const hour of hours) addUp(sums, hour, hour.span - (hour.span % dayMs));
  return sums;
}

function toKeyDays(days: readonly Sums[]): ByName<KeySums> {
  const sums: ByName<KeySums> = new Map();
  for (const day of days) {
    const { span, key, project } = day;
    const name = `${span}\0${key}\0${project}`;
    const errors = day.outcome === 'ok' ? 0 : day.requests;
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { span, key, project, errors, ...toFigures(day) });
    else {
      sum.errors = addCounts(sum.errors, errors);
      addFigures(sum, day);
    }
  }
  return sums;
}

function addUp(sums: ByName<Sums>, more: Sums, span: number): void {
  const { key, project, route, operation, model, upstream, outcome } = more;
  const name = `${span}\0${key}\0${project}\0${route}\0${model}\0${upstream}\0${outcome}`;
  const sum = sums.get(name);
  if (sum !== undefined) addFigures(sum, more);
  else sums.set(name, { span, key, project, route, operation, model, upstream, outcome, ...toFigures(more) });
}

/** Written out, as is the sum of two: over a list of names it takes several times as long, for each row. */
function toFigures(sum: Figures): Figures {
  return {
    requests: sum.requests,
    input_tokens: sum.input_tokens,
    output_tokens: sum.output_tokens,
    search_units: sum.search_units,
    items: sum.items,
    cost_nanos: sum.cost_nanos,
    unpriced: sum.unpriced,
    estimated: sum.estimated,
    request_bytes: sum.request_bytes,
    response_bytes: sum.response_bytes,
    duration_ms: sum.duration_ms,
  };
}

function addFigures(sum: Figures, more: Figures): void {
  sum.requests = addCounts(sum.requests, more.requests);
  sum.input_tokens = addCounts(sum.input_tokens, more.input_tokens);
  sum.output_tokens = addCounts(sum.output_tokens, more.output_tokens);
  sum.search_units = addCounts(sum.search_units, more.search_units);
  sum.items = addCounts(sum.items, more.items);
  sum.cost_nanos = addCounts(sum.cost_nanos, more.cost_nanos);
  sum.unpriced = addCounts(sum.unpriced, more.unpriced);
  sum.estimated = addCounts(sum.estimated, more.estimated);
  sum.request_bytes = addCounts(sum.request_bytes, more.request_bytes);
  sum.response_bytes = addCounts(sum.response_bytes, more.response_bytes);
  sum.duration_ms += more.duration_ms;
}

/** Exactly, whatever upstreams say they have counted. */
function addCounts(one: number | bigint, other: number | bigint): number | bigint {
  if (typeof one === 'number' && typeof other === 'number' && Number.isSafeInteger(one + other)) return one + other;
  return BigInt(one) + BigInt(other);
}

const inOrder = <T>(sums: ByName<T>): T[] => [...sums].sort(([a], [b]) => compareTexts(a, b)).map(([, sum]) => sum);

function ofRow(row: LedgerTable): Sums {
  return {
    span: row.started_at - (row.started_at % hourMs),
    key: row.key,
    project: row.project ?? '',
    route: row.route,
    operation: row.operation,
    model: row.model ?? '',
    upstream: row.upstream ?? '',
    outcome: row.outcome,
    requests: 1,
    input_tokens: row.billed_input_tokens ?? 0,
    output_tokens: row.billed_output_tokens ?? 0,
    search_units: row.billed_search_units ?? 0,
    items: row.items,
    cost_nanos: row.cost_nanos ?? 0,
    unpriced: isUnpriced(row) ? 1 : 0,
    estimated: row.is_estimated,
    request_bytes: row.request_bytes,
    response_bytes: row.response_bytes,
    duration_ms: row.duration_ms,
  };
}

/** What was not billed costs nothing, whatever the price; what was lost may have cost anything. */
const isUnpriced = (row: LedgerTable): boolean =>
  row.cost_nanos === null && (row.billed_input_tokens !== null || row.outcome === 'lost');
