/** Keeps the trace of a request: its context from the headers (W3C), the sampling decision, and a span per upstream call. */

import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { CallTrace, Exchange, ExchangeTrace } from '../../core/exchange.ts';
import type { Target } from '../../core/snapshot.ts';

export interface TracedCall {
  readonly call: object;
  readonly spanId: string;
  readonly target: Target;
  readonly startedMs: number;
  /** End on the monotonic clock; 0 while the call runs. */
  endedMs: number;
  outcome: string | undefined;
  status: number | undefined;
}

export class OwnTrace implements ExchangeTrace {
  readonly traceId: string;
  readonly spanId = createSpanId();
  readonly parent: TraceParent | undefined;
  readonly #state: string | undefined;
  readonly calls: TracedCall[] = [];
  readonly #decide: () => boolean;
  #isSampled: boolean | undefined = undefined;

  /** Starts or continues a trace. `decide` is called once, when the exchange has its key. */
  constructor(parent: TraceParent | undefined, state: string | undefined, decide: () => boolean) {
    this.traceId = parent?.traceId ?? createTraceId();
    this.parent = parent;
    // A trace state has no meaning without its parent.
    this.#state = parent === undefined ? undefined : state;
    this.#decide = decide;
  }

  get isSampled(): boolean {
    this.#isSampled ??= this.#decide();
    return this.#isSampled;
  }

  calling(call: object, target: Target): CallTrace {
    const { traceId, isSampled } = this;
    const spanId = createSpanId();
    if (isSampled) {
      const startedMs = performance.now();
      this.calls.push({ call, spanId, target, startedMs, endedMs: 0, outcome: undefined, status: undefined });
    }
    return { traceparent: toTraceParent({ traceId, spanId, isSampled }), tracestate: this.#state };
  }

  called(call: object, outcome: string, detail: number | string | undefined): void {
    const traced = this.calls.findLast((one) => one.call === call);
    if (traced === undefined) return;
    traced.outcome = outcome;
    if (typeof detail === 'number') traced.status = detail;
    traced.endedMs = outcome === 'answered' ? 0 : performance.now();
  }
}

/** The exchange's trace; undefined where it is not our own class, or not exported. */
export function sampledTraceOf({ trace }: Exchange): OwnTrace | undefined {
  return trace instanceof OwnTrace && trace.isSampled ? trace : undefined;
}

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** Reads a `traceparent` header; undefined where it is invalid, so that a trace begins here. */
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

/** Random bytes as hex digits; they are drawn for many IDs at a time. */
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
