/** Queries the upstream families, which change only with the gateway's version. */

import { useQuery } from '@tanstack/react-query';
import { ask } from './client.ts';

export function useFamilies() {
  return useQuery({
    queryKey: ['families'],
    queryFn: async ({ signal }) => (await ask('GET /api/families', { signal })).items,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** A free ID for an upstream: the wanted name, with a number if it is taken. */
export function freeName(wanted: string, taken: readonly string[]): string {
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted}-${number}`;
  return name;
}
