/** Reads the metrics once a second while somebody watches, and keeps five minutes for all watchers. */

import type * as z from 'zod';
import type { Clock } from '../../../lib/clock.ts';
import { nanosPerDollar, toDollars } from '../../../lib/money.ts';
import type { liveSample, liveUpstream } from '../contract/state.ts';
import {
  addBuckets,
  createLabelReader,
  type Digest,
  type DigestDeps,
  digest,
  type LiveHistogram,
  type LiveMetric,
  liveMetrics,
  plainOf,
  type Reading,
  stateMetrics,
  toPercentiles,
} from './reading.ts';

export type LiveSample = z.output<typeof liveSample>;
export type LiveUpstream = z.output<typeof liveUpstream>;

export interface LiveFrame {
  /** The sample; undefined where the reading failed. */
  readonly sample: LiveSample | undefined;
  readonly upstreams: readonly LiveUpstream[];
}

export type LiveSource = ReturnType<typeof createSampler>;

interface SamplerDeps {
  /** Reads some metrics of this process, or of all processes. */
  read(metrics: ReadonlySet<LiveMetric>): Promise<Reading>;
  boundsOf: DigestDeps['boundsOf'];
  readonly clock: Clock;
  /** Calls `work` once after the time; returns a function that cancels it. */
  readonly later?: (work: () => void, ms: number) => () => void;
}

const everyMs = 1_000;
export const keptMs = 5 * 60_000;
/** Sampling goes on this long after the last watcher has left, so that reloading the page leaves no gap. */
export const lingerMs = 60_000;
const windowMs = 10_000;

interface Recent {
  readonly atMs: number;
  readonly digest: Digest;
}

export function createSampler({ read, boundsOf, clock, later = laterByTimer }: SamplerDeps) {
  const listeners = new Set<(frame: LiveFrame) => void>();
  const deps: DigestDeps = { labelsOf: createLabelReader(), boundsOf };
  let history: { readonly atMs: number; readonly sample: LiveSample }[] = [];
  let recent: Recent[] = [];
  let upstreams: readonly LiveUpstream[] = [];
  let before: { readonly atMs: number; readonly reading: Reading } | undefined;
  let cancelNext: (() => void) | undefined;
  let isRunning = false;
  let isClosed = false;
  let lastWatchedMs = 0;
  let latest: { readonly atMs: number; readonly state: ProcessState } | undefined;

  function start(): void {
    if (isRunning || isClosed) return;
    isRunning = true;
    void tick();
  }

  function stop(): void {
    isRunning = false;
    before = undefined;
    recent = [];
    upstreams = [];
  }

  async function tick(): Promise<void> {
    const startedMs = clock.monotonicMs();
    const reading = await read(liveMetrics).catch(() => undefined);
    if (isClosed) return;
    const frame = reading === undefined ? { sample: undefined, upstreams } : take(reading);
    if (frame !== undefined) for (const listener of listeners) listener(frame);
    if (listeners.size === 0 && clock.monotonicMs() - lastWatchedMs >= lingerMs) return stop();
    const tookMs = clock.monotonicMs() - startedMs;
    cancelNext = later(() => void tick(), Math.max(0, everyMs - tookMs));
  }

  /** The sample since the reading before; undefined for the first reading. */
  function take(reading: Reading): LiveFrame | undefined {
    const atMs = clock.monotonicMs();
    const state = toProcessState(reading);
    latest = { atMs, state };
    const earlier = before;
    before = { atMs, reading };
    if (earlier === undefined) return undefined;
    const spanMs = atMs - earlier.atMs;
    const current = digest(reading, earlier.reading, deps);
    recent = [...recent.filter((one) => atMs - one.atMs < windowMs), { atMs, digest: current }];
    const sample = toSample(current, { atMs: clock.nowMs(), spanMs, state, recent, boundsOf });
    upstreams = toUpstreams(recent);
    history = [...history.filter((one) => atMs - one.atMs < keptMs), { atMs, sample }];
    return { sample, upstreams };
  }

  return {
    watch(listener: (frame: LiveFrame) => void) {
      listeners.add(listener);
      start();
      const nowMs = clock.monotonicMs();
      return {
        /** The samples so far, the oldest first. */
        history: history.filter(({ atMs }) => nowMs - atMs < keptMs).map(({ sample }) => sample),
        upstreams,
        close() {
          if (listeners.delete(listener)) lastWatchedMs = clock.monotonicMs();
        },
      };
    },
    /** The process's state: of this second while somebody watches, else read on demand. */
    async state() {
      if (latest !== undefined && clock.monotonicMs() - latest.atMs < 2 * everyMs) return latest.state;
      const state = toProcessState(await read(stateMetrics));
      latest = { atMs: clock.monotonicMs(), state };
      return state;
    },
    close() {
      isClosed = true;
      cancelNext?.();
      listeners.clear();
    },
  };
}

interface SampleFacts {
  readonly atMs: number;
  readonly spanMs: number;
  readonly state: ProcessState;
  readonly recent: readonly Recent[];
  boundsOf: DigestDeps['boundsOf'];
}

function toSample(current: Digest, { atMs, spanMs, state, recent, boundsOf }: SampleFacts): LiveSample {
  const percentilesOf = (of: 'duration' | 'firstByte', name: LiveHistogram) =>
    toPercentiles(addBuckets(recent.map((one) => one.digest[of])), boundsOf(name)) ?? null;
  const { duration, firstByte, costDollars, savedDollars, cpuSeconds, upstreams: _, ...counts } = current;
  const { loopDelayMs = null, memoryBytes = null, journalBytes = null, journalOldestMs = null } = state;
  return {
    at: new Date(atMs).toISOString(),
    spanMs: Math.round(spanMs),
    ...counts,
    latency: percentilesOf('duration', 'postern_request_duration_seconds'),
    firstByte: percentilesOf('firstByte', 'postern_first_byte_seconds'),
    cost: toDollars(Math.round(costDollars * nanosPerDollar)),
    saved: toDollars(Math.round(savedDollars * nanosPerDollar)),
    ...{ loopDelayMs, memoryBytes, journalBytes, journalOldestMs },
    cpuShare: cpuSeconds === undefined || spanMs <= 0 ? null : (cpuSeconds * 1000) / spanMs,
  };
}

function toUpstreams(recent: readonly Recent[]): LiveUpstream[] {
  return [...(recent.at(-1)?.digest.upstreams ?? [])]
    .map(([id, { firstByte: _, ...counts }]) => ({ id, ...counts, firstByteMs: meanOf(recent, id) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function meanOf(recent: readonly Recent[], id: string): number | null {
  let count = 0;
  let sumMs = 0;
  for (const { digest: one } of recent) {
    const parts = one.upstreams.get(id)?.firstByte;
    count += parts?.count ?? 0;
    sumMs += parts?.sumMs ?? 0;
  }
  return count === 0 ? null : sumMs / count;
}

function laterByTimer(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
}

type ProcessState = ReturnType<typeof toProcessState>;

/** The state of the process. A field is undefined where it does not apply, as without Redis or journal. */
function toProcessState(reading: Reading) {
  const redis = plainOf(reading, 'postern_redis_up');
  const store = plainOf(reading, 'postern_store_up');
  return {
    workers: plainOf(reading, 'postern_workers') ?? 0,
    workerRestarts: plainOf(reading, 'postern_worker_restarts_total') ?? 0,
    loopDelayMs: loopDelayOf(reading),
    memoryBytes: plainOf(reading, 'process_resident_memory_bytes'),
    journalBytes: plainOf(reading, 'postern_journal_bytes'),
    /** Rows of the journal that are not in the store yet. */
    journalRows: plainOf(reading, 'postern_journal_waiting_rows'),
    journalOldestMs: toMs(plainOf(reading, 'postern_journal_oldest_seconds')),
    isJournalFailing: plainOf(reading, 'postern_journal_failing') === 1,
    isStoreUp: store === undefined ? undefined : store === 1,
    isRedisUp: redis === undefined ? undefined : redis === 1,
    /** The number of processes that count limits on their own, without Redis. */
    redisFallback: plainOf(reading, 'postern_redis_fallback') ?? 0,
    /** The number of the store's last change that is in force. */
    revision: plainOf(reading, 'postern_config_revision'),
  };
}

function loopDelayOf(reading: Reading): number | undefined {
  const value = reading.nodejs_eventloop_delay_seconds?.['{percentile="99"}'];
  return typeof value === 'number' ? value * 1000 : undefined;
}

const toMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000);
