/** Finds the words of a query in a text, so that they can be marked. */

export interface MarkedPiece {
  readonly text: string;
  readonly isMarked: boolean;
  /** Where it begins in the text. */
  readonly at: number;
}

const wordPattern = /[\p{L}\p{N}]+/gu;
const leastLetters = 3;
/** From here on a word counts with its endings too: gate, gates. */
const stemLetters = 4;
const commonWords = new Set(
  'the and for are was how what why who when where does did can with from that this its not you your'.split(' '),
);

export function markWords(text: string, query: string): MarkedPiece[] {
  const wanted = toWords(query).filter((word) => word.length >= leastLetters && !commonWords.has(word));
  const pieces: MarkedPiece[] = [];
  let from = 0;
  for (const { 0: word, index } of text.matchAll(wordPattern)) {
    if (!wanted.some((one) => isAlike(one, word.toLowerCase()))) continue;
    if (index > from) pieces.push({ text: text.slice(from, index), isMarked: false, at: from });
    pieces.push({ text: word, isMarked: true, at: index });
    from = index + word.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isMarked: false, at: from });
  return pieces;
}

const toWords = (text: string): string[] => text.toLowerCase().match(wordPattern) ?? [];

function isAlike(one: string, other: string): boolean {
  if (one === other) return true;
  if (Math.min(one.length, other.length) < stemLetters || Math.abs(one.length - other.length) > 2) return false;
  return one.startsWith(other) || other.startsWith(one);
}
