/** A fixed-size hash table that sums by 32-bit keys; it can be emptied, but does not grow. */

export type Tally = ReturnType<typeof createTally>;

/** `maxKeys` is a power of two. Keys must be well distributed. */
export function createTally(maxKeys: number) {
  const mask = maxKeys * 2 - 1;
  const keys = new Uint32Array(maxKeys * 2);
  /** 0 marks a free bucket. */
  const sums = new Float64Array(maxKeys * 2);
  const used = new Uint32Array(maxKeys);
  let size = 0;

  const bucketOf = (key: number): number => {
    let bucket = key & mask;
    while (sums[bucket] !== 0 && keys[bucket] !== key) bucket = (bucket + 1) & mask;
    return bucket;
  };

  return {
    /** Number of distinct keys. */
    get size(): number {
      return size;
    },
    /** Adds a positive amount to a key's sum. False where there is no room for another key. */
    add(key: number, amount = 1): boolean {
      const bucket = bucketOf(key);
      const sum = sums[bucket] ?? 0;
      if (sum === 0) {
        if (size === maxKeys) return false;
        keys[bucket] = key;
        used[size] = bucket;
        size += 1;
      }
      sums[bucket] = sum + amount;
      return true;
    },
    has: (key: number): boolean => sums[bucketOf(key)] !== 0,
    /** Visits every key with its sum, in the order of their first addition, and empties the table. */
    drain(visit: (key: number, sum: number) => void): void {
      for (let at = 0; at < size; at += 1) {
        const bucket = used[at] ?? 0;
        visit(keys[bucket] ?? 0, sums[bucket] ?? 0);
        sums[bucket] = 0;
      }
      size = 0;
    },
  };
}
