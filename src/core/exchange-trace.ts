/** The trace of an exchange, as far as the pipeline needs it. */

import type { Target } from './snapshot.ts';

/** What a call says of the trace to its upstream. */
export interface CallTrace {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

export interface ExchangeTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Whether anyone will find it. */
  readonly isSampled: boolean;
  /** A call is about to go to a target; `call` is any object that tells it from the other calls of the exchange. */
  calling(call: object, target: Target): CallTrace;
  /** What came of it. One that was answered well goes on until the exchange is over. */
  called(call: object, outcome: string, detail: number | string | undefined): void;
}
