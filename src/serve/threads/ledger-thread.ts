/** Imports the journal into the store, in a thread of its own, and reports progress to the main thread. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Log } from '../../core/log.ts';
import type { Store } from '../../core/store/store.ts';
import { createImporter, type ImporterState, nothingImported } from '../../journal/importer.ts';
import { createJournalReader } from '../../journal/journal-reader.ts';
import { createOrphanClaims } from '../../journal/orphans.ts';
import { systemClock } from '../../lib/clock.ts';
import { yieldToOthers } from '../../lib/threads.ts';
import { reasonOf } from '../../lib/thrown.ts';
import { openStore } from '../../store/open-store.ts';
import { lockFile } from '../../store/sqlite/sqlite-file.ts';
import type { StoreLoss } from '../../store/sqlite/sqlite-guard.ts';

export interface LedgerThreadData {
  readonly url: string;
  readonly cwd: string;
  /** Absolute directories of the journals that are imported into this store; this process's own comes first. */
  readonly directories: readonly string[];
  readonly identity: string;
  readonly slot: { readonly number: number; readonly directory: string };
  readonly retentionMs: number;
}

export type LedgerThreadOrder = { readonly kind: 'retain'; readonly retentionMs: number } | { readonly kind: 'close' };

export type LedgerThreadReport =
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'state'; readonly state: ImporterState }
  | {
      readonly kind: 'log';
      readonly level: keyof Log;
      readonly message: string;
      readonly fields: Record<string, unknown>;
    };

const stateEveryMs = 500;
const openPause = { firstMs: 100, longestMs: 2_000 };

/** Steps by which this thread has lower priority. A quarter of a busy core remains: enough for thousands of rows a second, and short locks. */
const stepsBehind = 5;

if (parentPort !== null) await run(parentPort, workerData);

async function run(port: MessagePort, data: LedgerThreadData): Promise<void> {
  yieldToOthers(stepsBehind);
  const report = (what: LedgerThreadReport): void => port.postMessage(what);
  const log = toReports(report);
  const orders = listen(port);
  /** Why the store accepts no more writes; undefined as long as it does. */
  let loss: string | undefined;
  const onLoss = (what: StoreLoss): void => {
    if (what.kind === 'lost') loss = what.reason;
    logLoss(log, what);
  };
  const store = await openPatiently(data, { log, report, onLoss }, orders);
  if (store === undefined) {
    port.close();
    return;
  }

  const claims = data.directories.map((directory, index) =>
    createOrphanClaims({
      directory,
      ownSlot: index === 0 ? data.slot.number : undefined,
      lock: lockFile,
      clock: systemClock,
      store: data.identity,
      onForeign: (path) =>
        log.error('journal of another store skipped', { journal: path, advice: `postern ledger adopt ${path}` }),
      isSecure: store.ledger.secure,
    }),
  );
  const importer = createImporter({
    own: createJournalReader({ directory: data.slot.directory, isOrphan: () => false, isSecure: store.ledger.secure }),
    claimOrphans: () => claims.flatMap((claim) => claim()),
    store,
    clock: systemClock,
    log,
    retentionMs: orders.retentionMs ?? data.retentionMs,
  });
  orders.onRetain = importer.retain.bind(importer);
  const timer = setInterval(() => {
    const state = importer.state();
    report({ kind: 'state', state: { ...state, failure: state.failure ?? loss } });
  }, stateEveryMs);
  void importer.caughtUp().then(() => report({ kind: 'caught-up' }));

  await orders.closed;
  await importer.close();
  clearInterval(timer);
  await store.close();
  report({ kind: 'state', state: importer.state() });
  // The thread ends by this, as nothing else keeps it alive.
  port.close();
}

function toReports(report: (what: LedgerThreadReport) => void): Log {
  const at =
    (level: keyof Log) =>
    (message: string, fields: Record<string, unknown> = {}): void =>
      report({ kind: 'log', level, message, fields });
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

function logLoss(log: Log, loss: StoreLoss): void {
  const { kind, ...fields } = loss;
  if (kind === 'lost') log.error('store files lost', fields);
  else if (kind === 'saved') log.error('store rescue copy written', fields);
  else if (kind === 'unsaved') log.error('store rescue copy failed', fields);
  else log.warn('store rescue copy found', fields);
}

interface Reports {
  readonly log: Log;
  readonly report: (what: LedgerThreadReport) => void;
  readonly onLoss: (loss: StoreLoss) => void;
}

interface Orders {
  retentionMs: number | undefined;
  onRetain: (retentionMs: number) => void;
  isClosed: boolean;
  readonly closed: Promise<void>;
}

function listen(port: MessagePort): Orders {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const orders: Orders = { retentionMs: undefined, onRetain: () => undefined, isClosed: false, closed };
  port.on('message', (order: LedgerThreadOrder) => {
    switch (order.kind) {
      case 'retain':
        orders.retentionMs = order.retentionMs;
        orders.onRetain(order.retentionMs);
        break;
      case 'close':
        orders.isClosed = true;
        resolve();
        break;
    }
  });
  return orders;
}

/** Opens the store. While it is unreachable, tries again, as the journal can wait. Undefined where the thread must end. */
async function openPatiently(
  { url, cwd }: LedgerThreadData,
  { log, report, onLoss }: Reports,
  orders: Orders,
): Promise<Store | undefined> {
  for (let pauseMs = openPause.firstMs; ; pauseMs = Math.min(openPause.longestMs, pauseMs * 2)) {
    if (orders.isClosed) return undefined;
    try {
      return await openStore(url, { cwd, onLoss });
    } catch (thrown) {
      if (pauseMs === openPause.firstMs) {
        const reason = reasonOf(thrown);
        log.error('store not opened', { reason });
        report({ kind: 'state', state: { ...nothingImported, failure: reason } });
      }
    }
    await Promise.race([sleep(pauseMs, undefined, { ref: false }), orders.closed]);
  }
}
