/** The models that a tab can try, and what is to be said of each. */

import { useQuery } from '@tanstack/react-query';
import type { PlaygroundModel } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';

export type Operation = PlaygroundModel['operations'][number];

export function usePlaygroundModels(operation: Operation) {
  return useQuery({
    queryKey: ['playground', 'models', operation],
    queryFn: ({ signal }) => ask('GET /api/playground/models', { query: { operation }, signal }),
  });
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
