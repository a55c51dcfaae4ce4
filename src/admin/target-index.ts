/** Indexes the configured targets, and the nodes' reports on them, for lists of models and upstreams. Each index is built once. */

import type { Model, Snapshot } from '../core/snapshot.ts';
import { reportMaxAgeMs } from '../core/store/health.ts';
import type { HealthReport, TargetState } from '../core/target-state.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { inBackground } from '../lib/time-slices.ts';
import type { AdminContext } from './context.ts';
import { reportedStates } from './shapes/common.ts';

/** How long the last report of a silent node is still shown. */
const shownForMs = 10 * 60_000;

export const isSilent = (reportedAtMs: number, nowMs: number): boolean => nowMs - reportedAtMs > reportMaxAgeMs;

/** What one node reports on a target, or on all targets of an upstream. */
export interface NodeStates {
  readonly node: string;
  readonly states: readonly TargetState[];
}

/** The targets in one report, by upstream and then by the upstream's name for the model. */
type Index = ReadonlyMap<string, ReadonlyMap<string, TargetState>>;

const indexes = new WeakMap<HealthReport, Promise<Index>>();

export interface TargetReports {
  /** All reports, including those of silent nodes. */
  readonly all: readonly HealthReport[];
  /** The reports of nodes that are not silent. */
  readonly spoken: readonly HealthReport[];
  of(upstream: string, model: string): readonly TargetState[];
  /** What each node reports on a target; on all of the upstream's targets where no model is given. */
  byNode(upstream: string, model?: string): readonly NodeStates[];
}

export async function readTargetReports({
  store: { health },
  clock,
}: Pick<AdminContext, 'store' | 'clock'>): Promise<TargetReports> {
  const all = await health.latest(shownForMs);
  const nowMs = clock.nowMs();
  const spoken = all.filter(({ reportedAtMs }) => !isSilent(reportedAtMs, nowMs));
  const indexed = await Promise.all(
    spoken.map(async (report) => ({
      node: report.node,
      index: await getOrMake(indexes, report, () => indexReport(report)),
    })),
  );
  const byNode = (upstream: string, model?: string): NodeStates[] =>
    indexed.flatMap(({ node, index }) => {
      const states = index.get(upstream);
      if (model === undefined) return states === undefined ? [] : { node, states: [...states.values()] };
      const state = states?.get(model);
      return state === undefined ? [] : { node, states: [state] };
    });
  const of = (upstream: string, model: string): TargetState[] =>
    indexed.flatMap(({ index }) => index.get(upstream)?.get(model) ?? []);
  return { all, spoken, of, byNode };
}

async function indexReport({ targets }: HealthReport): Promise<Index> {
  const index = new Map<string, Map<string, TargetState>>();
  await inBackground.inSlices(targets, (target) =>
    getOrMake(index, target.upstream, () => new Map<string, TargetState>()).set(target.model, target),
  );
  return index;
}

export interface SnapshotIndex {
  readonly models: ReadonlyMap<string, Model>;
  /** The models that each upstream serves: their IDs by the upstream's name for them, and all of their IDs. */
  readonly byUpstream: ReadonlyMap<
    string,
    { readonly names: ReadonlyMap<string, string[]>; readonly ids: Set<string> }
  >;
}

const snapshots = new WeakMap<Snapshot, Promise<SnapshotIndex>>();

export function indexOf(snapshot: Snapshot): Promise<SnapshotIndex> {
  return getOrMake(snapshots, snapshot, () => indexModels(snapshot));
}

async function indexModels({ models: { all } }: Snapshot): Promise<SnapshotIndex> {
  const models = new Map<string, Model>();
  const byUpstream = new Map<string, { names: Map<string, string[]>; ids: Set<string> }>();
  await inBackground.inSlices(all, (model) => {
    models.set(model.id, model);
    for (const target of model.targets) {
      const { id } = target.upstream;
      const served = getOrMake(byUpstream, id, () => ({ names: new Map<string, string[]>(), ids: new Set<string>() }));
      served.ids.add(model.id);
      getOrMake(served.names, target.model, () => []).push(model.id);
    }
  });
  return { models, byUpstream };
}

type State = (typeof reportedStates)[number];

/** The state to show: healthy only after a call or a health check. Nodes of an earlier version do not report `isKnown`. */
const shownState = ({ state, isKnown = true }: TargetState): State =>
  state === 'healthy' && !isKnown ? 'unknown' : state;

/** The worst state that any node reports, and of those reports the one with the longest cooldown. */
export function worstOf(heard: readonly TargetState[]): { readonly state: State; readonly worst?: TargetState } {
  for (const state of reportedStates) {
    const [worst] = heard.filter((one) => shownState(one) === state).toSorted((a, b) => b.restsForMs - a.restsForMs);
    if (worst !== undefined) return { state, worst };
  }
  return { state: 'unknown' };
}

/** Summarises what the nodes report on one target, or on all targets of an upstream. */
export function summaryOf(said: readonly NodeStates[]) {
  const heard = said.flatMap(({ states }) => states);
  const { state, worst } = worstOf(heard);
  const latencies = heard.map(({ latencyMs }) => latencyMs).filter((ms) => ms > 0);
  return {
    state,
    why: worst?.why ?? null,
    restsForMs: worst?.restsForMs ?? 0,
    inFlight: sum(heard.map(({ inFlight }) => inFlight)),
    // Each target reports the waiting calls of the whole upstream.
    waiting: sum(said.map(({ states }) => Math.max(...states.map(({ waiting }) => waiting)))),
    latencyMs: latencies.length === 0 ? 0 : sum(latencies) / latencies.length,
    calls: sum(heard.map(({ calls = 0 }) => calls)),
    failedCalls: sum(heard.map(({ failedCalls = 0 }) => failedCalls)),
  };
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
