/** Defines how many items of a list came from the cache, and the word for it in a response header. */

/** Counts of cached items in one list; `items` counts equal items once. */
export interface CacheUse {
  readonly hits: number;
  readonly items: number;
}

/** The value of the response header `x-postern-cache`. */
export function wordFor({ hits, items }: CacheUse): 'hit' | 'partial' | 'miss' {
  if (hits === 0) return 'miss';
  return hits === items ? 'hit' : 'partial';
}
