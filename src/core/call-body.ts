/** Defines the body of an upstream call: one buffer if small, else the pieces it was assembled from, without a copy. */

import { Buffer } from 'node:buffer';
import type { StoredBytes } from '../lib/file-bytes.ts';
import { replaceSpan } from '../lib/json/json-scan.ts';

/** A body longer than this is sent in slices, and the sender frees each slice that it has sent. */
export const wholeBodyBytes = 256 * 1024;

type BodyPiece = Buffer | StoredBytes;

export type CallBody = Buffer | readonly BodyPiece[];

export function lengthOf(body: CallBody): number {
  return Buffer.isBuffer(body) ? body.length : body.reduce((bytes, piece) => bytes + piece.length, 0);
}

/** Joins the pieces, for callers that need the whole body at once; never called for a body in a file. */
export function inOnePiece(body: CallBody): Buffer {
  if (Buffer.isBuffer(body)) return body;
  const [only] = body;
  if (body.length === 1 && Buffer.isBuffer(only)) return only;
  const inMemory = body.filter((piece) => Buffer.isBuffer(piece));
  if (inMemory.length < body.length) throw new TypeError('a body that lies in a file is not read whole');
  return Buffer.concat(inMemory);
}

export function withSpan(body: CallBody, start: number, end: number, text: string): CallBody {
  const patch = Buffer.from(text);
  if (Buffer.isBuffer(body) && body.length <= wholeBodyBytes) return replaceSpan(body, start, end, patch);
  const pieces = Buffer.isBuffer(body) ? [body] : body;
  return [...between(pieces, 0, start), patch, ...between(pieces, end, Number.POSITIVE_INFINITY)];
}

function between(pieces: readonly BodyPiece[], start: number, end: number): BodyPiece[] {
  const found: BodyPiece[] = [];
  let at = 0;
  for (const piece of pieces) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, piece.length);
    if (from < to) found.push(piece.subarray(from, to));
    at += piece.length;
  }
  return found;
}
