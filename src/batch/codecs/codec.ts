/** Locates the items of a request and the results of a response as byte slices. */

import type { Buffer } from 'node:buffer';
import { elementsOf, type JsonSpan } from '../../lib/json/json-elements.ts';
import { type JsonField, type JsonKind, kindBits } from '../../lib/json/json-scan.ts';

/** Long work, with places to stop. */
export type TimeSliced<T> = Generator<undefined, T, undefined>;

/** A request as it came: its body was scanned, and is valid. */
export interface ListRequest {
  readonly body: Buffer;
  /** What holds the items. */
  readonly list: JsonField;
  /** All that stands in it, in its order; a name that nobody watches may stand there twice. */
  readonly members: readonly Member[];
  /** What of the body is kept from upstreams. */
  readonly without?: readonly JsonSpan[];
}

export interface Member {
  readonly name: string;
  readonly value: JsonSpan;
}

/** The items of a request. */
export interface Items {
  /** What holds them: a list, or the one item itself. */
  readonly place: JsonSpan;
  readonly isList: boolean;
  /** Each as it stands there. */
  readonly bytes: readonly Buffer[];
}

/** What an upstream says of one item. */
export interface Result {
  /** The whole element, as it came. */
  readonly bytes: Buffer;
  /** Where the item's number stands in it; undefined where its place says it. */
  readonly index: JsonSpan | undefined;
  /** Of ranks. */
  readonly score?: number;
  /** Of vectors: how many numbers, or characters of base64; undefined where it is something else. */
  readonly width?: number | undefined;
}

/** A number that an answer counts: what it is called, and where it stands. */
export interface Count {
  /** Names with dots between. */
  readonly path: string;
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** What stands around the results in an answer. */
export interface Envelope {
  /** Up to the list's first byte, and from behind its last. */
  readonly head: Buffer;
  readonly tail: Buffer;
  /** White space before the first element, between two (with the comma), and behind the last. */
  readonly gaps: { readonly first: string; readonly between: string | undefined; readonly last: string };
  /** Offsets in the head, and in the tail from the end of the head on. */
  readonly counts: readonly Count[];
}

export interface ReadAnswer {
  readonly envelope: Envelope;
  /** Of each item that there is a result for, by its number; in the order in which they came. */
  readonly results: readonly { readonly item: number; readonly result: Result }[];
}

export interface Codec {
  /** What the items are: each element of the list, or all of it one; undefined where the request cannot be taken apart. */
  takes(request: ListRequest): 'each' | 'one' | undefined;
  /** Names of fields that do not change what is said of an item: they may differ. */
  readonly idle: readonly string[];
  /** The field by which the client asks for the best of them alone. */
  topOf?(request: ListRequest): Top | undefined;
  /** The field whose value is read once more with each item. */
  readonly beside?: string;
  /** Throws `Unfit` where it is not what was asked for. */
  read(bytes: Buffer, asked: AskedOf): TimeSliced<ReadAnswer>;
}

/** What one call was asked. */
interface AskedOf {
  readonly items: number;
  /** What is in base64 are 32-bit floats. */
  readonly floats: boolean;
  /** Of ranks: for how many of the best; what it says nothing of stands behind all others. */
  readonly best: number;
}

/** How many of the best are wanted. */
export interface Top {
  readonly place: JsonSpan;
  readonly count: number;
  /** What stands around the number, where the request has none. */
  readonly around?: readonly [before: string, behind: string];
}

/** Between two places to stop. */
const itemsPerPiece = 64;

export function* itemsOf({ body, list }: ListRequest, kind: 'each' | 'one'): TimeSliced<Items> {
  if (kind === 'one') return { place: list, isList: false, bytes: [body.subarray(list.start, list.end)] };
  const bytes: Buffer[] = [];
  for (const { start, end } of elementsOf(body, list)) {
    bytes.push(body.subarray(start, end));
    if (bytes.length % itemsPerPiece === 0) yield;
  }
  return { place: list, isList: true, bytes };
}

/** Whether there are elements, and of these kinds alone. */
export function holdsOnly({ firstElement, elementKinds }: JsonField, ...kinds: readonly JsonKind[]): boolean {
  return firstElement !== undefined && (elementKinds & ~kindBits(...kinds)) === 0;
}

export function sourceOf({ body, members }: ListRequest, name: string): string | undefined {
  const member = members.find((one) => one.name === name);
  return member && body.toString('latin1', member.value.start, member.value.end);
}

/** `NaN` where something else stands there. */
export function numberAt(bytes: Buffer, { start, end }: JsonSpan): number {
  const source = bytes.toString('latin1', start, end);
  return /^[-0-9]/.test(source) ? Number(source) : Number.NaN;
}
