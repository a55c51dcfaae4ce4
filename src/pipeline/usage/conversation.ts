/** What a conversation refers to that is not in its body, or counts otherwise than as text; looked for in its bytes, without reading what lies between. */

import { Buffer } from 'node:buffer';
import { isMapping } from '../../lib/is-mapping.ts';
import type { Question } from '../question.ts';

export interface Conversation {
  /** Bytes of images, audio and files that are in the body. */
  readonly mediaBytes: number;
  readonly media: number;
  /** The name of a field after which the length of the body bounds nothing; undefined where there is none. */
  readonly beyond: string | undefined;
}

/** What stands before the data of a part: in a `data:` URL, and in a field of its own. */
const inUrl = Buffer.from(';base64,');
const inField = Buffer.from('"data"');
/** A shorter text may be anything. */
const shortestData = 256;
/** A letter written as an escape, as nobody does in earnest: a name may be spelled so. */
const escapedLetter = Buffer.from('\\u00');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
/** Between two places to stop. */
const looksPerPiece = 256;

/** `body` is well-formed JSON; `names` are those of fields that bring in what is no text, or is not in it. */
export function* conversationIn(body: Buffer, names: readonly string[]): Generator<undefined, Conversation, undefined> {
  let media = 0;
  let mediaBytes = 0;
  for (const [start, end] of dataIn(body)) {
    media += 1;
    mediaBytes += end - start;
    if (media % looksPerPiece === 0) yield;
  }
  yield;
  for (const name of names) {
    if (isNameIn(body, quotedOf(name))) return { media, mediaBytes, beyond: name };
    yield;
  }
  return { media, mediaBytes, beyond: (yield* hasEscapedLetter(body)) ? 'messages' : undefined };
}

/** Where the data of images and of their like stand. */
function* dataIn(body: Buffer): Generator<readonly [start: number, end: number], void, undefined> {
  for (let at = body.indexOf(inUrl); at !== -1; at = body.indexOf(inUrl, at)) {
    const start = at + inUrl.length;
    at = body.indexOf(QUOTE, start);
    yield [start, at];
  }
  for (let at = body.indexOf(inField); at !== -1; at = body.indexOf(inField, at)) {
    at += inField.length;
    while (body[at] === COLON || (body[at] ?? COLON) <= SPACE) at += 1;
    if (body[at] !== QUOTE) continue;
    const start = at + 1;
    at = body.indexOf(QUOTE, start);
    if (at - start >= shortestData) yield [start, at];
  }
}

const quotedNames = new Map<string, Buffer>();

/** Of the few that rows have. */
function quotedOf(name: string): Buffer {
  let quoted = quotedNames.get(name);
  if (quoted === undefined) {
    quoted = Buffer.from(`"${name}"`);
    quotedNames.set(name, quoted);
  }
  return quoted;
}

/** As the name of a field, and not as a text. */
function isNameIn(body: Buffer, quoted: Buffer): boolean {
  for (let at = body.indexOf(quoted); at !== -1; at = body.indexOf(quoted, at)) {
    at += quoted.length;
    while ((body[at] ?? COLON) <= SPACE) at += 1;
    if (body[at] === COLON) return true;
  }
  return false;
}

function* hasEscapedLetter(body: Buffer): Generator<undefined, boolean, undefined> {
  let looks = 0;
  for (let at = body.indexOf(escapedLetter); at !== -1; at = body.indexOf(escapedLetter, at + 1)) {
    const code = Number.parseInt(body.toString('latin1', at + escapedLetter.length, at + escapedLetter.length + 2), 16);
    if (code > SPACE && code < 0x7f && code !== QUOTE && code !== BACKSLASH && !isEscaped(body, at)) return true;
    looks += 1;
    if (looks % looksPerPiece === 0) yield;
  }
  return false;
}

/** Whether the backslash is one that another one stands for. */
function isEscaped(body: Buffer, at: number): boolean {
  let first = at;
  while (body[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** Tools that the client runs itself. */
const clientTools: ReadonlySet<unknown> = new Set(['function', 'custom', undefined, null]);
/** A longer list of tools is no list in earnest. */
const longestToolsBytes = 1024 ** 2;

/** The field that asks for a tool that the upstream runs, which costs by itself and reads what nobody sees here; undefined where none does. */
export function hostedToolIn({ body, scan: { fields } }: Question): string | undefined {
  const search = fields.get('web_search_options');
  if (search !== undefined && search.kind !== 'null') return 'web_search_options';
  const field = fields.get('tools');
  if (field === undefined || field.kind === 'null') return undefined;
  if (field.end - field.start > longestToolsBytes) return 'tools';
  const tools: unknown = JSON.parse(body.toString('utf8', field.start, field.end));
  const isOwn = Array.isArray(tools) && tools.every((tool) => isMapping(tool) && clientTools.has(tool.type));
  return isOwn ? undefined : 'tools';
}
