/** How many items of a list came from the cache. */

/** `items` counts equal items once. */
export interface CacheUse {
  readonly hits: number;
  readonly items: number;
}

/** As the value of `x-postern-cache`. */
export function wordFor({ hits, items }: CacheUse): 'hit' | 'partial' | 'miss' {
  if (hits === 0) return 'miss';
  return hits === items ? 'hit' : 'partial';
}
