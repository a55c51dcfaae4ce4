/** Sends the queries of the Keys page, with their cache times. */

import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { type BudgetPeriod, keyManagers, keyStates, type PlaygroundModel } from '../../../../src/admin/contract.ts';
import { oneOf } from '../../parts/api/asking.ts';
import { ask, askVersioned } from '../../parts/api/client.ts';
import { trafficSorts } from '../../parts/explorer/traffic.ts';

export interface KeyFilter {
  readonly q: string;
  readonly project: string;
  readonly state: string;
  readonly managedBy: string;
}

export type Spender = { readonly kind: 'key' | 'project'; readonly id: string };

const pageSize = 50;
/** Interval of fetching: others change keys as well, and spending rises. */
const refreshMs = 15_000;

/** The API's sort orders by the titles of the list's columns. */
export const keySorts = { Key: 'name', ...trafficSorts, 'Last used': 'lastUsed' } as const;

interface KeyOrder {
  readonly sort: (typeof keySorts)[keyof typeof keySorts];
  readonly direction: 'asc' | 'desc';
}

export function useKeys(filter: KeyFilter, order: KeyOrder | undefined) {
  return useInfiniteQuery({
    queryKey: ['keys', 'list', filter, order],
    initialPageParam: '',
    queryFn: ({ signal, pageParam }) =>
      ask('GET /api/keys', { query: { ...toQuery(filter, pageParam), ...order }, signal }),
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
}

const toQuery = ({ q, project, state, managedBy }: KeyFilter, before: string) => ({
  q,
  project,
  state: oneOf(keyStates, state),
  managedBy: oneOf(keyManagers, managedBy),
  limit: pageSize,
  before,
});

export function useKey(id: string) {
  return useQuery({
    queryKey: ['keys', 'one', id],
    queryFn: ({ signal }) => askVersioned('GET /api/keys/:id', { params: { id }, signal }),
    refetchInterval: refreshMs,
  });
}

export function useProjects() {
  return useQuery({
    queryKey: ['projects', 'list'],
    queryFn: ({ signal }) => ask('GET /api/projects', { signal }),
    refetchInterval: refreshMs,
  });
}

export function useProject(id: string) {
  return useQuery({
    queryKey: ['projects', 'one', id],
    queryFn: ({ signal }) => askVersioned('GET /api/projects/:id', { params: { id }, signal }),
    refetchInterval: refreshMs,
  });
}

export function useSpend({ kind, id }: Spender, days: number) {
  return useQuery({
    queryKey: [`${kind}s`, 'usage', id, days],
    queryFn: ({ signal }) => ask(`GET /api/${kind}s/:id/usage`, { params: { id }, query: { days }, signal }),
    refetchInterval: refreshMs,
  });
}

export function useBurnDown({ kind, id }: Spender, period: BudgetPeriod) {
  return useQuery({
    queryKey: [`${kind}s`, 'burn-down', id, period],
    queryFn: ({ signal }) => ask(`GET /api/${kind}s/:id/burn-down`, { params: { id }, query: { period }, signal }),
    refetchInterval: refreshMs,
  });
}

const trendDays = 7;

/** Number of requests on each of the last days by key, the oldest day first. */
export function useTrends(): ReadonlyMap<string, readonly number[]> {
  const { data } = useQuery({
    queryKey: ['keys', 'trends'],
    queryFn: ({ signal }) => ask('GET /api/usage', { query: { by: 'key,day', from: dayOf(trendDays - 1) }, signal }),
    refetchInterval: 4 * refreshMs,
  });
  const days = Array.from({ length: trendDays }, (_, index) => dayOf(trendDays - 1 - index));
  const trends = new Map<string, number[]>();
  for (const { by, requests } of data?.lines ?? []) {
    const trend = trends.get(by.key ?? '') ?? days.map(() => 0);
    const index = days.indexOf(by.day ?? '');
    if (index !== -1) trend[index] = requests;
    trends.set(by.key ?? '', trend);
  }
  return trends;
}

const dayOf = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

const noModels: readonly PlaygroundModel[] = [];

export function useModels(): { readonly models: readonly PlaygroundModel[]; readonly clientUrl: string | undefined } {
  const { data } = useQuery({
    queryKey: ['playground', 'models', 'all'],
    queryFn: ({ signal }) => ask('GET /api/playground/models', { signal }),
  });
  return { models: data?.items ?? noModels, clientUrl: data?.clientUrl };
}

/** After a write, fetches all data about keys and projects again, except data about the deleted one (`gone`). */
export function useRefresh(): (gone?: string) => Promise<void> {
  const queries = useQueryClient();
  return (gone) =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [what, , id] }) =>
        (what === 'keys' || what === 'projects') && (gone === undefined || id !== gone),
    });
}

interface RequestKeys {
  /** The name for a request with this body: the same as last time, if the body is the same. */
  of(body: string): string;
}

/** Creates idempotency keys: a request that is sent again gets the same one, so that the server recognises it. */
export function createRequestKeys(): RequestKeys {
  let last = { body: '', key: '' };
  return {
    of(body) {
      if (last.key === '' || last.body !== body) last = { body, key: randomName() };
      return last.key;
    },
  };
}

/** A random name. `randomUUID` does not exist on pages that were loaded over plain HTTP from another machine. */
const randomName = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
