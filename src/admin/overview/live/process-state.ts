/** How the process is, or all of them together, by one reading: what is neither a rate nor a request. */

import { plainOf, type Reading } from './reading.ts';

/** Undefined where nobody tells: no Redis is configured, no journal is written. */
export interface ProcessState {
  readonly workers: number;
  readonly workerRestarts: number;
  readonly loopDelayMs: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly journalBytes: number | undefined;
  /** That are not in the store yet. */
  readonly journalRows: number | undefined;
  readonly journalOldestMs: number | undefined;
  readonly isJournalFailing: boolean;
  readonly isStoreUp: boolean | undefined;
  readonly isRedisUp: boolean | undefined;
  /** Processes that count limits on their own. */
  readonly redisFallback: number;
  /** The last change of the store that is in force. */
  readonly revision: number | undefined;
}

export function toProcessState(reading: Reading): ProcessState {
  const redis = plainOf(reading, 'postern_redis_up');
  const store = plainOf(reading, 'postern_store_up');
  return {
    workers: plainOf(reading, 'postern_workers') ?? 0,
    workerRestarts: plainOf(reading, 'postern_worker_restarts_total') ?? 0,
    loopDelayMs: loopDelayOf(reading),
    memoryBytes: plainOf(reading, 'process_resident_memory_bytes'),
    journalBytes: plainOf(reading, 'postern_journal_bytes'),
    journalRows: plainOf(reading, 'postern_journal_waiting_rows'),
    journalOldestMs: toMs(plainOf(reading, 'postern_journal_oldest_seconds')),
    isJournalFailing: plainOf(reading, 'postern_journal_failing') === 1,
    isStoreUp: store === undefined ? undefined : store === 1,
    isRedisUp: redis === undefined ? undefined : redis === 1,
    redisFallback: plainOf(reading, 'postern_redis_fallback') ?? 0,
    revision: plainOf(reading, 'postern_config_revision'),
  };
}

function loopDelayOf(reading: Reading): number | undefined {
  const value = reading.nodejs_eventloop_delay_seconds?.['{percentile="99"}'];
  return typeof value === 'number' ? value * 1000 : undefined;
}

const toMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000);
