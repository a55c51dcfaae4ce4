/** Starts or continues the trace of a request, and exports the spans of sampled ones: a share of them, and no more of those whose clients want them traced. */

import { performance } from 'node:perf_hooks';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Exchange, RequestHeaders } from '../../core/exchange.ts';
import type { OtelSettings } from '../../core/snapshot.ts';
import { OwnTrace, readTraceParent, sampledTraceOf } from './own-trace.ts';
import { spansOf, type Teller } from './spans.ts';

/** Receives every exchange with a route. */
export type Tracer = ReturnType<typeof createTracer>;

interface TracerDeps {
  readonly teller: Teller;
  /** The default of the configuration. */
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

/** Limit of traces saved up from unused shares. */
const mostSaved = 100;

interface Candidate {
  /** The client's sampling flag; undefined where there is none. */
  readonly wanted: boolean | undefined;
  readonly keyId: string | undefined;
}

export class Sampler {
  readonly #random: () => number;
  /** How many requests may be traced on the clients' wish. */
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
