/** Parses a response head: status, fields and framing. Ambiguous framing is refused. */

import type { Buffer } from 'node:buffer';
import { cr, inValue, lf, space } from './characters.ts';
import { malformed, type WireFault } from './fault.ts';
import { type FieldLimits, Fields, readFields } from './fields.ts';

export interface AnswerHead {
  readonly status: number;
  /** The reason phrase, each byte a character; it may be empty. */
  readonly statusText: string;
  readonly fields: Fields;
  /** As announced; 0 where the status allows none; `chunked`, or up to the end of the connection. */
  readonly bodyBytes: number | 'chunked' | 'to-end';
  /** The connection may be used again. */
  readonly keepAlive: boolean;
  /** How long the server keeps an idle connection, in seconds, by its own header. */
  readonly keepAliveS: number | undefined;
}

const lengthPattern = /^[0-9]{1,15}$/;

/** `bytes` up to `endsAt` are a head with its blank line; `isHead`: it answers a HEAD request. */
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
  const fault = readFields(text, at + 2, limits, spans);
  if (fault !== undefined) return fault;
  const fields = new Fields(text, spans);
  const hasNoBody = isHead || status < 200 || status === 204 || status === 304;
  return judge({ status, statusText, fields, isOld: digit === 0x30, hasNoBody });
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
  return { status, statusText, fields, bodyBytes, keepAlive: keepAlive && bodyBytes !== 'to-end', keepAliveS };
}
