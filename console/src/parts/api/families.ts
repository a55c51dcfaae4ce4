/** Query of the upstream families, which change with the gateway's version only. */

import { useQuery } from '@tanstack/react-query';
import { ask } from './client.ts';

export function useFamilies() {
  return useQuery({
    queryKey: ['families'],
    queryFn: async ({ signal }) => (await ask('GET /api/families', { signal })).items,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** A free ID for an upstream of a family: the family's name, with a number if that is taken. */
export function freeName(wanted: string, taken: readonly string[]): string {
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted}-${number}`;
  return name;
}
