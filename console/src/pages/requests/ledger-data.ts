/** Asks for rows of the ledger, for one of them, and for the names of what is in them. */

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { LedgerChoices, LedgerRow, Page } from '../../../../src/admin/contract.ts';
import { toAddress } from '../../parts/api/asking.ts';
import { ask } from '../../parts/api/client.ts';
import { type Filters, mayBeOwnId, toParameters, toQuery } from './filters.ts';

export const rowsPerPage = 50;

export const ledgerPageQuery = (filters: Filters, before: string | undefined) =>
  queryOptions({
    queryKey: ['ledger', 'page', toParameters(filters), before ?? ''],
    queryFn: ({ signal }) => readPage(filters, before, signal),
    placeholderData: keepPreviousData,
  });

async function readPage(filters: Filters, before: string | undefined, signal: AbortSignal): Promise<Page<LedgerRow>> {
  const query = { ...toQuery(filters, Date.now()), limit: rowsPerPage, before };
  const { search } = filters;
  const read = (name?: 'id' | 'clientRequestId'): Promise<Page<LedgerRow>> =>
    ask('GET /api/ledger', { query: { ...query, ...(name !== undefined && { [name]: search }) }, signal });
  if (search === '') return read();
  // Clients send hex digits as well: what is none of ours may be one of theirs.
  if (mayBeOwnId(search)) {
    const own = await read('id');
    if (own.items.length > 0) return own;
  }
  return read('clientRequestId');
}

export const ledgerRowQuery = (id: string) =>
  queryOptions({
    queryKey: ['ledger', 'row', id],
    queryFn: ({ signal }) => ask('GET /api/ledger/:id', { params: { id }, signal }),
    // What is over does not change.
    staleTime: Number.POSITIVE_INFINITY,
  });

export function toExportHref(filters: Filters, format: 'csv' | 'ndjson'): string {
  const { search } = filters;
  const searched = mayBeOwnId(search) ? { id: search } : { clientRequestId: search };
  return toAddress('GET /api/ledger/export', { query: { ...toQuery(filters, Date.now()), ...searched, format } });
}

export interface Names extends LedgerChoices {
  key(id: string): string;
  project(id: string): string;
}

const none: LedgerChoices = { keys: [], projects: [], models: [], upstreams: [] };

/** What is there to choose from; and names for IDs. What is gone by now is called by its ID. */
export function useNames(): Names {
  const { data = none } = useQuery({
    queryKey: ['ledger', 'choices'],
    queryFn: ({ signal }) => ask('GET /api/ledger/choices', { signal }),
    staleTime: 60_000,
  });
  const nameIn = (list: readonly { readonly id: string; readonly name: string }[], id: string): string =>
    list.find((one) => one.id === id)?.name || id;
  return { ...data, key: (id) => nameIn(data.keys, id), project: (id) => nameIn(data.projects, id) };
}
