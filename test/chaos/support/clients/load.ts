/** Limited load on a gateway from a separate thread: a closed loop over reused connections, or an open one at a fixed rate. */

import { Worker } from 'node:worker_threads';
import type { Latency } from '../readings/latency.ts';

export interface LoadTask {
  readonly port: number;
  /** Whole requests as bytes, sent in turn. */
  readonly requests: readonly Buffer[];
  /** At once; each carries one request at a time, and is opened again where the server closes it. */
  readonly connections: number;
  /** Open loop: requests leave at fixed times, and latency counts from when they were due. Absent: a request follows an answer. */
  readonly ratePerSecond?: number;
  /** Closed loop: rest between an answer and the next request. */
  readonly pauseMs?: number;
  readonly maxRequests?: number;
  readonly maxMs: number;
  /** An answer that is not whole by then counts as broken. */
  readonly answerTimeoutMs?: number;
  /** Clients that leave: of this share, each breaks its connection at a random moment before `withinMs`. */
  readonly abandon?: { readonly share: number; readonly withinMs: number; readonly seed: number };
}

export interface LoadReport {
  readonly sent: number;
  /** Whole answers, of any status. */
  readonly answered: number;
  /** Requests without a whole answer: closed, reset, malformed, late. */
  readonly broken: number;
  /** Connections that could not be made; no request was sent on them. */
  readonly refused: number;
  /** Requests whose client left. */
  readonly abandoned: number;
  /** Open loop: due, but still waiting for a connection at the end. */
  readonly unsent: number;
  /** Whole answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The first of those that had no whole 2xx answer, each in a line. */
  readonly failures: readonly string[];
  readonly durationMs: number;
  /** Of whole answers. */
  readonly latency: Latency;
}

/** What happened in a short stretch of time. */
export interface LoadWindow {
  readonly answered: number;
  /** Answers of other statuses than 2xx, and requests without a whole one. */
  readonly failed: number;
  /** Of the whole answers. */
  readonly p99Ms: number;
}

export interface RunningLoad {
  /** So far. */
  readonly answered: number;
  readonly broken: number;
  /** Ends by itself at `maxRequests` or `maxMs`. */
  readonly ended: Promise<LoadReport>;
  /** Sends nothing more, waits for the answers that are due, and reports. */
  stop(): Promise<LoadReport>;
}

/** Where the thread counts as it goes. */
export const counterIndex = { answered: 0, broken: 1 } as const;

export interface LoadWorkerData {
  readonly task: LoadTask;
  /** Undefined if no windows are reported. */
  readonly windowMs: number | undefined;
  readonly counters: Int32Array;
}

/** What a load ends with at the latest: a test, or whatever else calls back when it is over. */
export interface Scope {
  after(end: () => Promise<void>): void;
}

/** Shows progress while it runs. */
export interface LoadListener {
  readonly windowMs: number;
  onWindow(window: LoadWindow): void;
}

/** The messages of the thread: windows while it runs, the report at its end. */
export type LoadMessage =
  | { readonly kind: 'window'; readonly window: LoadWindow }
  | { readonly kind: 'report'; readonly report: LoadReport };

export function startLoad(scope: Scope, task: LoadTask, listener?: LoadListener): RunningLoad {
  const counters = new Int32Array(new SharedArrayBuffer(8));
  const workerData: LoadWorkerData = { task, windowMs: listener?.windowMs, counters };
  const worker = new Worker(new URL('load-worker.ts', import.meta.url), { workerData });
  const ended = new Promise<LoadReport>((resolve, reject) => {
    worker.on('message', (message: LoadMessage) => {
      if (message.kind === 'window') listener?.onWindow(message.window);
      else resolve(message.report);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the load ended with ${code} and no report`)));
  });
  // The caller of the report gets the error; a load without one ends with its test.
  ended.catch(() => undefined);
  scope.after(async () => {
    await worker.terminate();
  });
  return {
    get answered() {
      return Atomics.load(counters, counterIndex.answered);
    },
    get broken() {
      return Atomics.load(counters, counterIndex.broken);
    },
    ended,
    stop() {
      worker.postMessage('stop');
      return ended;
    },
  };
}

export function runLoad(scope: Scope, task: LoadTask): Promise<LoadReport> {
  return startLoad(scope, task).ended;
}
