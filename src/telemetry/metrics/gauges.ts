/** Gauges: current values, read when the metrics are scraped. */

import type { DriftState } from '../../core/drift.ts';
import { lanes } from '../../core/lane.ts';
import { type TargetState, targetStates } from '../../core/target-state.ts';
import type { MetricName } from './definitions.ts';
import { type Reading, type Series, toLabels } from './reading.ts';

const bodyKinds = ['requests', 'answers'] as const;
type BodyKind = (typeof bodyKinds)[number];

interface MemoryState {
  readonly heldBytes: number;
  readonly totalBytes: number;
  readonly waiting: number;
  readonly refused: number;
  readonly outgrown: number;
}

/** Each is asked when the metrics are read. Whoever is left out has nothing to say, and its metric is not there. */
export interface MetricSources {
  /** How every target of the configuration in force is. */
  readonly targets?: () => Generator<undefined, readonly TargetState[], undefined>;
  /** Memory for bodies in flight. */
  readonly bodyMemory?: () => Readonly<Record<BodyKind, MemoryState>>;
  /** Of the disk, for uploads in flight: what they hold, and the most that they may. */
  readonly uploadDiskBytes?: () => number;
  readonly uploadDiskLimitBytes?: () => number;
  /** Of the journal, what is not in the store yet. */
  readonly journalBytes?: () => number;
  /** Of the journal, rows that are not in the store yet. */
  readonly journalRowsWaiting?: () => number;
  /** What was brought into the store so far. */
  readonly journalRows?: () => number;
  /** Of what is not in the store yet. */
  readonly journalOldestSeconds?: () => number;
  /** 1 or 0, as are those below. */
  readonly journalFailing?: () => number;
  readonly storeUp?: () => number;
  readonly redisUp?: () => number;
  readonly redisFallback?: () => number;
  /** Decisions about limits that Redis had no part in, so far: by why. */
  readonly localDecisions?: () => Readonly<Record<'late' | 'away', number>>;
  /** Answers that upstreams make in the background, and that are followed here. */
  readonly backgroundAnswers?: () => number;
  /** And batches of requests. */
  readonly batches?: () => number;
  /** Items of lists that are remembered here. */
  readonly listCacheItems?: () => number;
  readonly listCacheBytes?: () => number;
  /** Whether models are what they were, and agree with their shadows. */
  readonly drift?: () => DriftState;
  /** The number of the last change of the store that is in force. */
  readonly configRevision?: () => number;
}

const plain = {
  uploadDiskBytes: 'postern_upload_disk_bytes',
  uploadDiskLimitBytes: 'postern_upload_disk_limit_bytes',
  journalBytes: 'postern_journal_bytes',
  journalRowsWaiting: 'postern_journal_waiting_rows',
  journalRows: 'postern_journal_rows_total',
  journalOldestSeconds: 'postern_journal_oldest_seconds',
  journalFailing: 'postern_journal_failing',
  storeUp: 'postern_store_up',
  redisUp: 'postern_redis_up',
  redisFallback: 'postern_redis_fallback',
  backgroundAnswers: 'postern_background_answers',
  batches: 'postern_batches',
  listCacheItems: 'postern_list_cache_items',
  listCacheBytes: 'postern_list_cache_bytes',
  configRevision: 'postern_config_revision',
} as const satisfies Record<string, MetricName>;

/** Every `yield` is a place to stop at. */
export function* readingSources(
  sources: MetricSources,
  only: ReadonlySet<MetricName> | undefined,
): Generator<undefined, Reading, undefined> {
  const reading: Reading = {};
  for (const name of Object.keys(plain) as (keyof typeof plain)[]) {
    const source = sources[name];
    if (source !== undefined) reading[plain[name]] = { '': source() };
  }
  const decisions = sources.localDecisions?.();
  if (decisions !== undefined) {
    reading.postern_limit_local_decisions_total = {
      [toLabels(['why'], ['late'])]: decisions.late,
      [toLabels(['why'], ['away'])]: decisions.away,
    };
  }
  if (sources.drift !== undefined) Object.assign(reading, readDrift(sources.drift()));
  if (sources.bodyMemory !== undefined) Object.assign(reading, readMemory(sources.bodyMemory()));
  if (sources.targets === undefined) return reading;
  if (only === undefined) return { ...reading, ...(yield* readingTargets(yield* sources.targets())) };
  return only.has('postern_target_state')
    ? { ...reading, ...(yield* summingTargets(yield* sources.targets())) }
    : reading;
}

function readMemory(memory: Readonly<Record<BodyKind, MemoryState>>): Reading {
  const of = (read: (state: MemoryState) => number): Series =>
    Object.fromEntries(bodyKinds.map((kind) => [toLabels(['of'], [kind]), read(memory[kind])]));
  const refused: Series = {};
  for (const kind of bodyKinds) {
    refused[toLabels(['of', 'why'], [kind, 'wait'])] = memory[kind].refused;
    refused[toLabels(['of', 'why'], [kind, 'growth'])] = memory[kind].outgrown;
  }
  return {
    postern_body_memory_bytes: of(({ heldBytes }) => heldBytes),
    postern_body_memory_limit_bytes: of(({ totalBytes }) => totalBytes),
    postern_body_memory_waiting: of(({ waiting }) => waiting),
    postern_body_memory_refused_total: refused,
  };
}

/** Where nothing tells, the series is not there. */
function readDrift({ shadows, canaries }: DriftState): Reading {
  const agreement: Series = {};
  for (const { model, shadow, cosine, overlap, ranks, verdicts } of shadows) {
    for (const [by, value] of Object.entries({ cosine, overlap, ranks, verdicts })) {
      if (value !== null) agreement[toLabels(['model', 'shadow', 'by'], [model, shadow, by])] = value;
    }
  }
  const same = new Map<string, number>();
  for (const { model, upstream, agreement: value } of canaries) {
    if (value === null) continue;
    const labels = toLabels(['model', 'upstream'], [model, upstream]);
    same.set(labels, Math.min(value, same.get(labels) ?? 1));
  }
  return { postern_shadow_agreement: agreement, postern_canary_agreement: Object.fromEntries(same) };
}

/** As their definitions say that they are summed. */
function* summingTargets(targets: readonly TargetState[]): Generator<undefined, Reading, undefined> {
  const sums = new Map<string, { inFlight: number; waiting: number; states: Map<TargetState['state'], number> }>();
  for (const { upstream, state, inFlight, waiting } of targets) {
    yield;
    const sum = sums.get(upstream) ?? { inFlight: 0, waiting, states: new Map<TargetState['state'], number>() };
    sums.set(upstream, sum);
    sum.inFlight += inFlight;
    sum.waiting = waiting;
    sum.states.set(state, (sum.states.get(state) ?? 0) + 1);
  }
  const states: Series = {};
  const laneReading = readLanes(targets);
  const calls: Series = {};
  const queued: Series = {};
  for (const [upstream, sum] of sums) {
    yield;
    const labels = toLabels(['upstream'], [upstream]);
    calls[labels] = sum.inFlight;
    queued[labels] = sum.waiting;
    for (const [state, count] of sum.states) states[toLabels(['upstream', 'state'], [upstream, state])] = count;
  }
  return {
    ...laneReading,
    postern_target_state: states,
    postern_target_in_flight: calls,
    postern_upstream_waiting: queued,
  };
}

/** Every target of an upstream says the same. */
function readLanes(targets: readonly TargetState[]): Reading {
  const inFlight: Series = {};
  const waiting: Series = {};
  const seen = new Set<string>();
  for (const { upstream, lanes: said } of targets) {
    if (said === undefined || seen.has(upstream)) continue;
    seen.add(upstream);
    for (const lane of lanes) {
      const labels = toLabels(['upstream', 'lane'], [upstream, lane]);
      inFlight[labels] = said[lane].inFlight;
      waiting[labels] = said[lane].waiting;
    }
  }
  return { postern_lane_in_flight: inFlight, postern_lane_waiting: waiting };
}

/** Every target of an upstream says the same. */
function readEndpoints(targets: readonly TargetState[]): Reading {
  const inFlight: Series = {};
  const up: Series = {};
  const seen = new Set<string>();
  for (const { upstream, endpoints } of targets) {
    if (endpoints === undefined || seen.has(upstream)) continue;
    seen.add(upstream);
    for (const one of endpoints) {
      const labels = toLabels(['upstream', 'endpoint'], [upstream, one.endpoint]);
      inFlight[labels] = one.inFlight;
      up[labels] = one.isUp ? 1 : 0;
    }
  }
  return { postern_endpoint_in_flight: inFlight, postern_endpoint_up: up };
}

function* readingTargets(targets: readonly TargetState[]): Generator<undefined, Reading, undefined> {
  const state: Series = {};
  const inFlight: Series = {};
  const latency: Series = {};
  const credentials: Series = {};
  const waiting: Series = {};
  const learned: Series = {};
  const bulkLimit: Series = {};
  const missed: Series = {};
  for (const target of targets) {
    yield;
    const names = [target.upstream, target.model];
    const labels = toLabels(['upstream', 'model'], names);
    for (const one of targetStates) {
      state[toLabels(['upstream', 'model', 'state'], [...names, one])] = target.state === one ? 1 : 0;
    }
    inFlight[labels] = target.inFlight;
    latency[labels] = target.latencyMs / 1000;
    credentials[labels] = target.restingCredentials.length;
    // Every target of an upstream says the same.
    waiting[toLabels(['upstream'], [target.upstream])] = target.waiting;
    if (target.bulkLimit !== undefined) bulkLimit[toLabels(['upstream'], [target.upstream])] = target.bulkLimit;
    if (target.isSloMissed !== undefined) missed[labels] = target.isSloMissed ? 1 : 0;
    if (target.learnedLimit !== undefined) learned[toLabels(['upstream'], [target.upstream])] = target.learnedLimit;
  }
  return {
    ...readLanes(targets),
    ...readEndpoints(targets),
    postern_target_state: state,
    postern_target_in_flight: inFlight,
    postern_target_latency_seconds: latency,
    postern_target_resting_credentials: credentials,
    postern_upstream_waiting: waiting,
    postern_upstream_learned_limit: learned,
    postern_bulk_limit: bulkLimit,
    postern_slo_missed: missed,
  };
}
