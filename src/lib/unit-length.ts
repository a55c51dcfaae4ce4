/** Scales a vector to unit length. */

/** Undefined for the zero vector. */
export function toUnitLength(values: readonly number[]): readonly number[] | undefined {
  const norm = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return norm === 0 || !Number.isFinite(norm) ? undefined : values.map((value) => value / norm);
}
