/** A 32-bit hash of short character sequences: FNV-1a over UTF-16 code units, finished as MurmurHash3 finishes. */

const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;

/** Spreads a hash so that every bit of it depends on every bit that went in. */
function mix(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** `seed` keeps features of different kinds apart. */
export function hashWord(word: string, seed: number): number {
  let hash = fnvOffset ^ seed;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), fnvPrime);
  return mix(hash);
}

/** Combines two hashes, depending on their order. */
export const hashPair = (first: number, second: number, seed: number): number =>
  mix(Math.imul(Math.imul(fnvOffset ^ seed ^ first, fnvPrime) ^ second, fnvPrime));

const wordStart = 0x02;
const wordEnd = 0x03;

/** Hashes every run of `shortest` to `longest` characters of a word, with both boundaries as characters. */
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
