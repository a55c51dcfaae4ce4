/** What the page asks the gateway about upstreams, and what it tells it. */

import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query';
import type {
  FamilyFacts,
  Upstream,
  UpstreamDetail,
  UpstreamPage,
  UpstreamTest,
  Written,
} from '../../../../src/admin/contract.ts';
import { ask, askVersioned, type Versioned } from '../../parts/api/client.ts';
import type { Document } from './upstream-values.ts';

const stateEveryMs = 3_000;
/** Until the gateway goes by what was just written. */
const settlingMs = 700;
const pageSize = 200;

const pathOf = (id: string): string => `/api/upstreams/${encodeURIComponent(id)}`;

/** All of them: people have a few, and look for them by eye. */
export function useUpstreams() {
  return useQuery({
    queryKey: ['upstreams', 'list'],
    queryFn: ({ signal }) => readAll(signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.some(({ inForce }) => !inForce) === true ? settlingMs : stateEveryMs),
  });
}

async function readAll(signal: AbortSignal): Promise<Upstream[]> {
  const found: Upstream[] = [];
  let before = '';
  for (;;) {
    const { items, next } = await ask<UpstreamPage>(`/api/upstreams?limit=${pageSize}${before}`, { signal });
    found.push(...items);
    if (next === null) return found;
    before = `&before=${encodeURIComponent(next)}`;
  }
}

export function useUpstream(id: string) {
  return useQuery({
    queryKey: ['upstreams', 'one', id],
    queryFn: ({ signal }) => readUpstream(id, signal),
    refetchInterval: ({ state }) => (state.data?.data.inForce === false ? settlingMs : stateEveryMs),
  });
}

export const readUpstream = (id: string, signal?: AbortSignal): Promise<Versioned<UpstreamDetail>> =>
  askVersioned<UpstreamDetail>(pathOf(id), signal === undefined ? {} : { signal });

/** They change with the version of the gateway alone. */
export function useFamilies() {
  return useQuery({
    queryKey: ['families'],
    queryFn: async ({ signal }) => (await ask<{ items: FamilyFacts[] }>('/api/families', { signal })).items,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function saveUpstream(id: string, document: Document, etag: string | undefined): Promise<Written> {
  const headers = etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };
  return ask<Written>(pathOf(id), { method: 'PUT', body: document, headers });
}

export const removeUpstream = (id: string, version: number): Promise<void> =>
  ask(pathOf(id), { method: 'DELETE', headers: { 'if-match': `"${version}"` } });

export const testDraft = (id: string, document: Document): Promise<UpstreamTest> =>
  ask<UpstreamTest>('/api/upstreams/test', { method: 'POST', body: { id, document } });

export const testStored = (id: string): Promise<UpstreamTest> =>
  ask<UpstreamTest>(`${pathOf(id)}/test`, { method: 'POST' });

export const refreshUpstreams = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['upstreams'] });
