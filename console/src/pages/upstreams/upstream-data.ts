/** Queries and changes of the Upstreams page. */

import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query';
import type { Upstream, UpstreamDetail, UpstreamTest, Written } from '../../../../src/admin/contract.ts';
import { ask, askVersioned, type Versioned } from '../../parts/api/client.ts';
import type { Document } from '../../parts/forms/documents.ts';

const stateEveryMs = 3_000;
/** Time until the gateway has applied a write. */
const settlingMs = 700;
const pageSize = 200;

/** All of them: there are few, and users look for them by eye. */
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
  let before: string | undefined;
  for (;;) {
    const { items, next } = await ask('GET /api/upstreams', { query: { limit: pageSize, before }, signal });
    found.push(...items);
    if (next === null) return found;
    before = next;
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
  askVersioned('GET /api/upstreams/:id', { params: { id }, ...(signal !== undefined && { signal }) });

export function saveUpstream(id: string, document: Document, etag: string | undefined): Promise<Written> {
  const headers = etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };
  return ask('PUT /api/upstreams/:id', { params: { id }, body: document, headers });
}

export const removeUpstream = (id: string, version: number): Promise<void> =>
  ask('DELETE /api/upstreams/:id', { params: { id }, headers: { 'if-match': `"${version}"` } });

export const testDraft = (id: string, document: Document): Promise<UpstreamTest> =>
  ask('POST /api/upstreams/test', { body: { id, document } });

export const testStored = (id: string): Promise<UpstreamTest> =>
  ask('POST /api/upstreams/:id/test', { params: { id } });

export const refreshUpstreams = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['upstreams'] });
