/** Locates the items of a request and the results of a response as byte slices. */

import type { Buffer } from 'node:buffer';
import { elementsOf, type JsonSpan } from '../../lib/json/json-elements.ts';
import { type JsonField, type JsonKind, kindBits } from '../../lib/json/json-scan.ts';

/** Long work that may pause at each `yield`. */
export type TimeSliced<T> = Generator<undefined, T, undefined>;

/** A request whose body was scanned, and is valid. */
export interface ListRequest {
  readonly body: Buffer;
  /** The field with the items. */
  readonly list: JsonField;
  /** All members of the body, in order; unwatched names may be repeated. */
  readonly members: readonly Member[];
  /** Spans of the body that are not sent to upstreams. */
  readonly without?: readonly JsonSpan[];
}

export interface Member {
  readonly name: string;
  readonly value: JsonSpan;
}

export interface Items {
  /** Span of the list, or of the single item. */
  readonly span: JsonSpan;
  readonly isList: boolean;
  /** The unchanged bytes of each item. */
  readonly bytes: readonly Buffer[];
}

export interface Result {
  /** The whole element, unchanged. */
  readonly bytes: Buffer;
  /** Span of the item's number; undefined where its position in the list counts. */
  readonly index: JsonSpan | undefined;
  /** For rerank. */
  readonly score?: number;
  /** For embeddings: how many numbers, or characters of base64; undefined for anything else. */
  readonly width?: number | undefined;
}

/** A number counted in an answer: its path, and its span. */
export interface Count {
  /** A dotted name. */
  readonly path: string;
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

export interface Envelope {
  /** Up to the list's first byte, and after its last. */
  readonly head: Buffer;
  readonly tail: Buffer;
  /** White space before the first element, between two (with the comma), and after the last. */
  readonly gaps: { readonly first: string; readonly between: string | undefined; readonly last: string };
  /** Offsets in the head, and in the tail counted from the end of the head. */
  readonly counts: readonly Count[];
}

export interface ReadAnswer {
  readonly envelope: Envelope;
  /** One for each item with a result, by its number; in the received order. */
  readonly results: readonly { readonly item: number; readonly result: Result }[];
}

export interface Codec {
  /** Whether each element of the list is an item, or the whole list is one; undefined where the request cannot be split. */
  takes(request: ListRequest): 'each' | 'one' | undefined;
  /** Fields that do not change an item's result: they may differ. */
  readonly idle: readonly string[];
  /** The field by which the client limits the results to the best. */
  topOf?(request: ListRequest): Top | undefined;
  /** The field whose value is processed again with each item. */
  readonly beside?: string;
  /** Throws `Unfit` where the answer does not match the request. */
  read(bytes: Buffer, asked: AskedOf): TimeSliced<ReadAnswer>;
}

/** The facts of a call that decide how its answer is read. */
interface AskedOf {
  readonly items: number;
  /** Base64 holds 32-bit floats. */
  readonly floats: boolean;
  /** For rerank: the number of best results; missing items rank after all others. */
  readonly best: number;
}

export interface Top {
  readonly span: JsonSpan;
  readonly count: number;
  /** The text around the number, where the request has no such field. */
  readonly around?: readonly [before: string, behind: string];
}

/** Work between two points where it may pause. */
const itemsPerPiece = 64;

export function* itemsOf({ body, list }: ListRequest, kind: 'each' | 'one'): TimeSliced<Items> {
  if (kind === 'one') return { span: list, isList: false, bytes: [body.subarray(list.start, list.end)] };
  const bytes: Buffer[] = [];
  for (const { start, end } of elementsOf(body, list)) {
    bytes.push(body.subarray(start, end));
    if (bytes.length % itemsPerPiece === 0) yield;
  }
  return { span: list, isList: true, bytes };
}

/** Whether there are elements, all of these kinds. */
export function holdsOnly({ firstElement, elementKinds }: JsonField, ...kinds: readonly JsonKind[]): boolean {
  return firstElement !== undefined && (elementKinds & ~kindBits(...kinds)) === 0;
}

export function sourceOf({ body, members }: ListRequest, name: string): string | undefined {
  const member = members.find((one) => one.name === name);
  return member && body.toString('latin1', member.value.start, member.value.end);
}

/** `NaN` where the value is no number. */
export function numberAt(bytes: Buffer, { start, end }: JsonSpan): number {
  const source = bytes.toString('latin1', start, end);
  return /^[-0-9]/.test(source) ? Number(source) : Number.NaN;
}
