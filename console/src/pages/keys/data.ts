/** What the page asks for, and how long it keeps it. */

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  BurnDown,
  Key,
  KeyDetail,
  Page,
  PlaygroundModel,
  PlaygroundModels,
  Project,
  Spend,
  Usage,
} from '../../../../src/admin/contract.ts';
import { ask, askVersioned } from '../../parts/api/client.ts';

export interface KeyFilter {
  readonly q: string;
  readonly project: string;
  readonly state: string;
  readonly managedBy: string;
}

export type Spender = { readonly kind: 'key' | 'project'; readonly id: string };

const pageSize = 50;
/** Others change keys as well, and what is spent goes up. */
const refreshMs = 15_000;

export const pathOf = ({ kind, id }: Spender): string => `/api/${kind}s/${encodeURIComponent(id)}`;

export function useKeys(filter: KeyFilter) {
  return useInfiniteQuery({
    queryKey: ['keys', 'list', filter],
    initialPageParam: '',
    queryFn: ({ signal, pageParam }) => ask<Page<Key>>(`/api/keys?${toQuery(filter, pageParam)}`, { signal }),
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: refreshMs,
  });
}

function toQuery(filter: KeyFilter, before: string): string {
  const query = new URLSearchParams({ limit: String(pageSize) });
  for (const [name, value] of Object.entries({ ...filter, before })) if (value !== '') query.set(name, value);
  return query.toString();
}

export function useKey(id: string) {
  return useQuery({
    queryKey: ['keys', 'one', id],
    queryFn: ({ signal }) => askVersioned<KeyDetail>(pathOf({ kind: 'key', id }), { signal }),
    refetchInterval: refreshMs,
  });
}

export function useProjects() {
  return useQuery({
    queryKey: ['projects', 'list'],
    queryFn: ({ signal }) => ask<Page<Project>>('/api/projects', { signal }),
    refetchInterval: refreshMs,
  });
}

export function useProject(id: string) {
  return useQuery({
    queryKey: ['projects', 'one', id],
    queryFn: ({ signal }) => askVersioned<Project>(pathOf({ kind: 'project', id }), { signal }),
    refetchInterval: refreshMs,
  });
}

export function useSpend(spender: Spender, days: number) {
  return useQuery({
    queryKey: [`${spender.kind}s`, 'usage', spender.id, days],
    queryFn: ({ signal }) => ask<Spend>(`${pathOf(spender)}/usage?days=${days}`, { signal }),
    refetchInterval: refreshMs,
  });
}

export function useBurnDown(spender: Spender, period: string) {
  return useQuery({
    queryKey: [`${spender.kind}s`, 'burn-down', spender.id, period],
    queryFn: ({ signal }) => ask<BurnDown>(`${pathOf(spender)}/burn-down?period=${period}`, { signal }),
    refetchInterval: refreshMs,
  });
}

const trendDays = 7;

/** Requests of the last days by key, the oldest first. */
export function useTrends(): ReadonlyMap<string, readonly number[]> {
  const { data } = useQuery({
    queryKey: ['keys', 'trends'],
    queryFn: ({ signal }) => ask<Usage>(`/api/usage?by=key,day&from=${dayOf(trendDays - 1)}`, { signal }),
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

/** Models that clients can call, and where. */
export function useModels(): { readonly models: readonly PlaygroundModel[]; readonly clientUrl: string | undefined } {
  const { data } = useQuery({
    queryKey: ['playground', 'models', 'all'],
    queryFn: ({ signal }) => ask<PlaygroundModels>('/api/playground/models', { signal }),
  });
  return { models: data?.items ?? noModels, clientUrl: data?.clientUrl };
}

/** After a write: all that shows keys or projects is asked for anew, save what is about one that is gone. */
export function useRefresh(): (gone?: string) => Promise<void> {
  const queries = useQueryClient();
  return (gone) =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [what, , id] }) =>
        (what === 'keys' || what === 'projects') && (gone === undefined || id !== gone),
    });
}
