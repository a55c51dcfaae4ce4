/** Hashes short character sequences to 32 bits (FNV-1a over UTF-16 code units, finished as MurmurHash3 is), and sums amounts by hash. */

const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;

function mix(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Hashes a word; `seed` keeps features of different kinds apart. */
export function hashWord(word: string, seed: number): number {
  let hash = fnvOffset ^ seed;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), fnvPrime);
  return mix(hash);
}

/** Combines two hashes; their order matters. */
export const hashPair = (first: number, second: number, seed: number): number =>
  mix(Math.imul(Math.imul(fnvOffset ^ seed ^ first, fnvPrime) ^ second, fnvPrime));

const wordStart = 0x02;
const wordEnd = 0x03;

/** Hashes every run of `shortest` to `longest` characters of a word; both ends of the word count as characters. */
export function eachGram(
  word: string,
  shortest: number,
  longest: number,
  seed: number,
  visit: (hash: number) => void,
): void {
  const last = word.length + 1;
  for (let start = 0; start + shortest <= last + 1; start += 1) {
    let hash = fnvOffset ^ seed;
    const stop = Math.min(start + longest, last + 1);
    for (let at = start; at < stop; at += 1) {
      const unit = at === 0 ? wordStart : at === last ? wordEnd : word.charCodeAt(at - 1);
      hash = Math.imul(hash ^ unit, fnvPrime);
      if (at - start + 1 >= shortest) visit(mix(hash));
    }
  }
}

export type Tally = ReturnType<typeof createTally>;

/** Creates a table of sums by key. `maxKeys` is a power of two; keys must be well distributed. */
export function createTally(maxKeys: number) {
  const mask = maxKeys * 2 - 1;
  const keys = new Uint32Array(maxKeys * 2);
  /** The sum for each bucket's key; 0 marks a free bucket. */
  const sums = new Float64Array(maxKeys * 2);
  const used = new Uint32Array(maxKeys);
  let size = 0;

  const bucketOf = (key: number): number => {
    let bucket = key & mask;
    while (sums[bucket] !== 0 && keys[bucket] !== key) bucket = (bucket + 1) & mask;
    return bucket;
  };

  return {
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
