/** Sends new ledger rows to live readers as they are imported: one store query a second for all readers, and none without readers. */

import type { LedgerRow } from '../../core/accounting/ledger-row.ts';
import type { Log } from '../../core/log.ts';
import type { LedgerFilter, LedgerStore } from '../../core/store/ledger.ts';
import type { Clock } from '../../lib/clock.ts';
import { reasonOf } from '../../lib/thrown.ts';

export type TailEvent =
  | { readonly kind: 'row'; readonly row: LedgerRow }
  /** Sent once the tail has begun: no later row is missed. */
  | { readonly kind: 'ready' }
  /** Rows were left out because there were too many; how many is unknown where they were never read. */
  | { readonly kind: 'skipped' }
  /** The store is unreachable; missed rows follow later. */
  | { readonly kind: 'waiting' };

export type LedgerTail = ReturnType<typeof createLedgerTail>;

export interface LedgerTailDeps {
  readonly ledger: Pick<LedgerStore, 'page'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Log, 'warn'>;
  readonly everyMs?: number;
}

type Watcher = ReturnType<typeof createWatcher>;

const rowsPerLook = 100;
/** Limit of new rows read each second; readers that need more want an export. */
const mostRowsPerLook = 500;
/** Limit of rows in the searches that also find older rows: a row appears when its exchange ends, so a long one comes late. */
const rowsPerDeepLook = 1_000;
const looksPerDeepLook = 5;
/** Limit of remembered row IDs, larger than one query's result so that no row is sent twice. */
const mostKnown = 4_000;
/** Rows are remembered this long after the last reader has left, for a reader that reconnects. */
const rememberMs = 30_000;
const mostQueued = 1_000;

export function createLedgerTail({ ledger, clock, log, everyMs = 1_000 }: LedgerTailDeps) {
  const watchers = new Set<Watcher>();
  /** The remembered rows, in the order they were seen, the first one first. */
  const known = new Map<string, LedgerRow>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let looks = 0;
  let isAway = false;
  let hasBegun = false;
  let lastLookMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  /** Reads new rows once for all readers; readers that begin at the same time share a query. */
  function look(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function lookOnce(): Promise<void> {
    try {
      if (watchers.size === 0 && clock.monotonicMs() - lastLookMs > rememberMs) forgetAll();
      const isFirst = !hasBegun;
      const isDeep = isFirst || looks % looksPerDeepLook === 0;
      looks += 1;
      const rows = await readNewest(isDeep);
      const fresh = rows.filter(({ id }) => !known.has(id)).reverse();
      for (const row of fresh) known.set(row.id, row);
      lastLookMs = clock.monotonicMs();
      isAway = false;
      hasBegun = true;
      if (!isFirst) handOn(fresh, fresh.length >= mostRowsPerLook);
      forgetOld();
    } catch (error) {
      if (!isAway) {
        log.warn('ledger live view interrupted', { why: reasonOf(error) });
        for (const watcher of watchers) put(watcher, { kind: 'waiting' });
      }
      isAway = true;
    }
  }

  async function readNewest(isDeep: boolean): Promise<readonly LedgerRow[]> {
    if (isDeep) return (await ledger.page({}, { limit: rowsPerDeepLook })).rows;
    const page = await ledger.page({}, { limit: rowsPerLook });
    if (page.next === undefined || page.rows.some(({ id }) => known.has(id))) return page.rows;
    return (await ledger.page({}, { limit: mostRowsPerLook })).rows;
  }

  function handOn(rows: readonly LedgerRow[], isMissing: boolean): void {
    for (const watcher of watchers) {
      if (isMissing) put(watcher, { kind: 'skipped' });
      for (const row of rows) if (fits(row, watcher.filter)) put(watcher, { kind: 'row', row });
    }
  }

  function forgetAll(): void {
    known.clear();
    hasBegun = false;
  }

  function forgetOld(): void {
    for (const id of known.keys()) {
      if (known.size <= mostKnown) return;
      known.delete(id);
    }
  }

  function schedule(): void {
    if (timer !== undefined || watchers.size === 0) return;
    timer = setTimeout(async () => {
      await look();
      timer = undefined;
      schedule();
    }, everyMs).unref();
  }

  /** The rows after the given one: from memory if it is remembered, else those that began later, by their IDs. */
  async function readMissed(filter: LedgerFilter, lastId: string): Promise<LedgerRow[]> {
    if (known.has(lastId)) {
      const seen = [...known];
      const from = seen.findIndex(([id]) => id === lastId) + 1;
      return seen.slice(from).flatMap(([, row]) => (fits(row, filter) ? [row] : []));
    }
    const fromMs = Math.max(filter.fromMs ?? 0, Number.parseInt(lastId.slice(0, 12), 16));
    const { rows } = await ledger.page({ ...filter, fromMs }, { limit: mostRowsPerLook });
    return rows.filter(({ id }) => id > lastId).reverse();
  }

  return {
    /** The matching rows from now on, or from after the row with `lastId`, until the signal aborts. */
    async *watch(filter: LedgerFilter, lastId: string | undefined, signal: AbortSignal): AsyncIterable<TailEvent> {
      const watcher = createWatcher(filter);
      const wake = (): void => watcher.wake();
      signal.addEventListener('abort', wake, { once: true });
      try {
        await look();
        watchers.add(watcher);
        schedule();
        // New rows are queued meanwhile; rows in both are sent once.
        const missed = lastId === undefined ? [] : await readMissed(filter, lastId);
        const given = new Set(missed.map(({ id }) => id));
        for (const row of missed) yield { kind: 'row', row };
        yield { kind: 'ready' };
        while (!signal.aborted) {
          const event = watcher.queue.shift();
          if (event === undefined) await watcher.asleep();
          else if (event.kind !== 'row' || !given.delete(event.row.id)) yield event;
        }
      } finally {
        watchers.delete(watcher);
        signal.removeEventListener('abort', wake);
        if (watchers.size === 0) {
          clearTimeout(timer);
          timer = undefined;
        }
      }
    },
  };
}

function createWatcher(filter: LedgerFilter) {
  let wake: () => void = () => undefined;
  const queue: TailEvent[] = [];
  return {
    filter,
    queue,
    wake: () => wake(),
    asleep: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
  };
}

function put({ queue, wake }: Watcher, event: TailEvent): void {
  if (queue.length >= mostQueued) queue.splice(0, queue.length, { kind: 'skipped' });
  queue.push(event);
  wake();
}

/** Whether a row matches a filter, by the same rules as in the store. */
export function fits(row: LedgerRow, filter: LedgerFilter): boolean {
  const { fromMs = 0, toMs = Number.POSITIVE_INFINITY, status, clientRequestId } = filter;
  if (row.startedAtMs < fromMs || row.startedAtMs >= toMs) return false;
  if (status !== undefined && row.status !== status) return false;
  if (clientRequestId !== undefined && row.clientRequestId !== clientRequestId) return false;
  return names.every((name) => filter[name] === undefined || (row[name] ?? '') === filter[name]);
}

const names = ['key', 'project', 'model', 'upstream', 'operation', 'outcome'] as const;
