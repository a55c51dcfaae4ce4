/** Sends series queries to a query thread, which it starts on demand and ends when idle. */

import type { Worker } from 'node:worker_threads';
import type { SeriesAnswer, SeriesLine, SeriesQuery, SeriesStore } from '../../core/store/series.ts';
import { inBackground } from '../../lib/time-slices.ts';
import { startStoreThread } from './ledger-thread-host.ts';
import type { SeriesQuestion, SeriesReport, SeriesThreadData } from './series-thread.ts';

/** The thread's code; this works in the source tree and in the build. */
const entry = new URL(import.meta.url.endsWith('.ts') ? './series-thread.ts' : './series-thread.js', import.meta.url);

const idleMs = 60_000;

export interface SeriesThread extends Pick<SeriesStore, 'read'> {
  close(): Promise<void>;
}

export interface SeriesThreadDeps extends SeriesThreadData {
  /** For tests: starts another thread, which dies on request. */
  readonly startWorker?: (data: SeriesThreadData) => Worker;
}

interface Waiting {
  resolve(answer: SeriesAnswer): void;
  reject(reason: Error): void;
}

const startThread = (data: SeriesThreadData): Worker => startStoreThread('series', entry, data);

export function createSeriesThread({ startWorker = startThread, ...data }: SeriesThreadDeps): SeriesThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function start(): Worker {
    const started = startWorker(data);
    let cause: Error | undefined;
    started.on('message', hear);
    started.once('error', (error) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    started.once('exit', () => {
      if (worker !== started) return;
      worker = undefined;
      for (const { reject } of waiting.values()) reject(cause ?? new Error('The thread of the series ended.'));
      waiting.clear();
    });
    return started;
  }

  function hear(report: SeriesReport): void {
    const asked = waiting.get(report.id);
    waiting.delete(report.id);
    if ('fault' in report) asked?.reject(toError(report.fault));
    else {
      const { answer, lines } = report;
      void inBackground.timeSliced(parsing(lines)).then((parsed) => asked?.resolve({ ...answer, lines: parsed }));
    }
    if (waiting.size > 0) return;
    clearTimeout(idle);
    idle = setTimeout(() => void end(), idleMs).unref();
  }

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ending = worker;
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error('The series are closed.'));
    waiting.clear();
    if (ending === undefined) return;
    const ended = new Promise((resolve) => ending.once('exit', resolve));
    ending.postMessage(null);
    await ended;
  }

  return {
    read(query: SeriesQuery) {
      clearTimeout(idle);
      worker ??= start();
      const question: SeriesQuestion = { id: ++lastId, query };
      worker.postMessage(question);
      return new Promise((resolve, reject) => waiting.set(question.id, { resolve, reject }));
    },
    close: end,
  };
}

function* parsing(texts: readonly string[]): Generator<undefined, SeriesLine[], undefined> {
  const lines: SeriesLine[] = [];
  for (const text of texts) {
    // The lines need no check: our own thread wrote them.
    lines.push(...(JSON.parse(text) as SeriesLine[]));
    yield;
  }
  return lines;
}

/** The error as in the thread. Its name shows whether the query or the store is at fault. */
const toError = ({ name, message }: { readonly name: string; readonly message: string }): Error =>
  name === 'RangeError' ? new RangeError(message) : Object.assign(new Error(message), { name });
