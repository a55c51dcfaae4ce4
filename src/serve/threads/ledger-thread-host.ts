/** Starts the thread that imports the journal, receives its messages, and restarts it if it dies. */

import { Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.ts';
import { type Importer, type ImporterState, nothingImported } from '../../journal/importer.ts';
import { threadEnvironment } from '../../lib/threads.ts';
import type { LedgerThreadData, LedgerThreadOrder, LedgerThreadReport } from './ledger-thread.ts';

/** The thread's code; this works in the source tree and in the build. */
const entry = new URL(import.meta.url.endsWith('.ts') ? './ledger-thread.ts' : './ledger-thread.js', import.meta.url);

/** A limit makes V8 collect garbage, which grew to 50 MB without one. A batch of 8 MB of journal, or a query over months, needs far less. */
const resourceLimits = { maxOldGenerationSizeMb: 512 };

const firstRestMs = 100;
const longestRestMs = 10_000;
/** A thread that does not end within this time is terminated; its transaction is undone, and repeated at the next start. */
const closeWithinMs = 10_000;

export interface LedgerThreadDeps extends LedgerThreadData {
  readonly log: Log;
  /** For tests: starts another thread, which dies on request. */
  readonly startWorker?: (data: LedgerThreadData) => Worker;
}

const startThread = (data: LedgerThreadData): Worker => startStoreThread('ledger', entry, data);

export const startStoreThread = (name: string, entry: URL, workerData: unknown): Worker =>
  new Worker(entry, { workerData, name, env: threadEnvironment(), resourceLimits });

export function startLedgerThread({ log, startWorker = startThread, ...data }: LedgerThreadDeps): Importer {
  const caughtUp = Promise.withResolvers<void>();
  let state: ImporterState = nothingImported;
  let importedBefore = 0;
  let { retentionMs } = data;
  let worker: Worker | undefined;
  let restTimer: NodeJS.Timeout | undefined;
  let deaths = 0;
  let isClosing = false;

  function hear(report: LedgerThreadReport): void {
    switch (report.kind) {
      case 'caught-up':
        deaths = 0;
        caughtUp.resolve();
        break;
      case 'state':
        state = { ...report.state, importedRows: importedBefore + report.state.importedRows };
        break;
      case 'log':
        log[report.level](report.message, report.fields);
        break;
    }
  }

  function start(): void {
    const started = startWorker({ ...data, retentionMs });
    let cause: unknown;
    worker = started;
    started.on('message', hear);
    started.once('error', (error) => {
      cause = error;
    });
    started.once('exit', (code) => {
      worker = undefined;
      if (isClosing) return;
      const restMs = Math.min(longestRestMs, firstRestMs * 2 ** deaths);
      deaths += 1;
      importedBefore = state.importedRows;
      const reason = cause instanceof Error ? cause.message : `it ended with ${code}`;
      state = { ...state, failure: reason };
      log.error('ledger thread crashed', { reason });
      restTimer = setTimeout(start, restMs);
    });
  }

  const post = (order: LedgerThreadOrder): void => worker?.postMessage(order);

  start();
  return {
    caughtUp: () => caughtUp.promise,
    state: () => state,
    retain(ms) {
      retentionMs = ms;
      post({ kind: 'retain', retentionMs: ms });
    },
    async close() {
      isClosing = true;
      clearTimeout(restTimer);
      const ending = worker;
      if (ending !== undefined) {
        const ended = new Promise((resolve) => ending.once('exit', resolve));
        post({ kind: 'close' });
        const timer = setTimeout(() => void ending.terminate(), closeWithinMs);
        await ended;
        clearTimeout(timer);
      }
      caughtUp.resolve();
    },
  };
}
