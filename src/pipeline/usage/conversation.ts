/** What a conversation refers to that is not in its body, or counts otherwise than as text; looked for in its bytes, without reading what lies between. */

import { Buffer } from 'node:buffer';
import { isMapping } from '../../lib/is-mapping.ts';
import { hasEscapedLetter, isNameIn } from '../json-names.ts';
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
const QUOTE = 0x22;
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
    if (isNameIn(body, name)) return { media, mediaBytes, beyond: name };
    yield;
  }
  return { media, mediaBytes, beyond: hasEscapedLetter(body) ? 'messages' : undefined };
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
