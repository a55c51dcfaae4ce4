/** Parses the part of a response around its results: an object with a list, or the list alone. */

import type { Buffer } from 'node:buffer';
import { Unfit } from '../../core/translation.ts';
import type { JsonSpan } from '../../lib/json/json-elements.ts';
import { OPEN_BRACE, OPEN_BRACKET } from '../../lib/json/json-tokens.ts';
import { JsonWalk, JsonWalkError } from '../../lib/json/json-walk.ts';
import { whatIsNoJson } from '../../lib/json/no-json.ts';
import type { Count, Envelope, TimeSliced } from './codec.ts';

interface Layout {
  /** Names that the member with the results may have; an answer with two of them is refused. */
  readonly lists: readonly string[];
  element(walk: JsonWalk, index: number): void;
}

const countedIn: ReadonlySet<string> = new Set(['usage', 'meta']);

/** Reads an answer and its results by `layout`. It may pause after each element. Throws `Unfit` where the answer cannot be read. */
export function* readEnvelope(bytes: Buffer, layout: Layout): TimeSliced<Envelope> {
  const walk = new JsonWalk(bytes);
  try {
    return yield* walk.peek() === OPEN_BRACKET ? readBare(walk, layout) : readObject(walk, layout);
  } catch (error) {
    if (error instanceof JsonWalkError) throw new Unfit(whatIsNoJson(bytes, error.message));
    throw error;
  }
}

function* readBare(walk: JsonWalk, layout: Layout): TimeSliced<Envelope> {
  const list = yield* readList(walk, layout);
  walk.end();
  return toEnvelope(walk.bytes, list, []);
}

function* readObject(walk: JsonWalk, layout: Layout): TimeSliced<Envelope> {
  let list: ReadList | undefined;
  const counts: Count[] = [];
  for (const name of walk.members()) {
    if (layout.lists.includes(name) && walk.peek() === OPEN_BRACKET) {
      if (list !== undefined) throw new Unfit('the answer has two lists of results');
      list = yield* readList(walk, layout);
    } else if (countedIn.has(name)) readCounts(walk, name, counts);
    else walk.value();
  }
  walk.end();
  if (list === undefined) throw new Unfit(`the answer has no list "${layout.lists[0] ?? ''}"`);
  return toEnvelope(walk.bytes, list, counts);
}

interface ReadList extends JsonSpan {
  /** The text from the end of an element to the beginning of the next. */
  readonly between: string | undefined;
  readonly firstAt: number;
  readonly lastEnd: number;
}

function* readList(walk: JsonWalk, { element }: Layout): TimeSliced<ReadList> {
  let firstAt = -1;
  let lastEnd = -1;
  let between: string | undefined;
  walk.peek();
  const start = walk.at;
  for (const index of walk.elements()) {
    walk.peek();
    if (index === 0) firstAt = walk.at;
    else if (index === 1) between = walk.bytes.toString('latin1', lastEnd, walk.at);
    element(walk, index);
    lastEnd = walk.at;
    yield;
  }
  const end = walk.at;
  const inner = firstAt === -1 ? end - 1 : firstAt;
  return { start, end, between, firstAt: inner, lastEnd: lastEnd === -1 ? inner : lastEnd };
}

function toEnvelope(bytes: Buffer, list: ReadList, counts: readonly Count[]): Envelope {
  const cut = list.end - list.start - 2;
  return {
    head: bytes.subarray(0, list.start + 1),
    tail: bytes.subarray(list.end - 1),
    gaps: {
      first: bytes.toString('latin1', list.start + 1, list.firstAt),
      between: list.between,
      last: bytes.toString('latin1', list.lastEnd, list.end - 1),
    },
    counts: counts.map(({ start, end, ...count }) => {
      const moved = start < list.start ? 0 : cut;
      return { ...count, start: start - moved, end: end - moved };
    }),
  };
}

function readCounts(walk: JsonWalk, path: string, counts: Count[]): void {
  const byte = walk.peek();
  if (byte === OPEN_BRACE) {
    walk.object((name) => readCounts(walk, `${path}.${name}`, counts));
    return;
  }
  const { start, end } = walk.value();
  const isNumber = byte === 0x2d || (byte >= 0x30 && byte <= 0x39);
  if (isNumber) counts.push({ path, source: walk.bytes.toString('latin1', start, end), start, end });
}
