/** Compares directions of vectors: scales a vector to unit length, and computes the cosine between two. */

export function toUnitLength(values: readonly number[]): readonly number[] | undefined {
  const norm = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return norm === 0 || !Number.isFinite(norm) ? undefined : values.map((value) => value / norm);
}

/** The cosine between vectors of one width: 1 for the same direction, 0 for orthogonal ones, the zero vector, and numbers too large to compare. */
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
  const likeness = product / Math.sqrt(ofA * ofB);
  return Number.isFinite(likeness) ? likeness : 0;
}
