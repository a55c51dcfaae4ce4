/** Parameters behind a value, as in `form-data; name="a"; filename=b`: read by the grammar, so that nobody can read them otherwise. */

/** Names in lower case, none of them twice, each with its value; undefined where they are none. */
export type Parameters = ReadonlyMap<string, string>;

const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const blanks = /[ \t]*/y;
const quoteOrControl = /["\x00-\x08\x0a-\x1f\x7f]/g;
const backslashesAtEnd = /\\*$/;

/** `text` from the first semicolon on, each byte a character. */
export function readParameters(text: string): Parameters | undefined {
  const found = new Map<string, string>();
  let at = endOf(blanks, text, 0);
  while (at < text.length) {
    if (text[at] !== ';') return undefined;
    const nameAt = endOf(blanks, text, at + 1);
    const nameEnd = endOf(token, text, nameAt);
    if (nameEnd === nameAt || text[nameEnd] !== '=') return undefined;
    const name = text.slice(nameAt, nameEnd).toLowerCase();
    const value = valueAt(text, nameEnd + 1);
    if (value === undefined || found.has(name)) return undefined;
    found.set(name, value.text);
    at = endOf(blanks, text, value.end);
  }
  return found;
}

interface Value {
  readonly text: string;
  readonly end: number;
}

function valueAt(text: string, at: number): Value | undefined {
  if (text[at] === '"') return quotedAt(text, at + 1);
  const end = endOf(token, text, at);
  return end === at ? undefined : { text: text.slice(at, end), end };
}

/** Some take a backslash for an escape and some for itself: where that would move the end of the text, it is none. */
function quotedAt(text: string, at: number): Value | undefined {
  quoteOrControl.lastIndex = at;
  const stop = quoteOrControl.exec(text);
  if (stop === null || stop[0] !== '"') return undefined;
  const inside = text.slice(at, stop.index);
  const backslashes = backslashesAtEnd.exec(inside)?.[0].length ?? 0;
  return backslashes % 2 === 1 ? undefined : { text: inside, end: stop.index + 1 };
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
