/** Finds what a chat request refers to outside its body (files, earlier answers, tools) or what is not billed as text (images, sound), without parsing the rest. */

import { Buffer } from 'node:buffer';
import type { HostedTools } from '../../core/accounting/price.ts';
import type { OperationRow } from '../../core/operations/row.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import type { JsonField } from '../../lib/json/json-scan.ts';
import { COLON, LOWER_F, QUOTE, SPACE } from '../../lib/json/json-tokens.ts';
import { find, hasEscapedLetter, isNameIn } from '../json-names.ts';
import type { Question } from '../question.ts';
import { numberIn } from './number-in.ts';

export interface Conversation {
  /** Bytes of images, audio and files in the body. */
  readonly mediaBytes: number;
  readonly media: number;
  /** A field that adds content of unknown length, such as a reference to a file; undefined where there is none. */
  readonly beyond: string | undefined;
}

/** Texts that come before the data of an image or file: in a `data:` URL, and in a field of its own. */
const inUrl = Buffer.from(';base64,');
const inField = Buffer.from('"data"');
/** Tokens that services add to a conversation: its template, and instructions for tools; hosted tools bring their descriptions. */
export const templateTokens = 256;
export const toolsTokens = 1_024;
/** A text that is shorter than this is not treated as data of an image or file. */
const shortestData = 256;
const quote = Buffer.from('"');
/** Number of matches between two points where the search may pause. */
const looksPerPiece = 256;

/** Examines a body, which must be valid JSON. `names`: fields that add content that is no text, or is outside the body. */
export function* conversationIn(body: Buffer, names: readonly string[]): Generator<undefined, Conversation, undefined> {
  const found: Media = { media: 0, mediaBytes: 0 };
  yield* lookForUrls(body, found);
  yield* lookForFields(body, found);
  for (const name of names) {
    if (yield* isNameIn(body, name)) return { ...found, beyond: name };
    yield;
  }
  return { ...found, beyond: (yield* hasEscapedLetter(body)) ? 'messages' : undefined };
}

interface Media {
  media: number;
  mediaBytes: number;
}

function* lookForUrls(body: Buffer, found: Media): Generator<undefined, void, undefined> {
  for (let at = yield* find(body, inUrl, 0); at !== -1; at = yield* find(body, inUrl, at)) {
    const start = at + inUrl.length;
    at = yield* find(body, quote, start);
    found.media += 1;
    found.mediaBytes += at - start;
    if (found.media % looksPerPiece === 0) yield;
  }
}

function* lookForFields(body: Buffer, found: Media): Generator<undefined, void, undefined> {
  let looks = 0;
  for (let at = yield* find(body, inField, 0); at !== -1; at = yield* find(body, inField, at)) {
    looks += 1;
    if (looks % looksPerPiece === 0) yield;
    at += inField.length;
    while (body[at] === COLON || (body[at] ?? COLON) <= SPACE) at += 1;
    if (body[at] !== QUOTE) continue;
    const start = at + 1;
    at = yield* find(body, quote, start);
    if (at - start < shortestData) continue;
    found.media += 1;
    found.mediaBytes += at - start;
  }
}

const clientTools: ReadonlySet<unknown> = new Set(['function', 'custom', undefined, null]);
/** Matches the types of Anthropic's client tools, which end with the date of their version. */
const datedTool = /^(?:bash|computer|memory|text_editor)_\d{8}$/;
const isOfClient = (type: unknown): boolean =>
  clientTools.has(type) || (typeof type === 'string' && datedTool.test(type));
const longestReadToolsBytes = 512 * 1024;

interface Tools {
  /** Request field that asks for tools run by the service, whose calls the service does not report; undefined where there is none. */
  readonly hosted: string | undefined;
  /** Hosted tools whose calls are reported; undefined where there are none. */
  readonly reported: HostedTools | undefined;
  /** Number of descriptions added to the conversation: one for tools in general, and one for each hosted tool. */
  readonly described: number;
}

type ToolsRow = Pick<OperationRow, 'hosted' | 'callsIn' | 'searchedBy'>;

/** Matches the version in a tool's type, to remove it. */
const version = /(?:_preview)?(?:_\d{8}|_\d{4}_\d{2}_\d{2})?$/;
/** Tools that run another model, whose price differs. */
const ofOthers = /^advisor/;

/** The hosted tools that a request uses. The row's fields can request tools too, and some upstreams also read `TOOLS`. */
export function toolsIn(question: Question, { hosted: names = [], callsIn, searchedBy }: ToolsRow): Tools {
  const { body, scan } = question;
  const { fields, foldedOnly } = scan;
  const hosted = [...names, ...(searchedBy !== undefined && foldedOnly.includes(searchedBy) ? [searchedBy] : [])].find(
    (name) => foldedOnly.includes(name) || isWanted(body, fields.get(name)),
  );
  const reported = searchedBy !== undefined && isWanted(body, fields.get(searchedBy)) ? oneSearch : undefined;
  const field = fields.get('tools');
  if (field === undefined || field.kind === 'null') {
    return { hosted: foldedOnly.includes('tools') ? 'tools' : hosted, reported, described: 0 };
  }
  const unbounded: Tools = { hosted: 'tools', reported, described: 1 };
  if (field.end - field.start > longestReadToolsBytes) return unbounded;
  const tools: unknown = JSON.parse(body.toString('utf8', field.start, field.end));
  if (!Array.isArray(tools)) return unbounded;
  let dated = 0;
  const kinds = new Set<string>();
  let most: number | undefined = 0;
  for (const tool of tools) {
    if (!isMapping(tool)) return unbounded;
    if (!isOfClient(tool.type)) {
      if (callsIn === undefined || typeof tool.type !== 'string' || ofOthers.test(tool.type)) return unbounded;
      kinds.add(tool.type.replace(version, ''));
      most = isUses(tool.max_uses) && most !== undefined ? most + tool.max_uses : undefined;
    }
    if (!clientTools.has(tool.type)) dated += 1;
  }
  const described = tools.length === 0 ? 0 : 1 + dated;
  if (kinds.size === 0) return { hosted, reported, described };
  return {
    hosted,
    reported: { kinds: [...kinds], most: callsIn === 'usage' ? most : callsBound(question) },
    described,
  };
}

const oneSearch: HostedTools = Object.freeze({ kinds: Object.freeze(['web_search']), most: 1, areSure: true });

const isUses = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

function callsBound(question: Question): number | undefined {
  const most = numberIn(question, 'max_tool_calls');
  return isUses(most) ? most : undefined;
}

const isWanted = (body: Buffer, field: JsonField | undefined): boolean =>
  field !== undefined && field.kind !== 'null' && !(field.kind === 'boolean' && body[field.start] === LOWER_F);
