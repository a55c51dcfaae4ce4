/** Compares two texts word by word: kept, removed and added words. */

export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Limit of the table for the comparison; for longer texts, the whole middle counts as replaced. */
const mostCells = 4_000_000;

/** Splits a text into words, runs of white space, and other single characters. */
const toWords = (text: string): string[] => text.match(/[\p{L}\p{N}_’']+|\s+|[^\p{L}\p{N}_’'\s]/gu) ?? [];

export function diffWords(before: string, after: string): DiffPart[] {
  const [a, b] = [toWords(before), toWords(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;

  const parts: DiffPart[] = [];
  add(parts, 'same', a.slice(0, start));
  diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end), parts);
  add(parts, 'same', a.slice(a.length - end));
  return joinChanges(parts);
}

/** Joins changed words with only white space between them to one change, as a person would make it. */
function joinChanges(parts: readonly DiffPart[]): DiffPart[] {
  const joined: DiffPart[] = [];
  let [removed, added] = ['', ''];
  const flush = (): void => {
    if (removed !== '') joined.push({ kind: 'removed', text: removed });
    if (added !== '') joined.push({ kind: 'added', text: added });
    [removed, added] = ['', ''];
  };
  for (const [index, { kind, text }] of parts.entries()) {
    const isBetween =
      kind === 'same' && text.trim() === '' && removed !== '' && added !== '' && isChange(parts, index + 1);
    if (kind === 'same' && !isBetween) {
      flush();
      joined.push({ kind, text });
      continue;
    }
    if (kind !== 'added') removed += text;
    if (kind !== 'removed') added += text;
  }
  flush();
  return joined;
}

/** Whether a removed part is followed by an added one, so that both are shown as one change. */
const isChange = (parts: readonly DiffPart[], at: number): boolean =>
  parts[at]?.kind === 'removed' && parts[at + 1]?.kind === 'added';

function diffMiddle(a: readonly string[], b: readonly string[], parts: DiffPart[]): void {
  if (a.length * b.length > mostCells) {
    add(parts, 'removed', a);
    add(parts, 'added', b);
    return;
  }
  const lengths = toCommonLengths(a, b);
  const width = b.length + 1;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const [was, is] = [a[i] ?? '', b[j] ?? ''];
    if (was === is) {
      add(parts, 'same', [was]);
      i += 1;
      j += 1;
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      add(parts, 'removed', [was]);
      i += 1;
    } else {
      add(parts, 'added', [is]);
      j += 1;
    }
  }
  add(parts, 'removed', a.slice(i));
  add(parts, 'added', b.slice(j));
}

/** The length of the longest common subsequence from each pair of positions on. */
function toCommonLengths(a: readonly string[], b: readonly string[]): Uint32Array {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
    }
  }
  return lengths;
}

function add(parts: DiffPart[], kind: DiffPart['kind'], words: readonly string[]): void {
  if (words.length === 0) return;
  const last = parts.at(-1);
  const text = words.join('');
  if (last?.kind === kind) parts[parts.length - 1] = { kind, text: last.text + text };
  else parts.push({ kind, text });
}

export function countWords(parts: readonly DiffPart[], kind: DiffPart['kind']): number {
  const words = parts.filter((part) => part.kind === kind).flatMap(({ text }) => toWords(text));
  return words.filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
