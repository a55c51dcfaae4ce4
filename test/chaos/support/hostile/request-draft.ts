/** Random well-formed requests in parts, so that one part can be corrupted. All text is Latin-1: a character is a byte. */

import { testKey } from '../../../support/gateways/rig.ts';

export type Random = () => number;

export interface Draft {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Whole lines, without the one that frames the body. */
  readonly fields: readonly string[];
  readonly body: string;
  /** The body in parts; absent where it is framed by its length. */
  readonly chunks: readonly string[] | undefined;
}

const targets: readonly (readonly [target: string, body: string])[] = [
  ['/v1/embeddings', '{"model":"m","input":"x"}'],
  ['/embeddings/', '{"model":"m","input":["x","y"]}'],
  ['/v1/engines/m/embeddings', '{"input":"x"}'],
  ['/v1/completions', '{"model":"m","prompt":"x"}'],
  ['/v1/edits', '{"model":"m","input":"x","instruction":"y"}'],
  ['/v2/rerank', '{"model":"m","query":"x","documents":["y"]}'],
  ['/v1/moderations?a=b', '{"model":"m","input":"x"}'],
];

const keyFields = [
  `Authorization: Bearer ${testKey}`,
  `authorization: bearer ${testKey}`,
  `x-api-key: ${testKey}`,
  `X-Goog-Api-Key: ${testKey}`,
];

const harmlessFields = [
  'Accept: application/json',
  'accept-encoding: gzip, br',
  'User-Agent: x/1.0 (y; z)',
  'X-Empty:',
  'X-Latin: \xe4\xf6',
  'Cookie: a=b; c="d"',
  'Connection: keep-alive',
  'TE: trailers',
  'traceparent: 00-00000000000000000000000000000001-0000000000000001-00',
  "!#$%&'*+-.^_`|~: token",
];

export function pick<Value>(values: readonly [Value, ...Value[]], random: Random): Value {
  return values[Math.floor(random() * values.length)] ?? values[0];
}

export function makeDraft(random: Random): Draft {
  const [target, body] = pick([['/v1/embeddings', '{"model":"m","input":"x"}'], ...targets], random);
  const fields = harmlessFields.filter(() => random() < 0.3);
  for (const field of ['Host: 127.0.0.1', pick(['x-api-key: '.concat(testKey), ...keyFields], random)]) {
    fields.splice(Math.floor(random() * (fields.length + 1)), 0, field);
  }
  const chunks = random() < 0.5 ? undefined : cut(body, random);
  return { method: 'POST', target, version: 'HTTP/1.1', fields, body, chunks };
}

/** In one to four parts, none of them empty. */
function cut(text: string, random: Random): string[] {
  const cuts = Array.from({ length: Math.floor(random() * 4) }, () => 1 + Math.floor(random() * (text.length - 1)));
  const ends = [...new Set(cuts), text.length].sort((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

export function framingField({ chunks, body }: Draft): string {
  return chunks === undefined ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked';
}

/** The request line and the fields. */
export function toLines(draft: Draft, framing = framingField(draft)): string[] {
  return [`${draft.method} ${draft.target} ${draft.version}`, ...draft.fields, framing];
}

/** What follows the empty line. */
export function toContent({ chunks, body }: Draft): string {
  return chunks === undefined ? body : `${chunks.map((data) => toChunkText(sizeOf(data), data)).join('')}0\r\n\r\n`;
}

export function toText(draft: Draft, framing = framingField(draft)): string {
  return `${toLines(draft, framing).join('\r\n')}\r\n\r\n${toContent(draft)}`;
}

export function toBytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

export function withField(draft: Draft, random: Random, change: (field: string) => string): Draft {
  const chosen = Math.floor(random() * draft.fields.length);
  return { ...draft, fields: draft.fields.map((field, index) => (index === chosen ? change(field) : field)) };
}

export function plusField(draft: Draft, random: Random, field: string): Draft {
  const at = Math.floor(random() * (draft.fields.length + 1));
  return { ...draft, fields: [...draft.fields.slice(0, at), field, ...draft.fields.slice(at)] };
}

/** The draft's text with one of its chunks written in another way; undefined where it has none. */
export function withChunk(
  draft: Draft,
  random: Random,
  write: (size: string, data: string) => string,
): string | undefined {
  const { chunks } = draft;
  if (chunks === undefined) return undefined;
  const chosen = Math.floor(random() * chunks.length);
  const written = chunks.map((data, index) => (index === chosen ? write : toChunkText)(sizeOf(data), data));
  return `${toLines(draft).join('\r\n')}\r\n\r\n${written.join('')}0\r\n\r\n`;
}

/** The text with `morsel` somewhere at or behind `from`. */
export function insertBehind(text: string, from: number, morsel: string, random: Random): string {
  const at = from + Math.floor(random() * (text.length - from + 1));
  return text.slice(0, at) + morsel + text.slice(at);
}

const sizeOf = (data: string): string => data.length.toString(16);
const toChunkText = (size: string, data: string): string => `${size}\r\n${data}\r\n`;
