/** Gauges: what others say of their state at the moment when somebody looks. */

import type { TargetState } from '../../core/target-state.ts';
import type { MetricName } from './definitions.ts';
import { type Reading, type Series, toLabels } from './reading.ts';

/** Each is asked when the metrics are read. Whoever is left out has nothing to say, and its metric is not there. */
export interface MetricSources {
  /** How every target of the configuration in force is. */
  readonly targets?: () => readonly TargetState[];
  /** Of the journal, what is not in the store yet. */
  readonly journalBytes?: () => number;
  /** What was brought into the store so far. */
  readonly journalRows?: () => number;
  /** Of what is not in the store yet. */
  readonly journalOldestSeconds?: () => number;
  /** 1 or 0, as are those below. */
  readonly journalFailing?: () => number;
  readonly storeUp?: () => number;
  readonly redisUp?: () => number;
  readonly redisFallback?: () => number;
  /** The number of the last change of the store that is in force. */
  readonly configRevision?: () => number;
}

const plain = {
  journalBytes: 'postern_journal_bytes',
  journalRows: 'postern_journal_rows_total',
  journalOldestSeconds: 'postern_journal_oldest_seconds',
  journalFailing: 'postern_journal_failing',
  storeUp: 'postern_store_up',
  redisUp: 'postern_redis_up',
  redisFallback: 'postern_redis_fallback',
  configRevision: 'postern_config_revision',
} as const satisfies Record<string, MetricName>;

const states: readonly TargetState['state'][] = ['healthy', 'probing', 'resting', 'failing'];

export function readSources(sources: MetricSources): Reading {
  const reading: Reading = {};
  for (const name of Object.keys(plain) as (keyof typeof plain)[]) {
    const source = sources[name];
    if (source !== undefined) reading[plain[name]] = { '': source() };
  }
  return sources.targets === undefined ? reading : { ...reading, ...readTargets(sources.targets()) };
}

function readTargets(targets: readonly TargetState[]): Reading {
  const state: Series = {};
  const inFlight: Series = {};
  const latency: Series = {};
  const credentials: Series = {};
  const waiting: Series = {};
  for (const target of targets) {
    const names = [target.upstream, target.model];
    const labels = toLabels(['upstream', 'model'], names);
    for (const one of states) {
      state[toLabels(['upstream', 'model', 'state'], [...names, one])] = target.state === one ? 1 : 0;
    }
    inFlight[labels] = target.inFlight;
    latency[labels] = target.latencyMs / 1000;
    credentials[labels] = target.restingCredentials.length;
    // Every target of an upstream says the same.
    waiting[toLabels(['upstream'], [target.upstream])] = target.waiting;
  }
  return {
    postern_target_state: state,
    postern_target_in_flight: inFlight,
    postern_target_latency_seconds: latency,
    postern_target_resting_credentials: credentials,
    postern_upstream_waiting: waiting,
  };
}
