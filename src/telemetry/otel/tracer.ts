/** Starts or continues the trace of a request, and exports the spans of sampled ones: a share of them, and no more of those whose clients want them traced. */

import { performance } from 'node:perf_hooks';
import type { Exchange } from '../../core/exchange.ts';
import type { RequestHeaders } from '../../core/request-headers.ts';
import type { OtelSettings } from '../../core/snapshot.ts';
import { OwnTrace, sampledTraceOf } from './own-trace.ts';
import { type Span, spansOf, type Teller } from './spans.ts';
import { readTraceParent } from './trace-context.ts';

/** Is told of every exchange that a route is found for. */
export type Tracer = ReturnType<typeof createTracer>;

interface TracerDeps {
  readonly teller: Teller;
  /** Where the configuration does not say. */
  readonly sample: number;
  readonly random: () => number;
  emit(span: Span): void;
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

/** What may be traced at once of what the share left over. */
const mostSaved = 100;

interface Candidate {
  /** What the client's flag says; undefined where it said nothing. */
  readonly wanted: boolean | undefined;
  readonly keyId: string | undefined;
}

export class Sampler {
  readonly #random: () => number;
  /** How many requests whose clients want them traced may be. */
  #saved = 1;

  constructor(random: () => number) {
    this.#random = random;
  }

  isTraced({ wanted, keyId }: Candidate, { sample, keys }: { sample: number; keys: OtelSettings['keys'] }): boolean {
    if (wanted === undefined) return this.#random() < sample;
    this.#saved = Math.min(this.#saved + sample, mostSaved);
    if (!wanted) return false;
    if (keyId !== undefined && keys.has(keyId)) return true;
    // Sums of shares come to a little less than they should.
    if (this.#saved < 1 - 1e-9 || sample === 0) return false;
    this.#saved -= 1;
    return true;
  }
}
