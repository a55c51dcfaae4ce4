/** The models that a tab can try, and what is to be said of each. */

import { useQuery } from '@tanstack/react-query';
import type { PlaygroundModel } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';

export type Operation = PlaygroundModel['operations'][number];

/** Those that serve the operation; of several, one of them. */
export function usePlaygroundModels(operation: Operation | readonly Operation[]) {
  const wanted = [operation].flat();
  return useQuery({
    queryKey: ['playground', 'models', ...wanted],
    queryFn: async ({ signal }) => {
      const only = wanted.length === 1 ? wanted[0] : undefined;
      const found = await ask('GET /api/playground/models', { query: { operation: only }, signal });
      return {
        ...found,
        items: found.items.filter(({ operations }) => wanted.some((one) => operations.includes(one))),
      };
    },
  });
}

/** By its name, by another name of its own, or by a pattern that the name fits. */
export function findModel(items: readonly PlaygroundModel[], name: string): PlaygroundModel | undefined {
  const exact = items.find(({ id, aliases }) => id === name || aliases.includes(name));
  if (exact !== undefined || name === '') return exact;
  return items.find(({ id }) => isPattern(id) && fits(id, name));
}

function fits(pattern: string, name: string): boolean {
  const [start = '', end = ''] = pattern.split('*');
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** What the gateway's own models are, said plainly. */
const builtInFacts: Readonly<Record<string, string>> = {
  'local/hash-embed': 'Built in: counts letters and words. It sees spelling, not meaning, and needs no network.',
  'local/bm25': 'Built in: classic keyword ranking (BM25). It matches words, not meaning, and needs no network.',
  'local/wordlist': 'Built in: a list of English words and phrases that anyone can read. No network, no judgement.',
  'local/echo': 'Built in: says the prompt again, and follows a few plain edits. It does not think.',
};

export function aboutModel({ id, builtIn, upstreams }: PlaygroundModel): string {
  if (builtIn) return builtInFacts[id] ?? 'Built into the gateway; needs no network.';
  return `Served by ${upstreams.join(', ')}.`;
}

export const isPattern = (id: string): boolean => id.includes('*');
