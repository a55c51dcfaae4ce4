/** Finds lone surrogates: JSON can contain them (`\ud800`), and some upstreams' parsers fail on them. */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import { oneSliceBytes } from '../lib/json/json-scan.ts';
import { atOnce, timeSliced } from '../lib/time-slices.ts';
import type { Question } from '../plan/question.ts';

const BACKSLASH = 0x5c;
const escapeLength = '\\uXXXX'.length;
/** The beginning of an escaped surrogate: its hexadecimal digits may be of either case, the `u` may not. */
const marks = ['\\ud', '\\uD'];

const markLength = 3;
const bytesPerSlice = 64 * 1024;

/** The error for a body with a lone surrogate; undefined where there is none. Returns no promise for a short body. */
export function halfCharacterIn(question: Question): GatewayError | undefined | Promise<GatewayError | undefined> {
  const { body } = question;
  const search = halfIn(body);
  return body.length <= oneSliceBytes
    ? refusalOf(question, atOnce(search))
    : timeSliced(search).then((at) => refusalOf(question, at));
}

function refusalOf({ body, scan: { fields } }: Question, at: number | undefined): GatewayError | undefined {
  if (at === undefined) return undefined;
  const name = fields.nameAt(at);
  const where = name === undefined ? 'The body' : `The field ${JSON.stringify(name)}`;
  return new GatewayError('unsupported_parameter', {
    ...(name !== undefined && { param: name }),
    message: `${where} holds one half of a surrogate pair (${body.toString('latin1', at, at + escapeLength)}), which the upstreams of this model cannot read; send whole characters.`,
  });
}

/** Searches a body in steps of `bytesPerSlice`; returns the offset of the first lone surrogate. */
export function* halfIn(body: Buffer): Generator<undefined, number | undefined, undefined> {
  for (let start = 0; start < body.length; start += bytesPerSlice) {
    const first = findHalfBetween(body, start, start + bytesPerSlice);
    if (first !== undefined) return first;
    yield;
  }
  return undefined;
}

/** Offset of the first lone surrogate whose escape begins between the two offsets. */
function findHalfBetween(body: Buffer, start: number, end: number): number | undefined {
  const piece = body.subarray(start, end + markLength - 1);
  let first: number | undefined;
  for (const mark of marks) {
    for (let at = piece.indexOf(mark); at >= 0; at = piece.indexOf(mark, at + 1)) {
      if (first !== undefined && start + at > first) break;
      if (isHalf(body, start + at)) first = start + at;
    }
  }
  return first;
}

function isHalf(body: Buffer, at: number): boolean {
  const unit = unitAt(body, at);
  if (unit === undefined || unit < 0xd800 || unit > 0xdfff) return false;
  if (unit < 0xdc00) return !isBetween(unitAt(body, at + escapeLength), 0xdc00, 0xdfff);
  return !isBetween(unitAt(body, at - escapeLength), 0xd800, 0xdbff);
}

const isBetween = (unit: number | undefined, least: number, most: number): boolean =>
  unit !== undefined && unit >= least && unit <= most;

/** The code unit that an escape stands for; undefined where the backslash is itself escaped. */
function unitAt(body: Buffer, at: number): number | undefined {
  if (at < 0 || body[at] !== BACKSLASH || body[at + 1] !== 0x75) return undefined;
  let backslashes = 0;
  while (body[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  if (backslashes % 2 === 1) return undefined;
  const unit = Number.parseInt(body.toString('latin1', at + 2, at + escapeLength), 16);
  return Number.isNaN(unit) ? undefined : unit;
}
