/** Agreement of two models: by angle between vectors, by nearest neighbours, and by order of scores. */

/** Of vectors of one width: 1 where they point the same way, 0 where they have nothing in common. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  let product = 0;
  let ofA = 0;
  let ofB = 0;
  for (const [index, x] of a.entries()) {
    const y = b[index] ?? 0;
    product += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return ofA === 0 || ofB === 0 ? 0 : product / Math.sqrt(ofA * ofB);
}

/** An item in both spaces. */
export interface Pair {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** The share of an item's nearest neighbours that are the same in both spaces; undefined where there are too few to tell. */
export function neighbourOverlap(item: Pair, others: readonly Pair[], count: number): number | undefined {
  if (others.length < 2 * count) return undefined;
  const before = nearest(others, count, (other) => cosine(item.before, other.before));
  const after = nearest(others, count, (other) => cosine(item.after, other.after));
  return [...before].filter((one) => after.has(one)).length / count;
}

function nearest(others: readonly Pair[], count: number, nearness: (other: Pair) => number): Set<Pair> {
  const ranked = others.map((other) => ({ other, near: nearness(other) })).toSorted((a, b) => b.near - a.near);
  return new Set(ranked.slice(0, count).map(({ other }) => other));
}

/** Kendall's: of all pairs, how many more stand in the same order than in the other; undefined where there is no order. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number | undefined {
  let same = 0;
  let pairs = 0;
  for (let i = 0; i < a.length; i += 1) {
    for (let j = i + 1; j < a.length; j += 1) {
      const order = Math.sign((a[i] ?? 0) - (a[j] ?? 0)) * Math.sign((b[i] ?? 0) - (b[j] ?? 0));
      if (order === 0) continue;
      pairs += 1;
      same += order;
    }
  }
  return pairs === 0 ? undefined : same / pairs;
}
