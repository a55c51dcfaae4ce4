/** Defines what a codec does: it locates the items of a list request and the results of its response as byte slices. */

import type { Buffer } from 'node:buffer';
import { elementsOf, type JsonSpan } from '../../lib/json/json-elements.ts';
import { type JsonField, type JsonKind, kindBits } from '../../lib/json/json-scan.ts';

/** Long work that may pause at each `yield`. */
export type TimeSliced<T> = Generator<undefined, T, undefined>;

/** A list request whose body was scanned and found valid. */
export interface ListRequest {
  readonly body: Buffer;
  readonly list: JsonField;
  /** All members of the body, in order; only names that the scan watches are known to be unique. */
  readonly members: readonly Member[];
  /** Spans of the body that are not sent to upstreams. */
  readonly without?: readonly JsonSpan[];
}

export interface Member {
  readonly name: string;
  readonly value: JsonSpan;
}

export interface Items {
  /** Span of the list, or of the only item where the request has no list. */
  readonly span: JsonSpan;
  readonly isList: boolean;
  readonly bytes: readonly Buffer[];
}

export interface Result {
  /** The result's whole element, unchanged. */
  readonly bytes: Buffer;
  /** Span of the item's number in the element; undefined where its position in the list counts as the number. */
  readonly index: JsonSpan | undefined;
  readonly score?: number;
  /** The width of a vector: how many numbers, or characters of base64; undefined for any other result. */
  readonly width?: number | undefined;
}

/** A number in the answer that counts usage: its path, its text and its span. */
export interface Count {
  /** Names from the outside in, joined by dots. */
  readonly path: string;
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

export interface Envelope {
  /** The answer's bytes up to and including the list's bracket; below it, those from the closing bracket on. */
  readonly head: Buffer;
  readonly tail: Buffer;
  /** White space before the first element, between two elements (with the comma), and after the last. */
  readonly gaps: { readonly first: string; readonly between: string | undefined; readonly last: string };
  /** The counts with their offsets, which continue from the head into the tail. */
  readonly counts: readonly Count[];
}

export interface ReadAnswer {
  readonly envelope: Envelope;
  /** One result for each item that has one, with the item's number; in the order of the answer. */
  readonly results: readonly { readonly item: number; readonly result: Result }[];
}

export interface Codec {
  /** Whether each element of the list is an item, or the whole list is one item; undefined where the request cannot be split. */
  takes(request: ListRequest): 'each' | 'one' | undefined;
  /** Fields that do not change an item's result, and so may differ between requests that share it. */
  readonly idle: readonly string[];
  /** The field by which the client limits the results to the best ones. */
  topOf?(request: ListRequest): Top | undefined;
  /** The name of the field whose value the upstream processes again with each item, such as a query. */
  readonly beside?: string;
  /** Reads an answer. Throws `Unfit` where it does not match the request. */
  read(bytes: Buffer, asked: AskedOf): TimeSliced<ReadAnswer>;
}

/** The facts of a call that decide how its answer is read. */
interface AskedOf {
  readonly items: number;
  /** Whether base64 holds 32-bit floats. */
  readonly floats: boolean;
  /** For rerank: how many of the best results are wanted; items without a result rank after all others. */
  readonly best: number;
}

export interface Top {
  readonly span: JsonSpan;
  readonly count: number;
  /** Text to write around the number where the request has no such field. */
  readonly around?: readonly [before: string, behind: string];
}

/** The number of items between two points where the work may pause. */
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

/** Whether the list has elements, and all are of these kinds. */
export function holdsOnly({ firstElement, elementKinds }: JsonField, ...kinds: readonly JsonKind[]): boolean {
  return firstElement !== undefined && (elementKinds & ~kindBits(...kinds)) === 0;
}

export function sourceOf({ body, members }: ListRequest, name: string): string | undefined {
  const member = members.find((one) => one.name === name);
  return member && body.toString('latin1', member.value.start, member.value.end);
}

/** The number in a span; `NaN` where the value is no number. */
export function numberAt(bytes: Buffer, { start, end }: JsonSpan): number {
  const source = bytes.toString('latin1', start, end);
  return /^[-0-9]/.test(source) ? Number(source) : Number.NaN;
}
