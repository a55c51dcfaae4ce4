/** Finds the known name nearest to a mistyped one. */

/** Finds the nearest known name; undefined where nothing is near, or after too many comparisons. */
export type NearestName = (name: string) => string | undefined;

/** Longest name that is compared: the time grows with the square of the length. */
const longestName = 200;

/** Finds the nearest name: at most one in `share` letters may differ, or the name begins a known one. Case and separators do not count. */
export function nearestName(name: string, known: Iterable<string>, share = usualShare): string | undefined {
  return createNearestName(known, share)(name);
}

const usualShare = 3;

/** The end of a sentence about an unknown name: `; did you mean visible?`, else `otherwise`. */
export const nearHint = (name: string, known: Iterable<string>, otherwise = ''): string =>
  toHint(nearestName(name, known), otherwise);

export const toHint = (near: string | undefined, otherwise = ''): string =>
  near === undefined ? otherwise : `; did you mean ${near}?`;

/** Limit of comparisons of two names, each of which takes some 0.2 µs. */
const mostComparisons = 2_000_000;

/** Makes a search for many names: their comparisons are limited together, and names beyond the limit are not searched for. */
export function createNearestName(known: Iterable<string>, share = usualShare): NearestName {
  let folded: { readonly name: string; readonly text: string }[] | undefined;
  let comparisons = 0;
  const answers = new Map<string, string | undefined>();
  return (name) => {
    if (name.length > longestName || comparisons > mostComparisons) return answers.get(name);
    if (answers.has(name)) return answers.get(name);
    folded ??= Array.from(known, (one) => ({ name: one, text: fold(one) }));
    comparisons += folded.length;
    const answer = findNearest(fold(name), folded, share);
    answers.set(name, answer);
    return answer;
  };
}

function findNearest(
  folded: string,
  known: readonly { readonly name: string; readonly text: string }[],
  share: number,
): string | undefined {
  let best: string | undefined;
  let most = Math.max(1, Math.floor(folded.length / share));
  let begun: string | undefined;
  for (const { name, text } of known) {
    if (folded.length >= 3 && begun === undefined && text.startsWith(folded)) begun = name;
    if (Math.abs(text.length - folded.length) > most) continue;
    const distance = editDistance(folded, text, most);
    if (distance > most) continue;
    best = name;
    most = distance - 1;
    if (most < 0) break;
  }
  return best ?? begun;
}

const fold = (name: string): string => name.toLowerCase().replace(/[-_ .]/g, '');

let beforeLast = new Int32Array(longestName * 2);
let last = new Int32Array(longestName * 2);
let row = new Int32Array(longestName * 2);

/** Number of letters added, dropped, replaced, or swapped with their neighbour; or a number above `most` where there are more. */
function editDistance(a: string, b: string, most: number): number {
  const far = most + 1;
  // Cells further from the diagonal are too far. The cells beside it hold lower bounds.
  for (let j = 0; j <= b.length + 1; j++) last[j] = Math.min(j, far);
  beforeLast.fill(far, 0, b.length + 2);
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - most);
    const to = Math.min(b.length, i + most);
    row[from - 1] = from === 1 ? Math.min(i, far) : far;
    let least = row[from - 1] ?? far;
    for (let j = from; j <= to; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let distance = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      ) {
        distance = Math.min(distance, at(beforeLast, j - 2) + 1);
      }
      row[j] = distance;
      if (distance < least) least = distance;
    }
    row[to + 1] = far;
    if (least > most) return far;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return at(last, b.length);
}

const at = (cells: Int32Array, index: number): number => cells[index] ?? 0;
