/** Finds the known name that a mistyped one most likely stands for. */

/**
 * Undefined where nothing is near: at most a third of the letters may differ, or the name must be the beginning of a
 * known one. Case and separators do not count.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > 200) return undefined; // the distance takes time in the square of the length
  const folded = fold(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(folded.length / 3)) + 1;
  let begun: string | undefined;
  for (const candidate of known) {
    const other = fold(candidate);
    if (folded.length >= 3 && other.startsWith(folded)) begun ??= candidate;
    if (Math.abs(other.length - folded.length) >= bestDistance) continue;
    const distance = editDistance(folded, other);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? begun;
}

const fold = (name: string): string => name.toLowerCase().replace(/[-_ .]/g, '');

/** Letters added, dropped, replaced, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let distance = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, at(beforeLast, j - 2) + 1);
      }
      row.push(distance);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
