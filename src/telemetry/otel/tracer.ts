/** Starts or continues the trace of a request, and exports sampled traces: a share of the requests, and no more of those that clients want traced. */

import { performance } from 'node:perf_hooks';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Exchange, RequestHeaders } from '../../core/exchange.ts';
import type { OtelSettings } from '../../core/snapshot.ts';
import { OwnTrace, readTraceParent, sampledTraceOf } from './own-trace.ts';
import { spansOf, type Teller } from './spans.ts';

/** Receives every exchange that has a route. */
export type Tracer = ReturnType<typeof createTracer>;

interface TracerDeps {
  readonly teller: Teller;
  /** Share of requests that are traced, where the configuration sets no other one. */
  readonly sample: number;
  readonly random: () => number;
  emit(span: ReadableSpan): void;
}

const noKeys: ReadonlySet<string> = new Set();

export function createTracer({ teller, sample: standard, random, emit }: TracerDeps) {
  const sampler = new Sampler(random);
  return {
    began(exchange: Exchange, headers: RequestHeaders): void {
      const parent = readTraceParent(headers.get('traceparent'));
      exchange.trace = new OwnTrace(parent, headers.get('tracestate'), () => {
        const { otel } = exchange.snapshot;
        const rule = { sample: otel?.sample ?? standard, keys: otel?.keys ?? noKeys };
        return sampler.isTraced({ wanted: parent?.isSampled, keyId: exchange.key?.id }, rule);
      });
    },
    settled(exchange: Exchange, method: string): void {
      const trace = sampledTraceOf(exchange);
      if (trace === undefined) return;
      for (const span of spansOf(exchange, trace, method, performance.now(), teller)) emit(span);
    },
  };
}

/** Limit of traces that unused shares may add up to. */
const mostSaved = 100;

interface Candidate {
  /** Whether the client's sampling flag is set; undefined where the client sent none. */
  readonly wanted: boolean | undefined;
  readonly keyId: string | undefined;
}

export class Sampler {
  readonly #random: () => number;
  /** How many requests may be traced because the client wants it. */
  #saved = 1;

  constructor(random: () => number) {
    this.#random = random;
  }

  isTraced({ wanted, keyId }: Candidate, { sample, keys }: { sample: number; keys: OtelSettings['keys'] }): boolean {
    if (wanted === undefined) return this.#random() < sample;
    this.#saved = Math.min(this.#saved + sample, mostSaved);
    if (!wanted) return false;
    if (keyId !== undefined && keys.has(keyId)) return true;
    // Sums of shares are slightly too small by rounding.
    if (this.#saved < 1 - 1e-9 || sample === 0) return false;
    this.#saved -= 1;
    return true;
  }
}
