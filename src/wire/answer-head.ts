/** Parses a response head: status, fields and framing. Ambiguous framing is refused. */

import { Buffer } from 'node:buffer';
import { cr, inValue, lf, space } from './characters.ts';
import { malformed, type WireFault } from './fault.ts';
import { type FieldLimits, Fields, readFields } from './fields.ts';
import { lengthBetween, mostBytes } from './head-memo.ts';

export interface HeadMemo {
  made: unknown;
}

export interface AnswerHead {
  readonly status: number;
  /** The reason phrase, one character per byte; it may be empty. */
  readonly statusText: string;
  /** Names and values alternately, as received. */
  readonly headers: readonly string[];
  /** The headers as fields. In a cached head they have the length of the first such head. */
  readonly fields: Fields;
  /** What a reader has computed from the head; shared by all heads that differ only in the length. Undefined where the head is not kept. */
  memo: HeadMemo | undefined;
  /** The announced length; 0 where the status allows no body; `chunked`; or `to-end` for a body that ends with the connection. */
  readonly bodyBytes: number | 'chunked' | 'to-end';
  readonly keepAlive: boolean;
  /** How long the server keeps an idle connection, in seconds; undefined if it does not say. */
  readonly keepAliveS: number | undefined;
}

const lengthPattern = /^[0-9]{1,15}$/;

/** Parses the head in `bytes` up to `endsAt`, with its blank line; `isHead`: it answers a HEAD request. */
export function readAnswerHead(
  bytes: Buffer,
  endsAt: number,
  limits: FieldLimits,
  isHead: boolean,
): AnswerHead | WireFault {
  const text = bytes.toString('latin1', 0, endsAt - 2);
  const digit = text.charCodeAt(7);
  if (!text.startsWith('HTTP/1.') || (digit !== 0x31 && digit !== 0x30) || text.charCodeAt(8) !== space) {
    return malformed('The answer does not begin as one of HTTP/1 does.');
  }
  const status = statusAt(text, 9);
  let at = 12;
  if (status === undefined || (text.charCodeAt(at) !== space && text.charCodeAt(at) !== cr)) {
    return malformed('The status of the answer is no number of three digits.');
  }
  if (text.charCodeAt(at) === space) at += 1;
  const reasonStart = at;
  while (inValue[text.charCodeAt(at)] === 1) at += 1;
  if (text.charCodeAt(at) !== cr || text.charCodeAt(at + 1) !== lf) {
    return malformed('The reason phrase of the answer holds a control character.');
  }
  const statusText = text.slice(reasonStart, at);
  const spans: number[] = [];
  const fault = readFields(bytes, at + 2, endsAt - 2, limits, spans);
  if (fault !== undefined) return fault;
  const fields = new Fields(text, spans);
  const hasNoBody = isHead || status < 200 || status === 204 || status === 304;
  return judge({ status, statusText, fields, isOld: digit === 0x30, hasNoBody });
}

interface KnownHead {
  readonly head: AnswerHead;
  /** The bytes before and after the digits of its `Content-Length`. */
  readonly before: Buffer;
  readonly behind: Buffer;
}

/** After this many different heads in a row, only few are kept for comparison: perhaps each contains an ID of its own. */
const mostMisses = 16;
const keptOf = 256;

/** Caches the last head of a server: within a second, many servers send heads that differ only in the length. */
export class AnswerMemo {
  #known: KnownHead | undefined = undefined;
  #misses = 0;

  /** Reads a head like `readAnswerHead`, which is called if the head differs in more than the length. */
  read(bytes: Buffer, endsAt: number, limits: FieldLimits, isHead: boolean): AnswerHead | WireFault {
    const same = isHead ? undefined : this.#find(bytes, endsAt);
    if (same !== undefined) return same;
    const head = readAnswerHead(bytes, endsAt, limits, isHead);
    if (!isHead && !('kind' in head)) this.#keep(head, bytes, endsAt);
    return head;
  }

  #find(bytes: Buffer, endsAt: number): AnswerHead | undefined {
    if (this.#known === undefined) return undefined;
    const { head, before, behind } = this.#known;
    const length = lengthBetween(before, behind, bytes, endsAt);
    if (length === undefined) return undefined;
    this.#misses = 0;
    return length === head.bodyBytes ? head : withLength(head, length);
  }

  #keep(head: AnswerHead, bytes: Buffer, endsAt: number): void {
    this.#known = undefined;
    this.#misses += 1;
    if (this.#misses > mostMisses && this.#misses % keptOf !== 0) return;
    // A status without a body may announce the length of another response's body, which is not that of this one.
    if (endsAt > mostBytes || head.status < 200 || head.status === 204 || head.status === 304) return;
    const span = head.fields.spanOf('content-length');
    if (span === undefined) return;
    const before = Buffer.from(bytes.subarray(0, span.start));
    const behind = Buffer.from(bytes.subarray(span.end, endsAt));
    // A head whose length begins with a zero is not kept: its copies would have the length without the zero.
    if (lengthBetween(before, behind, bytes, endsAt) === undefined) return;
    head.memo = { made: undefined };
    this.#known = { head, before, behind };
  }
}

function withLength(head: AnswerHead, length: number): AnswerHead {
  const at = head.headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === 'content-length');
  return { ...head, headers: head.headers.with(at + 1, String(length)), bodyBytes: length };
}

function statusAt(text: string, at: number): number | undefined {
  const [a, b, c] = [text.charCodeAt(at) - 0x30, text.charCodeAt(at + 1) - 0x30, text.charCodeAt(at + 2) - 0x30];
  const isNumber = a >= 1 && a <= 9 && b >= 0 && b <= 9 && c >= 0 && c <= 9;
  return isNumber ? a * 100 + b * 10 + c : undefined;
}

interface Judged {
  readonly status: number;
  readonly statusText: string;
  readonly fields: Fields;
  readonly isOld: boolean;
  readonly hasNoBody: boolean;
}

function judge({ status, statusText, fields, isOld, hasNoBody }: Judged): AnswerHead | WireFault {
  let length: string | undefined;
  let isChunked = false;
  let keepAlive = !isOld;
  let keepAliveS: number | undefined;
  for (let i = 0; i < fields.count; i += 1) {
    switch (fields.nameLength(i)) {
      case 10:
        if (fields.isNamed(i, 'connection')) {
          const value = fields.value(i).toLowerCase();
          if (/(?:^|[ \t,])close(?:$|[ \t,])/.test(value)) keepAlive = false;
          else if (isOld && /(?:^|[ \t,])keep-alive(?:$|[ \t,])/.test(value)) keepAlive = true;
        } else if (fields.isNamed(i, 'keep-alive')) {
          const [, seconds] = /(?:^|[\s,;])timeout\s*=\s*"?([0-9]{1,9})/i.exec(fields.value(i)) ?? [];
          if (seconds !== undefined) keepAliveS = Number(seconds);
        }
        break;
      case 14:
        if (!fields.isNamed(i, 'content-length')) break;
        if (length !== undefined) return malformed('The answer announces its length twice.');
        length = fields.value(i);
        if (!lengthPattern.test(length)) return malformed('The length that the answer announces is no plain number.');
        break;
      case 17:
        if (!fields.isNamed(i, 'transfer-encoding')) break;
        if (isChunked || fields.value(i).toLowerCase() !== 'chunked' || fields.hasTabBehind(i)) {
          return malformed('The answer has a transfer coding that is not understood.');
        }
        isChunked = true;
        break;
    }
  }
  if (isChunked && length !== undefined) return malformed('The answer has a length and comes in chunks.');
  if (isChunked && isOld) return malformed('The answer is one of HTTP/1.0 and comes in chunks.');
  const bodyBytes = hasNoBody ? 0 : isChunked ? 'chunked' : length === undefined ? 'to-end' : Number(length);
  keepAlive &&= bodyBytes !== 'to-end';
  return {
    status,
    statusText,
    headers: fields.list,
    fields,
    memo: undefined,
    bodyBytes,
    keepAlive,
    keepAliveS,
  };
}
