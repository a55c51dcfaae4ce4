/** Sends the queries and changes of the Upstreams page. */

import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query';
import type { UpstreamDetail, UpstreamPage, UpstreamTest, Written } from '../../../../src/admin/contract.ts';
import { ask, askVersioned, readAll, toCondition, type Versioned } from '../../parts/api/client.ts';
import { trafficSorts } from '../../parts/explorer/traffic.ts';
import type { Document } from '../../parts/forms/documents.ts';

const stateEveryMs = 3_000;
/** Time until the gateway has applied a write. */
const settlingMs = 700;
const pageSize = 200;

export type ListedUpstream = UpstreamPage['items'][number];

/** The API's sort orders by the titles of the list's columns. */
export const upstreamSorts = { Upstream: 'name', ...trafficSorts } as const;

interface Order {
  readonly sort: (typeof upstreamSorts)[keyof typeof upstreamSorts];
  readonly direction: 'asc' | 'desc';
}

/** All upstreams: there are few, and users look for them by eye. */
export function useUpstreams(order?: Order) {
  return useQuery({
    queryKey: ['upstreams', 'list', order],
    queryFn: ({ signal }) =>
      readAll((before) => ask('GET /api/upstreams', { query: { limit: pageSize, before, ...order }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.some(({ inForce }) => !inForce) === true ? settlingMs : stateEveryMs),
  });
}

export function useUpstream(id: string) {
  return useQuery({
    queryKey: ['upstreams', 'one', id],
    queryFn: ({ signal }) => readUpstream(id, signal),
    refetchInterval: ({ state }) => (state.data?.data.inForce === false ? settlingMs : stateEveryMs),
  });
}

export const readUpstream = (id: string, signal?: AbortSignal): Promise<Versioned<UpstreamDetail>> =>
  askVersioned('GET /api/upstreams/:id', { params: { id }, ...(signal !== undefined && { signal }) });

export function saveUpstream(document: Document, etag: string | undefined): Promise<Written> {
  return ask('PUT /api/upstreams/:id', {
    params: { id: String(document.id) },
    body: document,
    headers: toCondition(etag),
  });
}

export const removeUpstream = (id: string, version: number): Promise<void> =>
  ask('DELETE /api/upstreams/:id', { params: { id }, headers: { 'if-match': `"${version}"` } });

export const testDraft = (id: string, document: Document): Promise<UpstreamTest> =>
  ask('POST /api/upstreams/test', { body: { id, document } });

export const testStored = (id: string): Promise<UpstreamTest> =>
  ask('POST /api/upstreams/:id/test', { params: { id } });

export const refreshUpstreams = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['upstreams'] });
