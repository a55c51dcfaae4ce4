/** Queries ledger rows, a single row, and names for filters. */

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { LedgerChoices, LedgerRow, Page, PlaygroundTry } from '../../../../src/admin/contract.ts';
import { toAddress } from '../api/asking.ts';
import { ask } from '../api/client.ts';
import { outcomeWords } from '../words/labels.ts';
import { requestWords } from '../words/operations.ts';
import { type Filters, mayBeOwnId, toParameters, toQuery, toRowQueries } from './filters.ts';

export const rowsPerPage = 50;

export const ledgerPageQuery = (filters: Filters, before: string | undefined) =>
  queryOptions({
    queryKey: ['ledger', 'page', toParameters(filters), before ?? ''],
    queryFn: ({ signal }) => readPage(filters, before, signal),
    placeholderData: keepPreviousData,
  });

async function readPage(filters: Filters, before: string | undefined, signal: AbortSignal): Promise<Page<LedgerRow>> {
  const { search } = filters;
  const queries = toRowQueries(filters, Date.now());
  const read = (more: { readonly id?: string; readonly clientRequestId?: string } = {}): Promise<Page<LedgerRow>> =>
    readMerged(
      queries.map((query) => ({ ...query, ...more })),
      { before, signal },
    );
  if (search === '') return read();
  // Clients' IDs may be hex digits too: if the gateway's do not match, a client's may.
  if (mayBeOwnId(search)) {
    const own = await read({ id: search });
    if (own.items.length > 0) return own;
  }
  return read({ clientRequestId: search });
}

type RowsAsked = ReturnType<typeof toQuery> & { readonly id?: string; readonly clientRequestId?: string };

interface Merging {
  readonly before: string | undefined;
  readonly signal: AbortSignal;
}

/** Merges rows of several queries to one page. IDs sort by time. Each query is complete down to its `next`, and the page to the newest of these. */
async function readMerged(queries: readonly RowsAsked[], { before, signal }: Merging): Promise<Page<LedgerRow>> {
  const pages = await Promise.all(
    queries.map((query) => ask('GET /api/ledger', { query: { ...query, limit: rowsPerPage, before }, signal })),
  );
  const bound = pages.reduce((newest, { next }) => (next !== null && next > newest ? next : newest), '');
  const rows = pages
    .flatMap((page) => page.items)
    .filter(({ id }) => id >= bound)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const items = rows.slice(0, rowsPerPage);
  if (rows.length > items.length) return { items, next: items.at(-1)?.id ?? null };
  return { items, next: bound === '' ? null : bound };
}

export const ledgerRowQuery = (id: string) =>
  queryOptions({
    queryKey: ['ledger', 'row', id],
    queryFn: ({ signal }) => ask('GET /api/ledger/:id', { params: { id }, signal }),
    // A finished request does not change.
    staleTime: Number.POSITIVE_INFINITY,
  });

const askAgainMs = 400;
const mostAsks = 12;

/** The ledger row of a playground call, which the ledger has a moment after the answer. */
export function useTry(requestId: string | undefined): PlaygroundTry['item'] {
  const { data } = useQuery({
    queryKey: ['playground', 'try', requestId],
    enabled: requestId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      ask('GET /api/playground/tries/:requestId', { params: { requestId: requestId ?? '' }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.item === null && state.dataUpdateCount < mostAsks ? askAgainMs : false,
  });
  return data?.item ?? null;
}

export function toExportHref(filters: Filters, format: 'csv' | 'ndjson'): string {
  const { search } = filters;
  const searched = mayBeOwnId(search) ? { id: search } : { clientRequestId: search };
  return toAddress('GET /api/ledger/export', { query: { ...toQuery(filters, Date.now()), ...searched, format } });
}

export interface Names extends LedgerChoices {
  key(id: string): string;
  project(id: string): string;
  /** The name of a value that series are split by. */
  of(dimension: string, value: string | null): string;
}

/** Labels for the keys of requests that the gateway makes for itself. */
const ownKeys: Readonly<Record<string, string>> = {
  'postern.canary': 'Canary texts',
  'postern.shadow': 'Shadow copies',
};

const none: LedgerChoices = { keys: [], projects: [], models: [], upstreams: [] };

/** The values to choose from in filters, and names for IDs. A deleted element is shown by its ID. */
export function useNames(): Names {
  const { data = none } = useQuery({
    queryKey: ['ledger', 'choices'],
    queryFn: ({ signal }) => ask('GET /api/ledger/choices', { signal }),
    staleTime: 60_000,
  });
  return useMemo(() => {
    const nameIn = (list: readonly { readonly id: string; readonly name: string }[], id: string): string =>
      list.find((one) => one.id === id)?.name || id;
    const key = (id: string): string => ownKeys[id] ?? nameIn(data.keys, id);
    const project = (id: string): string => nameIn(data.projects, id);
    return {
      ...data,
      key,
      project,
      of(dimension, value) {
        if (value === null || value === '') return dimension === 'code' ? 'No error' : 'None';
        if (dimension === 'key') return key(value);
        if (dimension === 'project') return project(value);
        if (dimension === 'operation') return wordIn(requestWords, value);
        return dimension === 'outcome' ? wordIn(outcomeWords, value) : value;
      },
    };
  }, [data]);
}

const wordIn = (words: Readonly<Record<string, string>>, value: string): string => words[value] ?? value;
