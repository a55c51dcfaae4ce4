/** Merges the results of all items into one response, with the upstream's own bytes. */

import { Buffer } from 'node:buffer';
import type { Envelope, Result } from './codecs/codec.ts';
import { sumOf } from './decimals.ts';
import type { Found } from './found.ts';

export interface ItemResult {
  readonly item: number;
  readonly found: Found;
}

const COMMA = ',';
const SPACE = 0x20;

/** Writes the response. `all`: one result per item, in order; `shown`: those that the client gets, in the client's order. */
export function merge(all: readonly Found[], shown: readonly ItemResult[]): Buffer {
  const [first] = all;
  if (first === undefined) throw new TypeError('an answer is put together from results');
  const { envelope } = all.find((one) => countsLess(one, first)) ?? first;
  const { gaps } = envelope;
  const between = Buffer.from(betweenOf(all) ?? likelyBetween(first), 'latin1');
  const counts = countsOf(envelope, all);
  const pieces: Buffer[] = [];
  withCounts(envelope.head, 0, counts, pieces);
  pieces.push(Buffer.from(gaps.first, 'latin1'));
  for (const [index, { item, found }] of shown.entries()) {
    if (index > 0) pieces.push(between);
    withIndex(found.result, item, pieces);
  }
  pieces.push(Buffer.from(gaps.last, 'latin1'));
  withCounts(envelope.tail, envelope.head.length, counts, pieces);
  return Buffer.concat(pieces);
}

/** Whether an answer lacks a count that the other has: a count that only some answers have cannot be summed. */
function countsLess({ counts }: Found, { envelope }: Found): boolean {
  return envelope.counts.some(({ path }) => !counts.has(path));
}

/** The text between two elements, as in any answer that has several. */
function betweenOf(all: readonly Found[]): string | undefined {
  return all.find(({ envelope }) => envelope.gaps.between !== undefined)?.envelope.gaps.between;
}

/** The text between two elements where no answer has two: a line break if elements are on lines of their own, else a comma. */
function likelyBetween({ result: { bytes }, envelope: { gaps } }: Found): string {
  if (gaps.first !== '') return `${COMMA}${gaps.first}`;
  const comma = bytes.indexOf(COMMA);
  return comma !== -1 && bytes[comma + 1] === SPACE ? `${COMMA} ` : COMMA;
}

interface Patch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function countsOf({ counts }: Envelope, all: readonly Found[]): Patch[] {
  return counts.map(({ path, source, start, end }) => {
    // Documents share a search unit: a repeated document needs no further one.
    const counted = path.endsWith('search_units') ? [...new Set(all)] : all;
    const shares = counted.map((one) => one.counts.get(path) ?? '0');
    return { start, end, text: all.length === 1 ? (shares[0] ?? source) : sumOf(shares) };
  });
}

function withCounts(bytes: Buffer, offset: number, counts: readonly Patch[], pieces: Buffer[]): void {
  let at = 0;
  for (const { start, end, text } of counts) {
    if (start < offset || start >= offset + bytes.length) continue;
    pieces.push(bytes.subarray(at, start - offset), Buffer.from(text, 'latin1'));
    at = end - offset;
  }
  pieces.push(bytes.subarray(at));
}

function withIndex({ bytes, index }: Result, item: number, pieces: Buffer[]): void {
  if (index === undefined) {
    pieces.push(bytes);
    return;
  }
  pieces.push(bytes.subarray(0, index.start), Buffer.from(String(item), 'latin1'), bytes.subarray(index.end));
}
