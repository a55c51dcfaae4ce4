/** Finds the upstream's usage in the kept parts of a response, without parsing the rest. */

import { Buffer } from 'node:buffer';
import type { Usage } from '../../core/accounting/usage.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { compileWatchedKeys, scanJson, scanJsonHead } from '../../lib/json/json-scan.ts';
import { BACKSLASH, LINE_FEED } from '../../lib/json/json-tokens.ts';
import { recordOf } from '../../lib/record-of.ts';
import { type Excerpt, headBytes, tailBytes } from './excerpt.ts';
import { countAt, fieldAt, googleUnitsIn, interactionUnitsIn, unitsIn } from './token-units.ts';

/** Fields that hold usage: OpenAI's and most others', Cohere's and SiliconFlow's, that of whole transcriptions, and Google's. */
const keys = ['usage', 'meta', 'duration', 'usageMetadata'] as const;
type Key = (typeof keys)[number];

const watched = compileWatchedKeys(keys);
const watchedMessage = compileWatchedKeys(['message']);
const quotedKeys = recordOf(keys, (key) => Buffer.from(`"${key}"`));
const openingBrace = Buffer.from('{');
/** For usage inside an object of an event: the text to put before the part that is kept, so that it is JSON again. */
const inner = {
  response: { opening: Buffer.from('{"response":{'), watched: compileWatchedKeys(['response']) },
  delta: { opening: Buffer.from('{"delta":{'), watched: compileWatchedKeys(['delta']) },
  interaction: { opening: Buffer.from('{"interaction":{'), watched: compileWatchedKeys(['interaction']) },
} as const;

const eventField = 'data:';
/** Limit of the length of a usage object, and of the `meta` object before it; real ones are far shorter. */
const longestCountBytes = 1024;

/** The usage in an answer that is one JSON object. Of a truncated answer, only the beginning is trusted. */
export function readJsonUsage(excerpt: Excerpt, cut: boolean): Usage | null {
  if (!cut) {
    const usage = anyInTail(excerpt.tail());
    if (usage !== null || excerpt.tailIsWhole) return usage;
  }
  return anyInHead(excerpt.head());
}

export function readWholeUsage(body: Buffer): Usage | null {
  const tail = body.length <= tailBytes ? body : body.subarray(-tailBytes);
  const usage = anyInTail(tail);
  return usage !== null || tail === body ? usage : anyInHead(body.subarray(0, headBytes));
}

const anyInTail = (tail: Buffer): Usage | null => firstOf((key) => readFromTail(tail, key));
const anyInHead = (head: Buffer): Usage | null => firstOf((key) => readFromHead(head, key));

/** The last usage in a stream of events; a truncated stream is counted up to its end. */
export function readEventUsage(excerpt: Excerpt): Usage | null {
  const last = readLastEvent(excerpt);
  return last === null ? null : toUsage('usage', last);
}

/** The usage of Anthropic's streams: counts of the last event replace those of the first one, except where they are absent or zero. */
export function readMessageUsage(excerpt: Excerpt): Usage | null {
  const merged = inAnyLines(excerpt.head(), readFirstMessage) ?? {};
  const last = readLastEvent(excerpt) ?? {};
  for (const [name, value] of Object.entries(last)) if (hasContent(value)) merged[name] = value;
  merged.output_tokens = last.output_tokens;
  return toUsage('usage', merged);
}

const hasContent = (value: unknown): boolean =>
  typeof value === 'number' ? value > 0 : typeof value === 'string' || isMapping(value) || Array.isArray(value);

/** The usage in the `response` of the last event that has one. Earlier events may have null there. */
export const readResponseUsage = (excerpt: Excerpt): Usage | null => readInner(excerpt, 'response', 'usage');

/** The usage in the `delta` of the last event that has one, as in Cohere's API. */
export const readDeltaUsage = (excerpt: Excerpt): Usage | null => readInner(excerpt, 'delta', 'usage');

/** The usage in the `meta` of the last `response`, in events or in lines, as in Cohere's first API. */
export const readMetaUsage = (excerpt: Excerpt): Usage | null => readInner(excerpt, 'response', 'meta');

/** The usage in the last `interaction`; where that has none, in an earlier event. */
export const readInteractionUsage = (excerpt: Excerpt): Usage | null =>
  readInner(excerpt, 'interaction', 'usage') ?? readEventUsage(excerpt);

/** The last usage inside an object of an event or line, whose beginning may not have been kept. */
const readInner = (excerpt: Excerpt, outer: keyof typeof inner, key: 'usage' | 'meta'): Usage | null =>
  inAnyLines(excerpt.tail(), (tail) => readInnerFrom(tail, outer, key));

function readInnerFrom(tail: Buffer, outer: keyof typeof inner, key: 'usage' | 'meta'): Usage | null {
  const { opening, watched: watchedOuter } = inner[outer];
  for (let at = tail.lastIndexOf(quotedKeys[key]); at > 0; at = tail.lastIndexOf(quotedKeys[key], at - 1)) {
    if (tail[at - 1] === BACKSLASH) continue;
    const lineEnd = tail.indexOf(LINE_FEED, at);
    // As in `countFromTail`, but one level deeper.
    const event = Buffer.concat([opening, tail.subarray(at, lineEnd === -1 ? tail.length : lineEnd)]);
    const scan = scanJson(event, watchedOuter);
    const field = scan.ok ? scan.fields.get(outer) : undefined;
    if (field === undefined) continue;
    const usage = readDocument(event.subarray(field.start, field.end), key);
    if (usage !== null) return usage;
  }
  return null;
}

/** The usage in streams whose events report what is known so far: the last value of each count. */
export const readChunkUsage = (excerpt: Excerpt): Usage | null =>
  inAnyLines(excerpt.tail(), (tail) => readChunks(tail, excerpt.tailIsWhole));

function readChunks(tail: Buffer, isWhole: boolean): Usage | null {
  const key = quotedKeys.usageMetadata;
  const merged: Count = {};
  for (let at = tail.indexOf(key); at !== -1; ) {
    const start = tail.lastIndexOf(LINE_FEED, at) + 1;
    const end = tail.indexOf(LINE_FEED, at);
    const line = tail.subarray(start, end === -1 ? tail.length : end);
    const isBeginningLost = start === 0 && !isWhole;
    const event = isBeginningLost ? undefined : dataOf(line);
    const count = isBeginningLost ? countFromTail(line, 'usageMetadata') : event && countIn(event, 'usageMetadata');
    for (const [name, value] of Object.entries(count ?? {})) {
      if (typeof value === 'number' || hasContent(value)) merged[name] = value;
    }
    at = end === -1 ? -1 : tail.indexOf(key, end);
  }
  return toUsage('usageMetadata', merged);
}

function readFirstMessage(head: Buffer): Count | null {
  const at = head.indexOf(quotedKeys.usage);
  const end = head.indexOf(LINE_FEED, Math.max(at, 0));
  const event =
    at === -1 ? undefined : dataOf(head.subarray(head.lastIndexOf(LINE_FEED, at) + 1, end === -1 ? head.length : end));
  if (event === undefined) return null;
  const scan = scanJson(event, watchedMessage);
  const field = scan.ok ? scan.fields.get('message') : undefined;
  return field?.kind === 'object' ? countIn(event.subarray(field.start, field.end), 'usage') : null;
}

/** Calls `read`; if it finds nothing, calls it again with each event's data on one line that ends in a line feed. Few servers need that. */
function inAnyLines<T>(part: Buffer, read: (part: Buffer) => T | null): T | null {
  const found = read(part);
  if (found !== null) return found;
  const lines = part.toString('latin1').replace(/\r\n?/g, '\n');
  return read(Buffer.from(lines.replace(/\n(?<=^data:.*\n)data:/gm, ' '), 'latin1'));
}

const readLastEvent = (excerpt: Excerpt): Count | null =>
  inAnyLines(excerpt.tail(), (tail) => readLastFrom(tail, excerpt.tailIsWhole));

function readLastFrom(tail: Buffer, isWhole: boolean): Count | null {
  for (let at = tail.lastIndexOf(quotedKeys.usage); at > 0; ) {
    const start = tail.lastIndexOf(LINE_FEED, at) + 1;
    const end = tail.indexOf(LINE_FEED, at);
    // An event with a picture is longer than the kept part.
    if (start === 0 && !isWhole) return countFromTail(end === -1 ? tail : tail.subarray(0, end), 'usage');
    const event = dataOf(tail.subarray(start, end === -1 ? tail.length : end));
    const count = event === undefined ? null : countIn(event, 'usage');
    if (count !== null && toUsage('usage', count) !== null) return count;
    at = start === 0 ? -1 : tail.lastIndexOf(quotedKeys.usage, start - 1);
  }
  return null;
}

function dataOf(line: Buffer): Buffer | undefined {
  return line.toString('latin1', 0, eventField.length) === eventField ? line.subarray(eventField.length) : undefined;
}

export const usageIn = (document: Buffer): Usage | null => readDocument(document, 'usage');

/**
 * In a well-formed object, the text from a top-level key on is again an object if a brace is put before it; from a nested key on it is not, as it has
 * a bracket too many. So a count inside a returned document is not mistaken for the answer's own.
 */
function countFromTail(tail: Buffer, key: Key): Count | null {
  for (let at = tail.lastIndexOf(quotedKeys[key]); at > 0; at = tail.lastIndexOf(quotedKeys[key], at - 1)) {
    if (tail[at - 1] === BACKSLASH) continue;
    const count = countIn(Buffer.concat([openingBrace, tail.subarray(at)]), key);
    if (count !== null && toUsage(key, count) !== null) return count;
  }
  return null;
}

function readFromTail(tail: Buffer, key: Key): Usage | null {
  for (let at = tail.lastIndexOf(quotedKeys[key]); at > 0; at = tail.lastIndexOf(quotedKeys[key], at - 1)) {
    const usage = tail[at - 1] === BACKSLASH ? null : readEnd(tail, at, key);
    if (usage !== null) return key === 'usage' ? withSearchUnits(usage, tail, at) : usage;
  }
  return null;
}

/** Adds search units: some rerankers, such as another Postern, report tokens as Jina does and search units as Cohere does. */
function withSearchUnits(usage: Usage, tail: Buffer, at: number): Usage {
  const mayHaveUnits = usage.completionTokens === null && usage.searchUnits === null;
  if (!mayHaveUnits || tail.indexOf(quotedKeys.meta, Math.max(at - longestCountBytes, 0)) === -1) return usage;
  return { ...usage, searchUnits: readFromTail(tail, 'meta')?.searchUnits ?? null };
}

/** Cache of parsed ends of short answers: few ends differ, and the text from the key on determines the usage. */
const knownEnds = new Map<string, Usage>();
const mostKnownEnds = 1_000;
const longestKnownEnd = 160;

function readEnd(tail: Buffer, at: number, key: Key): Usage | null {
  const end = tail.length - at <= longestKnownEnd ? tail.toString('latin1', at) : undefined;
  const known = end === undefined ? undefined : knownEnds.get(end);
  if (known !== undefined) return known;
  const usage = readDocument(Buffer.concat([openingBrace, tail.subarray(at)]), key);
  if (usage === null || end === undefined) return usage;
  if (knownEnds.size >= mostKnownEnds) knownEnds.clear();
  knownEnds.set(end, Object.freeze(usage));
  return usage;
}

function readFromHead(head: Buffer, key: Key): Usage | null {
  const at = head.lastIndexOf(quotedKeys[key]);
  if (at === -1) return null;
  const start = head.subarray(0, at + longestCountBytes);
  const field = scanJsonHead(start, watched).get(key);
  const count = field === undefined ? null : toCount(start.subarray(field.start, field.end));
  return count === null ? null : toUsage(key, count);
}

function readDocument(document: Buffer, key: Key): Usage | null {
  const count = countIn(document, key);
  return count === null ? null : toUsage(key, count);
}

type Count = Record<string, unknown>;

function countIn(document: Buffer, key: Key): Count | null {
  const scan = scanJson(document, watched);
  const field = scan.ok ? scan.fields.get(key) : undefined;
  return field === undefined ? null : toCount(document.subarray(field.start, field.end));
}

function toCount(raw: Buffer): Count | null {
  const count: unknown = JSON.parse(raw.toString());
  if (isMapping(count)) return count;
  return typeof count === 'number' || typeof count === 'string' ? { duration: count } : null;
}

function toUsage(key: Key, count: Count): Usage | null {
  const usage = readings[key](count);
  return isEmpty(usage) ? null : usage;
}

const isEmpty = (usage: Usage): boolean =>
  usage.promptTokens === null && Object.values(usage).every((value) => value === null);

const secondsIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;

/** The length of a recording, from a whole transcription; some services write it as a text. */
function fromDuration({ duration }: Count): Usage {
  const seconds = secondsIn(typeof duration === 'string' ? Number(duration) : duration);
  return { promptTokens: null, completionTokens: null, totalTokens: null, searchUnits: null, seconds };
}

const readings: Readonly<Record<Key, (count: Count) => Usage>> = {
  usage: fromUsage,
  meta: fromMeta,
  duration: fromDuration,
  usageMetadata: fromGoogle,
};

/** Usage in OpenAI's older and newer shapes, Anthropic's, and Cohere's chat; Voyage and Jina report only the total. */
function fromUsage(usage: unknown): Usage {
  if (countAt(usage, 'total_input_tokens') !== null) return fromInteraction(usage);
  if (isMapping(fieldAt(usage, 'billed_units')) || isMapping(fieldAt(usage, 'tokens'))) return fromMeta(usage);
  const apart = passesApart(usage);
  const hit = plus(countAt(usage, 'cache_read_input_tokens'), apart?.hit);
  const written = plus(countAt(usage, 'cache_creation_input_tokens'), apart?.written);
  const input = plus(countAt(usage, 'input_tokens'), apart?.input);
  const seconds = secondsIn(fieldAt(usage, 'seconds'));
  const units = unitsIn(usage);
  return {
    // Anthropic counts cached tokens beside the other input tokens, other services count them among these.
    promptTokens: countAt(usage, 'prompt_tokens') ?? (input === null ? null : input + (hit ?? 0) + (written ?? 0)),
    completionTokens: countAt(usage, 'completion_tokens') ?? plus(countAt(usage, 'output_tokens'), apart?.output),
    totalTokens: countAt(usage, 'total_tokens'),
    searchUnits: null,
    cachedTokens:
      countAt(fieldAt(usage, 'prompt_tokens_details'), 'cached_tokens') ??
      countAt(fieldAt(usage, 'input_tokens_details'), 'cached_tokens') ??
      // DeepSeek's name for the count of cached tokens.
      countAt(usage, 'prompt_cache_hit_tokens') ??
      hit,
    ...(written !== null && { cacheWriteTokens: written }),
    ...(seconds !== null && { seconds }),
    ...(units !== undefined && { units }),
    ...(apart?.isOfOthers === true && { isOfOthers: true }),
  };
}

const ownPasses: ReadonlySet<unknown> = new Set(['message', 'compaction']);

/** Usage that Anthropic's sums leave out: passes that compact the conversation or call another model. */
function passesApart(usage: unknown) {
  const passes = fieldAt(usage, 'iterations');
  if (!Array.isArray(passes)) return undefined;
  const apart = passes.filter((pass) => fieldAt(pass, 'type') !== 'message');
  if (apart.length === 0) return undefined;
  const sumOf = (name: string): number => apart.reduce<number>((sum, pass) => sum + (countAt(pass, name) ?? 0), 0);
  return {
    input: sumOf('input_tokens'),
    output: sumOf('output_tokens'),
    hit: sumOf('cache_read_input_tokens'),
    written: sumOf('cache_creation_input_tokens'),
    isOfOthers: apart.some((pass) => !ownPasses.has(fieldAt(pass, 'type'))),
  };
}

const plus = (count: number | null, more = 0): number | null =>
  count === null && more === 0 ? null : (count ?? 0) + more;

/** Usage as Google reports it: thoughts are not part of the output, nor tool results of the prompt; cached tokens are part of the prompt. */
function fromGoogle(usage: unknown): Usage {
  const prompt = countAt(usage, 'promptTokenCount');
  const tools = countAt(usage, 'toolUsePromptTokenCount') ?? 0;
  const written = countAt(usage, 'candidatesTokenCount');
  const thoughts = countAt(usage, 'thoughtsTokenCount');
  const totalTokens = countAt(usage, 'totalTokenCount');
  const units = googleUnitsIn(usage);
  const promptTokens = prompt === null ? null : prompt + tools;
  // Where reasoning used up everything, there is no count of zero output.
  const left = totalTokens === null || promptTokens === null ? null : Math.max(totalTokens - promptTokens, 0);
  return {
    promptTokens,
    completionTokens: written === null && thoughts === null ? left : (written ?? 0) + (thoughts ?? 0),
    totalTokens,
    searchUnits: null,
    cachedTokens: countAt(usage, 'cachedContentTokenCount'),
    ...(units !== undefined && { units }),
  };
}

/** Usage in Google's interactions: tool results are not part of the prompt; thoughts are not part of the output where the total shows it. */
function fromInteraction(usage: unknown): Usage {
  const of = (name: string): number => countAt(usage, `total_${name}tokens`) ?? 0;
  const promptTokens = of('input_') + of('tool_use_');
  const totalTokens = countAt(usage, 'total_tokens');
  const written = of('output_');
  const withThoughts = written + of('thought_');
  const units = interactionUnitsIn(usage);
  return {
    promptTokens,
    completionTokens:
      totalTokens === null ? withThoughts : Math.max(written, Math.min(withThoughts, totalTokens - promptTokens)),
    totalTokens,
    searchUnits: null,
    cachedTokens: countAt(usage, 'total_cached_tokens'),
    ...(units !== undefined && { units }),
  };
}

/** Usage from `meta`: Cohere reports billed units under `billed_units`, SiliconFlow counted tokens under `tokens`. */
function fromMeta(meta: unknown): Usage {
  const billed = fieldAt(meta, 'billed_units');
  const counted = fieldAt(meta, 'tokens');
  return {
    promptTokens: countAt(billed, 'input_tokens') ?? countAt(counted, 'input_tokens'),
    completionTokens: countAt(billed, 'output_tokens') ?? countAt(counted, 'output_tokens'),
    totalTokens: null,
    searchUnits: countAt(billed, 'search_units'),
    cachedTokens: null,
  };
}

function firstOf(read: (key: Key) => Usage | null): Usage | null {
  for (const key of keys) {
    const usage = read(key);
    if (usage !== null) return usage;
  }
  return null;
}
