/** Creates the accounting of a serving process: the journal and its import, limits, budgets and bills. */

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { unpricedIn, worstCostNanos } from '../accounting/billing.ts';
import { createLedger } from '../accounting/ledger.ts';
import { createSpending, type Hits } from '../accounting/spending.ts';
import { createAlertPost, createBudgetAlerts } from '../budgets/alerts.ts';
import { createLocalBudgets } from '../budgets/local-budgets.ts';
import { defaultJournal, formerJournal } from '../config/elements/ledger.ts';
import type { Log } from '../core/log.ts';
import type { SlotArbiter } from '../core/slots.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Store } from '../core/store/store.ts';
import { createImporter, type Importer } from '../journal/importer.ts';
import { createJournal, type Journal } from '../journal/journal.ts';
import { claimSlot } from '../journal/journal-slot.ts';
import { createMemoryJournal } from '../journal/memory-journal.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import type { Limiter } from '../limits/limiter.ts';
import { MemoryLimiter } from '../limits/local-limiter.ts';
import { takeNodeCensus } from '../limits/node-census.ts';
import { type ParentChannel, ParentLimiter } from '../limits/parent-limiter.ts';
import { createRedisLimiter } from '../limits/redis-limiter.ts';
import { parseStoreUrl } from '../store/open-store.ts';
import { lockFile } from '../store/sqlite/sqlite-file.ts';
import type { MetricSources } from '../telemetry/metrics/gauges.ts';
import { connectorsBy } from '../upstream/connections/connection.ts';
import type { ProxyRule } from '../upstream/connections/proxy-rule.ts';
import { startLedgerThread } from './threads/ledger-thread-host.ts';

export interface AccountingDeps {
  readonly snapshot: Snapshot;
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
  /** The folder that relative paths of journal and store start from. */
  readonly cwd: string;
  /** Chooses the proxy for a URL by the proxy variables of the environment. */
  readonly proxyFor: ProxyRule;
  readonly hits?: Hits;
  readonly parent?: ParentChannel | undefined;
}

export type Accounting = Awaited<ReturnType<typeof openAccounting>>;

export async function openAccounting(deps: AccountingDeps) {
  const { store, log, clock, hits } = deps;
  let current = deps.snapshot;
  // The name is unique to this start: exchanges that a kill left open are recognised by it.
  const node = `${hostname()}/${createId(clock.nowMs())}`;
  const books = await openBooks(deps, node);
  const limits = await openLimits(deps, node);
  const post = createAlertPost(connectorsBy(deps.proxyFor));
  const alerts = createBudgetAlerts({
    settings: () => current.alerts,
    claim: (name) => store.settings.claim(name),
    post: post.post,
    clock,
    log,
  });
  const budgets = createLocalBudgets({ accountStore: store.budgets, node, clock, log, alerts });

  return {
    spending: createSpending({ limiter: limits.limiter, budgets, worstCost: worstCostNanos, unpricedIn, hits }),
    ledger: createLedger({ journal: books.journal, node, clock }),
    sources: { ...sourcesOf(books, clock), ...limits.sources },
    /** Assigns slots of upstreams to processes; undefined where this is the only process. */
    slotArbiter: limits.slotArbiter,
    /** What fails in the accounting, for the readiness check. */
    ledgerState: () => ({ ...books.importer.state(), isJournalFailing: books.journal.state().failing }),
    follow(snapshot: Snapshot): void {
      current = snapshot;
      books.importer.retain(snapshot.ledger.retentionMs);
    },
    /** Imports what is in the journal, if the store accepts it. To be called when no exchange is left. */
    async close(): Promise<void> {
      await budgets.close();
      await alerts.close();
      await post.close();
      await limits.close();
      await books.close();
    },
  };
}

interface Books {
  readonly journal: Journal;
  readonly importer: Importer;
  close(): Promise<void>;
}

function openBooks(deps: AccountingDeps, node: string): Promise<Books> | Books {
  const { kind } = parseStoreUrl(deps.snapshot.store, deps.cwd);
  return kind === 'memory' ? openBooksInMemory(deps) : openBooksOnDisk(deps, node);
}

/** The books of a store in memory: journal and store end with the process, so that the import needs no thread. */
function openBooksInMemory({ snapshot, store, log, clock }: AccountingDeps): Books {
  const { journal, reader } = createMemoryJournal();
  const { retentionMs } = snapshot.ledger;
  const importer = createImporter({ own: reader, claimOrphans: () => [], store, clock, log, retentionMs });
  return { journal, importer, close: () => importer.close() };
}

async function openBooksOnDisk({ snapshot, store, log, clock, cwd }: AccountingDeps, node: string): Promise<Books> {
  const { durability, journalWaitMs: waitMs, retentionMs } = snapshot.ledger;
  const directory = resolve(cwd, snapshot.ledger.directory);
  const isDefault = snapshot.ledger.directory === defaultJournal(snapshot.store);
  const formerDirectory = isDefault ? resolve(cwd, formerJournal) : directory;
  const identity = await store.settings.installation();
  // Journals name the store's identity, which must survive the loss of the log beside the database.
  await store.ledger.secure();
  const slot = claimSlot({ directory, lock: lockFile, clock, store: identity });
  try {
    const journal = await createJournal({ directory: slot.directory, node, durability, waitMs, clock, log });
    const { number } = slot;
    const ownSlot = { number, directory: slot.directory };
    const directories = [...new Set([directory, formerDirectory])];
    const importer = startLedgerThread({
      url: snapshot.store,
      cwd,
      directories,
      identity,
      slot: ownSlot,
      retentionMs,
      log,
    });
    return {
      journal,
      importer,
      async close() {
        await journal.close();
        await importer.close();
        slot.release();
      },
    };
  } catch (thrown) {
    slot.release();
    throw thrown;
  }
}

interface Limits {
  readonly limiter: Limiter;
  readonly slotArbiter: SlotArbiter | undefined;
  readonly sources: MetricSources;
  close(): Promise<void>;
}

async function openLimits(deps: AccountingDeps, node: string): Promise<Limits> {
  const { snapshot, store, log, clock, random, parent } = deps;
  const { redis: url, redisDeadlineMs: deadlineMs } = snapshot;
  if (url === undefined) {
    const { workers } = snapshot.server;
    const close = async (): Promise<void> => undefined;
    if (parent === undefined || workers === 1) {
      return { limiter: new MemoryLimiter(clock), slotArbiter: undefined, sources: {}, close };
    }
    const limiter = new ParentLimiter({ channel: parent, workers, clock, log });
    return { limiter, slotArbiter: limiter, sources: {}, close };
  }
  const census = await takeNodeCensus({ health: store.health, workers: snapshot.server.workers, log });
  const otherwiseKnown = (): number => census.count;
  const limiter = await createRedisLimiter({ url, clock, node, log, random, deadlineMs, otherwiseKnown });
  census.keepUp(() => !limiter.isShared);
  return {
    limiter,
    slotArbiter: limiter,
    sources: {
      postern_redis_up: () => limiter.isShared,
      postern_redis_fallback: () => !limiter.isShared,
      localDecisions: () => limiter.localDecisions,
    },
    close() {
      census.close();
      return limiter.close();
    },
  };
}

function sourcesOf({ journal, importer }: Books, clock: Clock): MetricSources {
  return {
    postern_journal_bytes: () => importer.state().bytesBehind,
    postern_journal_waiting_rows: () => importer.state().rowsBehind,
    postern_journal_rows_total: () => importer.state().importedRows,
    postern_journal_oldest_seconds() {
      const { oldestAtMs } = importer.state();
      return oldestAtMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestAtMs) / 1_000;
    },
    postern_journal_failing: () => journal.state().failing,
    postern_store_up: () => importer.state().failure === undefined,
  };
}
