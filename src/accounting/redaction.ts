/** Redacts a text: credentials, e-mail addresses, and numbers as long as card numbers. Every pattern runs in linear time. */

import { awsKeyId, knownPrefix, wordStart } from '../lib/secrets/secret-shapes.ts';

export const credentialMark = '[credential]';
export const addressMark = '[e-mail address]';
export const numberMark = '[number]';
const fieldMark = '[withheld]';

/** What is redacted besides texts with the shape of a secret. */
export interface Hidden {
  readonly secrets: readonly string[];
  /** Matches the names of JSON fields whose values the operator withholds. */
  readonly fields: RegExp | undefined;
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly mark: string;
}

const word = '[A-Za-z0-9_-]';

/** Patterns of credentials. The first group is redacted, or else the whole match; a group stands at the end of its match. */
const credentials: readonly RegExp[] = [
  new RegExp(`${wordStart}(?:pst_|[prs]k[-_])${word}{8,}`, 'g'),
  // Keys with the prefixes of services.
  new RegExp(`${wordStart}${knownPrefix}[A-Za-z0-9_.-]{16,}`, 'g'),
  // A JSON web token.
  new RegExp(`${wordStart}eyJ${word}{8,}\\.${word}{8,}(?:\\.${word}*)?`, 'g'),
  new RegExp(`${wordStart}(?:Bearer|Basic)[ \\t]{1,4}([A-Za-z0-9._~+/=-]{8,})`, 'gi'),
  // AWS: the ID of a key; and a secret, which is forty characters of all kinds.
  new RegExp(`${wordStart}${awsKeyId}`, 'g'),
  /(?:(?<![A-Za-z0-9/+=_-])|(?<=\\[bfnrt]))(?=[A-Za-z0-9/+]{0,39}[A-Z])(?=[A-Za-z0-9/+]{0,39}[a-z])(?=[A-Za-z0-9/+]{0,39}[0-9])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])/g,
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----([^-"]{1,20000})/g,
  // Values of names such as `api_key`.
  /(?:api[_-]?key|secret[_-]?(?:access[_-]?)?key|client[_-]?secret|(?:access|auth|refresh|session)[_-]?token|password|passwd)[\\"']{0,4}\s{0,4}[:=]\s{0,4}[\\"']{0,4}([^\s"'\\,;&<>{}]{8,})/gi,
];

/** Thirteen or more digits, as in a card number; not within a word, and not the decimals of a fraction, which vectors are full of. */
const longNumber = /(?:(?<![A-Za-z0-9_]|\d\.)|(?<=\\[bfnrt]))\d(?:[ -]?\d){12,}(?![A-Za-z0-9_])/g;

const hostPart = String.raw`[\p{L}\p{N}-]{1,63}`;
const atHost = new RegExp(`@${hostPart}(?:\\.${hostPart}){1,8}`, 'gu');
const ofAddress = /[\p{L}\p{N}._%+'-]/u;
const longestName = 64;

const jsonEscape = /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|[\s\S])/gi;

/** Finds the named fields. The first group has the backslashes where the JSON is a text within JSON, such as the arguments of a tool call. */
export function toFieldPattern(names: readonly string[]): RegExp | undefined {
  if (names.length === 0) return undefined;
  const any = names.map((name) => name.replace(/[.-]/g, String.raw`\$&`)).join('|');
  return new RegExp(String.raw`(?<!\\)(\\{0,7})"(?:${any})\1"\s{0,8}:\s{0,8}`, 'g');
}

/** Redacts the first `most` characters of a text; a match that begins there may end later. */
export function redact(text: string, hidden: Hidden, most: number): string {
  let kept = '';
  let position = 0;
  for (const { start, end, mark } of spansIn(text, hidden)) {
    if (start >= most) break;
    if (start >= position) kept += text.slice(position, start) + mark;
    position = Math.max(position, end);
  }
  return kept + text.slice(position, most);
}

/** Decodes JSON escapes that were not needed, because they could hide a secret. */
export function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(jsonEscape, (whole: string, high?: string, low?: string, single?: string) => {
    if (whole === '\\/') return '/';
    if (high !== undefined && low !== undefined) {
      return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
    }
    if (single === undefined) return whole;
    const character = String.fromCharCode(Number.parseInt(single, 16));
    return /[\p{Cc}\p{Cs}"\\]/u.test(character) ? whole : character;
  });
}

function spansIn(text: string, { secrets, fields }: Hidden): Span[] {
  const spans: Span[] = [];
  if (fields !== undefined) addFields(text, fields, spans);
  for (const secret of secrets) {
    for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + secret.length)) {
      spans.push({ start, end: start + secret.length, mark: credentialMark });
    }
  }
  for (const pattern of credentials) addMatches(text, pattern, credentialMark, spans);
  addAddresses(text, spans);
  addMatches(text, longNumber, numberMark, spans);
  return spans.sort((a, b) => a.start - b.start);
}

function addMatches(text: string, pattern: RegExp, mark: string, spans: Span[]): void {
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    spans.push({ start: end - (match[1] ?? match[0]).length, end, mark });
  }
}

function addFields(text: string, fields: RegExp, spans: Span[]): void {
  fields.lastIndex = 0;
  for (let name = fields.exec(text); name !== null; name = fields.exec(text)) {
    const start = fields.lastIndex;
    fields.lastIndex = endOfValue(text, start, Math.floor(Math.log2((name[1]?.length ?? 0) + 1)));
    spans.push({ start, end: fields.lastIndex, mark: fieldMark });
  }
}

/** Offset of the end of the JSON value at `start`; the text may be cut. `level`: how many JSON texts enclose the value's own JSON text. */
function endOfValue(text: string, start: number, level: number): number {
  const token = /(?<!\\)(\\*)"|[[{\]},\s]/g;
  token.lastIndex = start;
  let depth = 0;
  let isInText = false;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [mark, slashes] = found;
    const quote = slashes === undefined ? undefined : quoteBehind(slashes.length, level);
    if (quote === 'around') return found.index;
    if (quote === 'own') isInText = !isInText;
    if (quote === 'escaped' || isInText) continue;
    if (quote === undefined && depth === 0 && !/[[{]/.test(mark)) return found.index;
    depth += /[[{]/.test(mark) ? 1 : /[\]}]/.test(mark) ? -1 : 0;
    if (depth === 0) return token.lastIndex;
  }
  return text.length;
}

/** Whether a quote ends the value's own JSON text, one inside it, or one around it. Each level doubles the backslashes and adds one. */
function quoteBehind(slashes: number, level: number): 'own' | 'escaped' | 'around' {
  if (level === 0) return slashes % 2 === 0 ? 'own' : 'escaped';
  return slashes % 2 === 0 ? 'around' : quoteBehind((slashes - 1) / 2, level - 1);
}

/** Finds e-mail addresses backwards from each @ before a host: a pattern for the whole address would try every word. */
function addAddresses(text: string, spans: Span[]): void {
  for (const { index: at, 0: host } of text.matchAll(atHost)) {
    let start = at;
    while (start > 0 && at - start < longestName && ofAddress.test(text.charAt(start - 1))) start -= 1;
    if (isEscaped(text, start)) start += 1;
    if (start < at) spans.push({ start, end: at + host.length, mark: addressMark });
  }
}

function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (first > 0 && text[first - 1] === '\\') first -= 1;
  return (index - first) % 2 === 1;
}
