/** What the page is narrowed to, as its address has it: a link to it shows the same to someone else. */

import { operations, rowOutcomes } from '../../../../src/admin/contract.ts';
import { oneOf } from '../../parts/api/asking.ts';

export const ranges = {
  '15m': { label: 'Last 15 minutes', ms: 15 * 60_000 },
  '1h': { label: 'Last hour', ms: 3_600_000 },
  '24h': { label: 'Last 24 hours', ms: 86_400_000 },
  '7d': { label: 'Last 7 days', ms: 7 * 86_400_000 },
  '30d': { label: 'Last 30 days', ms: 30 * 86_400_000 },
} as const;
export type Range = keyof typeof ranges;

/** In the order in which they are offered. */
export const fields = ['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'status'] as const;
export type Field = (typeof fields)[number];

export const fieldWords: Readonly<Record<Field, string>> = {
  key: 'Key',
  project: 'Project',
  model: 'Model',
  upstream: 'Upstream',
  operation: 'Operation',
  outcome: 'Outcome',
  status: 'Status',
};

/** What sums know nothing of. */
export const rowOnlyFields: readonly Field[] = ['status'];

export interface Filters {
  /** Of the presets; or the ends, where the reader chose them; or neither. */
  readonly range: Range | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** An ID, ours or the client's. */
  readonly search: string;
  readonly values: Readonly<Partial<Record<Field, string>>>;
}

const isRange = (text: string | null): text is Range => text !== null && Object.hasOwn(ranges, text);

/** A time that no date understands is no filter. */
function readTime(text: string | null): string | undefined {
  if (text === null) return undefined;
  const ms = Date.parse(text);
  return Number.isFinite(ms) && ms >= 0 ? new Date(ms).toISOString() : undefined;
}

export function readFilters(query: URLSearchParams): Filters {
  const range = query.get('range');
  const values: Partial<Record<Field, string>> = {};
  for (const field of fields) {
    const value = query.get(field)?.trim();
    if (value) values[field] = value;
  }
  return {
    range: isRange(range) ? range : undefined,
    from: isRange(range) ? undefined : readTime(query.get('from')),
    to: isRange(range) ? undefined : readTime(query.get('to')),
    search: query.get('q')?.trim() ?? '',
    values,
  };
}

/** As parameters of the address. Which page was shown goes, as it is another list now. */
export const toParameters = ({ range, from, to, search, values }: Filters) => ({
  ...{ range, from, to, q: search || undefined, before: undefined },
  ...Object.fromEntries(fields.map((field) => [field, values[field] || undefined])),
});

export const noFilters: Filters = { range: undefined, from: undefined, to: undefined, search: '', values: {} };

export const isNarrowed = ({ range, from, to, search, values }: Filters): boolean =>
  range !== undefined || from !== undefined || to !== undefined || search !== '' || Object.keys(values).length > 0;

/** Both ends of the time, as the API asks for them. A preset ends now, and so has no end. */
function toSpan({ range, from, to }: Filters, nowMs: number): { readonly from?: string; readonly to?: string } {
  if (range !== undefined) return { from: new Date(nowMs - ranges[range].ms).toISOString() };
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

/** What sums are asked for with. */
export function toSumsQuery(filters: Filters, nowMs: number) {
  const { key, project, model, upstream, operation, outcome } = filters.values;
  return {
    ...toSpan(filters, nowMs),
    key,
    project,
    model,
    upstream,
    operation: oneOf(operations, operation),
    outcome: oneOf(rowOutcomes, outcome),
  };
}

/** What rows are asked for with. What is searched for is the caller's: it can be one of two things. */
export const toQuery = (filters: Filters, nowMs: number) => ({
  ...toSumsQuery(filters, nowMs),
  status: filters.values.status,
});

/** Ours are hex digits; the beginning of one is enough. The client's is whatever it likes. */
export const mayBeOwnId = (search: string): boolean => /^[0-9a-f]{4,32}$/i.test(search);
