/** Trace context of a request from its headers (W3C), and generated IDs. */

import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** Undefined for an invalid header: then a trace begins here. */
export function readTraceParent(header: string | undefined): TraceParent | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function toTraceParent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

const pool = Buffer.alloc(4096);
let used = pool.length;

/** Random bytes are drawn for many IDs at a time. */
function hexOf(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  used += bytes;
  return zeros.test(text) ? hexOf(bytes) : text;
}

export const createTraceId = (): string => hexOf(16);
export const createSpanId = (): string => hexOf(8);
