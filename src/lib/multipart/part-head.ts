/** Parses the head of one form part as strictly as a message head, and its parameters so that no other reader could read them differently. */

import type { Buffer } from 'node:buffer';

export interface PartHead {
  /** The part's name; each byte is one character, as in all fields of a part. */
  readonly name: string;
  /** The file's name; even an empty one marks a file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;
const plainEncodings = new Set(['7bit', '8bit', 'binary']);
const formData = /^form-data(?=[ \t;]|$)/i;

/** Parses a head, or returns the fault of an invalid one. `bytes` are without the empty line at its end. */
export function readPartHead(bytes: Buffer, mostNameBytes: number): PartHead | string {
  const fields = new Map<string, string>();
  for (const line of bytes.toString('latin1').split('\r\n')) {
    const field = fieldLine.exec(line);
    if (field === null) return 'a line in the head of a part is no header field';
    const name = field[1]?.toLowerCase() ?? '';
    if (fields.has(name)) return `the head of a part has the field "${name}" twice`;
    fields.set(name, field[2] ?? '');
  }
  const encoding = fields.get('content-transfer-encoding');
  if (encoding !== undefined && !plainEncodings.has(encoding.toLowerCase())) {
    return 'a part has a Content-Transfer-Encoding; send its bytes as they are';
  }
  const found = nameIn(fields.get('content-disposition'), mostNameBytes);
  if (typeof found === 'string') return found;
  return { ...found, contentType: fields.get('content-type') };
}

function nameIn(disposition: string | undefined, mostNameBytes: number): Pick<PartHead, 'name' | 'filename'> | string {
  const start = disposition === undefined ? null : formData.exec(disposition);
  if (disposition === undefined || start === null) return 'a part has no Content-Disposition that says form-data';
  const parameters = readParameters(disposition.slice(start[0].length));
  const name = parameters?.get('name');
  if (parameters === undefined || name === undefined || parameters.has('name*')) {
    return 'the Content-Disposition of a part names it in no way that is clear';
  }
  if (name.length > mostNameBytes) return `the name of a part is longer than ${mostNameBytes} bytes`;
  // Some readers would take the backslash as an escape.
  if (name.includes('\\')) return 'the name of a part has a backslash in it';
  return { name, filename: parameters.get('filename') ?? parameters.get('filename*') };
}

/** Folds a part's name: `model[]`, `model[0][a]`, ` Model` and `'model'` are all read as `model` by some servers. */
export const plainName = (name: string): string => name.toLowerCase().replace(/\[.*$/s, '').replaceAll("'", '').trim();

/** Parameters of a header by their lower-case names, each of which occurs once. */
type Parameters = ReadonlyMap<string, string>;

const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const blanks = /[ \t]*/y;
const quoteOrControl = /["\x00-\x08\x0a-\x1f\x7f]/g;
const backslashesAtEnd = /\\*$/;

/** Parses parameters; `text` starts at the first semicolon, each byte as one character. Undefined where they are invalid. */
function readParameters(text: string): Parameters | undefined {
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

/** Reads a quoted value. Only some readers treat a backslash as an escape: where that would move the end of the text, it is refused. */
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

/** Matches a valid boundary (RFC 2046, 5.1.1): at most 70 of these characters, the last of them no space. */
const boundaryPattern = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const mediaType = /^[ \t]*multipart\/form-data[ \t]*(?=;|$)/i;

export const isMultipart = (contentType: string | undefined): boolean => mediaType.test(contentType ?? '');

/** The boundary that a Content-Type names; undefined where it has none, two, or an invalid one. */
export function boundaryOf(contentType: string): string | undefined {
  const start = mediaType.exec(contentType);
  if (start === null) return undefined;
  const boundary = readParameters(contentType.slice(start[0].length))?.get('boundary');
  return boundary !== undefined && boundaryPattern.test(boundary) ? boundary : undefined;
}
