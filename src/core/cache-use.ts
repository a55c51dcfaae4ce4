/** How many items of a list came from the cache. */

/** Different items, and how many of these were remembered. */
export interface CacheUse {
  readonly hits: number;
  readonly items: number;
}

/** In the word of `x-postern-cache`. */
export function wordFor({ hits, items }: CacheUse): 'hit' | 'partial' | 'miss' {
  if (hits === 0) return 'miss';
  return hits === items ? 'hit' : 'partial';
}
