/** Reads gauges, which are current values, when the metrics are scraped. */

import type { DriftState } from '../../core/drift.ts';
import { lanes } from '../../core/lane.ts';
import type { BodyMemoryState } from '../../core/memory-lease.ts';
import { type TargetState, targetStates } from '../../core/target-state.ts';
import { definitions, type MetricName, metricNames } from './definitions.ts';
import { type Reading, toLabels } from './reading.ts';

const bodyKinds = ['requests', 'answers'] as const;
type BodyKind = (typeof bodyKinds)[number];

/** Functions that return current values when the metrics are read. Where one is missing, its metric is absent. */
export interface MetricSources extends Readonly<Partial<Record<MetricName, () => number | boolean>>> {
  readonly targets?: () => Generator<undefined, readonly TargetState[], undefined>;
  readonly bodyMemory?: () => Readonly<Record<BodyKind, BodyMemoryState>>;
  /** Number of limit decisions that were made without Redis, by reason. */
  readonly localDecisions?: () => Readonly<Record<'late' | 'away', number>>;
  readonly drift?: () => DriftState;
}

/** Reads all sources. It may pause at every `yield`. */
export function* readingSources(
  sources: MetricSources,
  only: ReadonlySet<MetricName> | undefined,
): Generator<undefined, Reading, undefined> {
  const reading: Reading = {};
  for (const name of metricNames) put(reading, name, '', sources[name]?.());
  const { late, away } = sources.localDecisions?.() ?? {};
  put(reading, 'postern_limit_local_decisions_total', ['late'], late);
  put(reading, 'postern_limit_local_decisions_total', ['away'], away);
  if (sources.drift !== undefined) putDrift(reading, sources.drift());
  if (sources.bodyMemory !== undefined) putMemory(reading, sources.bodyMemory());
  if (sources.targets === undefined) return reading;
  if (only === undefined) yield* puttingTargets(reading, yield* sources.targets());
  else if (only.has('postern_target_state')) yield* puttingSums(reading, yield* sources.targets());
  return reading;
}

/** Adds a value to a reading. `under`: the values of its labels, or the labels as text. Without a value the series is absent. */
function put(
  reading: Reading,
  name: MetricName,
  under: string | readonly string[],
  value: number | boolean | null | undefined,
): void {
  if (value === undefined || value === null) return;
  const labels = typeof under === 'string' ? under : toLabels(definitions[name].labels, under);
  reading[name] ??= {};
  reading[name][labels] = Number(value);
}

function putMemory(reading: Reading, memory: Readonly<Record<BodyKind, BodyMemoryState>>): void {
  for (const kind of bodyKinds) {
    const { heldBytes, totalBytes, waiting, refused, outgrown } = memory[kind];
    put(reading, 'postern_body_memory_bytes', [kind], heldBytes);
    put(reading, 'postern_body_memory_limit_bytes', [kind], totalBytes);
    put(reading, 'postern_body_memory_waiting', [kind], waiting);
    put(reading, 'postern_body_memory_refused_total', [kind, 'wait'], refused);
    put(reading, 'postern_body_memory_refused_total', [kind, 'growth'], outgrown);
  }
}

function putDrift(reading: Reading, { shadows, canaries }: DriftState): void {
  for (const { model, shadow, cosine, overlap, ranks, verdicts } of shadows) {
    for (const [by, value] of Object.entries({ cosine, overlap, ranks, verdicts })) {
      put(reading, 'postern_shadow_agreement', [model, shadow, by], value);
    }
  }
  const least = canaries.toSorted((one, other) => (other.agreement ?? 1) - (one.agreement ?? 1));
  for (const { model, upstream, agreement } of least) {
    put(reading, 'postern_canary_agreement', [model, upstream], agreement && Math.min(agreement, 1));
  }
}

function* puttingSums(reading: Reading, targets: readonly TargetState[]): Generator<undefined, void, undefined> {
  const sums = new Map<string, { inFlight: number; waiting: number; states: Map<TargetState['state'], number> }>();
  for (const { upstream, state, inFlight, waiting } of targets) {
    yield;
    const sum = sums.get(upstream) ?? { inFlight: 0, waiting, states: new Map<TargetState['state'], number>() };
    sums.set(upstream, sum);
    sum.inFlight += inFlight;
    sum.waiting = waiting;
    sum.states.set(state, (sum.states.get(state) ?? 0) + 1);
  }
  putLanes(reading, targets);
  for (const [upstream, sum] of sums) {
    yield;
    const labels = toLabels(['upstream'], [upstream]);
    put(reading, 'postern_target_in_flight', labels, sum.inFlight);
    put(reading, 'postern_upstream_waiting', labels, sum.waiting);
    for (const [state, count] of sum.states) {
      put(reading, 'postern_target_state', toLabels(['upstream', 'state'], [upstream, state]), count);
    }
  }
}

/** One target of each upstream, for values that all targets of an upstream share. */
const oneOfEach = (targets: readonly TargetState[]): Iterable<TargetState> =>
  new Map(targets.map((target) => [target.upstream, target])).values();

function putLanes(reading: Reading, targets: readonly TargetState[]): void {
  for (const { upstream, lanes: said } of oneOfEach(targets)) {
    for (const lane of lanes) {
      put(reading, 'postern_lane_in_flight', [upstream, lane], said?.[lane].inFlight);
      put(reading, 'postern_lane_waiting', [upstream, lane], said?.[lane].waiting);
    }
  }
}

function* puttingTargets(reading: Reading, targets: readonly TargetState[]): Generator<undefined, void, undefined> {
  putLanes(reading, targets);
  for (const { upstream, waiting, bulkLimit, learnedLimit, endpoints = [] } of oneOfEach(targets)) {
    put(reading, 'postern_upstream_waiting', [upstream], waiting);
    put(reading, 'postern_bulk_limit', [upstream], bulkLimit);
    put(reading, 'postern_upstream_learned_limit', [upstream], learnedLimit);
    for (const { endpoint, inFlight, isUp } of endpoints) {
      put(reading, 'postern_endpoint_in_flight', [upstream, endpoint], inFlight);
      put(reading, 'postern_endpoint_up', [upstream, endpoint], isUp);
    }
  }
  for (const { upstream, model, state, inFlight, latencyMs, restingCredentials, isSloMissed } of targets) {
    yield;
    const labels = toLabels(['upstream', 'model'], [upstream, model]);
    for (const one of targetStates) put(reading, 'postern_target_state', [upstream, model, one], state === one);
    put(reading, 'postern_target_in_flight', labels, inFlight);
    put(reading, 'postern_target_latency_seconds', labels, latencyMs / 1000);
    put(reading, 'postern_target_resting_credentials', labels, restingCredentials.length);
    put(reading, 'postern_slo_missed', labels, isSloMissed);
  }
}
