/** Formats ledger rows as text. */

import type { Capture, LedgerRow } from '../../core/accounting/ledger-row.ts';
import type { Units } from '../../core/accounting/units.ts';
import { toDollars } from '../../lib/money.ts';
import { toPrintable } from '../output.ts';

/** A row for scripts. */
export function describeRow(row: LedgerRow) {
  return {
    id: row.id,
    client_request_id: row.clientRequestId,
    started_at: new Date(row.startedAtMs).toISOString(),
    node: row.node,
    key: row.key,
    project: row.project,
    route: row.route,
    operation: row.operation,
    label: row.label,
    model: row.model,
    upstream: row.upstream,
    upstream_model: row.upstreamModel,
    attempts: row.attempts,
    tries: row.tries.map(({ upstream, model, credential, outcome, detail, durationMs, connectMs }) => ({
      upstream,
      model,
      credential: credential ?? null,
      outcome,
      detail: detail ?? null,
      duration_ms: durationMs,
      connect_ms: connectMs ?? null,
    })),
    outcome: row.outcome,
    status: row.status,
    error: row.error,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    total_tokens: row.totalTokens,
    search_units: row.searchUnits,
    cached_tokens: row.cachedTokens,
    billed_input_tokens: row.billedInputTokens,
    billed_output_tokens: row.billedOutputTokens,
    billed_search_units: row.billedSearchUnits,
    estimated: row.isEstimated,
    items: row.items,
    cost_dollars: row.costNanos === null ? null : toDollars(row.costNanos),
    request_bytes: row.requestBytes,
    response_bytes: row.responseBytes,
    duration_ms: row.durationMs,
    first_byte_ms: row.firstByteMs,
    upstream_ms: row.upstreamMs,
    queue_ms: row.queueMs,
    connect_ms: row.connectMs,
    cache: row.cache,
    client_address: row.clientAddress,
    trace_id: row.traceId,
    units: row.units === null ? null : toSnakeNames(row.units),
  };
}

/** One line for each fact. */
export function toRowLines(row: LedgerRow, capture: Capture | undefined): [name: string, value: string][] {
  const { tries, units, ...fields } = describeRow(row);
  const lines: [string, string][] = Object.entries(fields).map(([name, value]) => [name, toCell(value)]);
  for (const [name, value] of Object.entries(units ?? {})) lines.push([name, toUnitCell(value)]);
  for (const [index, one] of tries.entries()) {
    const took = one.connect_ms === null ? '' : `, ${one.connect_ms} ms of it until connected`;
    const words = [one.upstream, one.model, one.credential, one.outcome, one.detail, `${one.duration_ms} ms${took}`];
    lines.push([`try ${index + 1}`, toPrintable(words.filter((word) => word !== null).join(' '))]);
  }
  if (capture !== undefined) {
    lines.push(['captured until', new Date(capture.expiresAtMs).toISOString()]);
    lines.push(['request', toPrintable(capture.request)]);
    lines.push(['response', toPrintable(capture.response)]);
  }
  return lines;
}

/** Columns of `ledger tail` with minimum widths: later rows are unknown when the first line is printed. */
const columns: readonly [title: string, width: number, cell: (row: LedgerRow) => string][] = [
  ['STARTED', 24, ({ startedAtMs }) => new Date(startedAtMs).toISOString()],
  ['STATUS', 6, ({ status }) => String(status)],
  ['OUTCOME', 7, ({ outcome }) => outcome],
  ['KEY', 20, ({ key }) => key],
  ['ROUTE', 15, ({ route }) => route],
  ['MODEL', 24, ({ model }) => model ?? '-'],
  ['UPSTREAM', 12, ({ upstream }) => upstream ?? '-'],
  ['INPUT', 7, ({ billedInputTokens }) => toCell(billedInputTokens)],
  ['OUTPUT', 7, ({ billedOutputTokens }) => toCell(billedOutputTokens)],
  ['DOLLARS', 11, ({ costNanos }) => (costNanos === null ? 'unknown' : toDollars(costNanos))],
  ['MS', 8, ({ durationMs }) => String(durationMs)],
  ['ID', 32, ({ id }) => id],
];

export const tailHead = columns
  .map(([title, width]) => title.padEnd(width))
  .join('  ')
  .trimEnd();

export function toTailLine(row: LedgerRow): string {
  return columns
    .map(([, width, cell]) => toPrintable(cell(row)).padEnd(width))
    .join('  ')
    .trimEnd();
}

/** Names in snake_case, for JSON output. */
export function toSnakeNames<T>(units: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(units).map(([name, value]) => [toSnakeName(name), value]));
}

export const toSnakeName = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** For tool calls: the number of each kind. */
function toUnitCell(value: Units[keyof Units] = ''): string {
  if (typeof value !== 'object') return toCell(value);
  const kinds = Object.entries(value).map(([kind, count]) => `${kind} ${count}`);
  return toPrintable(kinds.join(', '));
}

const toCell = (value: string | number | boolean | null): string => (value === null ? '-' : toPrintable(String(value)));
