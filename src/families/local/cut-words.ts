/** Splits text into words, which local models compare and count as tokens. */

/** Length of the stretches in which a text is read; cut at white space where there is some. */
const stretchCharacters = 8_192;

/** Matches a combining mark. Normalising sorts the marks of one letter, which takes longer the more there are. */
const mark = String.raw`[\p{M}\uff9e\uff9f]`;
/** Matches more marks on one letter than any script has. */
const manyMarks = new RegExp(`${mark}{33}`, 'u');
const withFewMarks = new RegExp(`[^\\p{M}\\uff9e\\uff9f]*${mark}{0,32}`, 'gu');

/** Reduces text to a canonical form: lone surrogates replaced, compatibility forms and letter case folded, invisible characters removed. */
function fold(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return manyMarks.test(text) ? (text.match(withFewMarks) ?? []).map(foldAny).join('') : foldAny(text);
}

function foldAny(text: string): string {
  return (
    text
      .normalize('NFKC')
      // Upper case, then lower case: characters that differ only in case in any script become equal (ß and ss, ı and i).
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      .replace(/\p{Default_Ignorable_Code_Point}+/gu, '')
      .normalize('NFKC')
  );
}

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** Yields the folded text in stretches short enough to process without a pause. */
export function* foldedStretches(text: string): Generator<string> {
  const wellFormed = text.toWellFormed();
  for (let start = 0; start < wellFormed.length; ) {
    const end = stretchEnd(wellFormed, start);
    yield fold(wellFormed.slice(start, end));
    start = end;
  }
}

function stretchEnd(text: string, start: number): number {
  const limit = start + stretchCharacters;
  if (limit >= text.length) return text.length;
  for (let end = limit; end > start + stretchCharacters / 2; end -= 1) {
    if (isSpace(text.charCodeAt(end))) return end;
  }
  // One endless word: cut it anywhere but inside a surrogate pair.
  return isLowSurrogate(text.charCodeAt(limit)) ? limit - 1 : limit;
}

const isSpace = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) || unit === 0x3000;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

const asciiWord = /[a-z0-9]+/g;
const letters = String.raw`[\p{L}\p{M}\p{N}]`;
/** Matches letters of scripts that are written without spaces. */
const unspaced = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&${letters}]`;
/** Matches a word: each letter of a script without spaces, each pictograph, or else a run of letters, marks and digits. */
const anyWord = new RegExp(`([${unspaced}\\p{Extended_Pictographic}\\p{RI}])|[${letters}--${unspaced}]+`, 'gv');

/** Calls `visit` with every word of a folded stretch; `single` marks a word that is one character of a script without spaces. */
export function eachWord(stretch: string, visit: (word: string, single: boolean) => void): void {
  let found = false;
  for (const [word, single] of stretch.matchAll(isAscii(stretch) ? asciiWord : anyWord)) {
    found = true;
    visit(word, single !== undefined);
  }
  if (found) return;
  // Nothing but signs: together they are one word, so that "!!!" and "???" still differ.
  const signs = stretch.replace(/\s+/g, '');
  if (signs !== '') visit(signs, false);
}
