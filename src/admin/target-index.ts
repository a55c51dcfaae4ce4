/** Indexes for lists of models and upstreams: the configured targets, and the nodes' reports on them. Each is built once, in slices. */

import type { Model, Snapshot } from '../core/snapshot.ts';
import { type HealthStore, reportMaxAgeMs } from '../core/store/health.ts';
import type { HealthReport, TargetState } from '../core/target-state.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { inSlices } from '../lib/time-slices.ts';
import type { AdminContext } from './context.ts';
import { reportedStates } from './shapes/common.ts';

/** How long a silent node is still shown. */
const shownForMs = 10 * 60_000;

export const isSilent = (reportedAtMs: number, nowMs: number): boolean => nowMs - reportedAtMs > reportMaxAgeMs;

export type Heard = TargetState & { readonly node: string };

export interface TargetReports {
  /** Including silent nodes. */
  readonly all: readonly HealthReport[];
  /** Without silent nodes. */
  readonly spoken: readonly HealthReport[];
  of(upstream: string, model: string): readonly Heard[];
  ofUpstream(upstream: string): readonly Heard[];
  /** All reported targets in the order of the reports, each once. */
  readonly targets: readonly (readonly [Heard, ...Heard[]])[];
}

type Index = Omit<TargetReports, 'all' | 'spoken'>;

const nameOf = (upstream: string, model: string): string => `${upstream}\0${model}`;

/** Unchanged reports are the same objects, and keep their index. */
const indexed = new WeakMap<
  HealthStore,
  { readonly spoken: readonly HealthReport[]; readonly index: Promise<Index> }
>();

export async function readTargetReports({
  store: { health },
  clock,
}: Pick<AdminContext, 'store' | 'clock'>): Promise<TargetReports> {
  const all = await health.latest(shownForMs);
  const nowMs = clock.nowMs();
  const spoken = all.filter(({ reportedAtMs }) => !isSilent(reportedAtMs, nowMs));
  const before = indexed.get(health);
  const isSame = before?.spoken.length === spoken.length && before.spoken.every((one, at) => one === spoken[at]);
  const index = before !== undefined && isSame ? before.index : indexReports(spoken);
  if (!isSame) indexed.set(health, { spoken, index });
  return { all, spoken, ...(await index) };
}

async function indexReports(reports: readonly HealthReport[]): Promise<Index> {
  const heard = reports
    .values()
    .flatMap(({ node, targets }) => targets.values().map((target) => ({ node, ...target })));
  const byTarget = new Map<string, [Heard, ...Heard[]]>();
  const byUpstream = new Map<string, Heard[]>();
  await inSlices(heard, (one) => {
    const name = nameOf(one.upstream, one.model);
    const ofTarget = byTarget.get(name);
    if (ofTarget === undefined) byTarget.set(name, [one]);
    else ofTarget.push(one);
    getOrMake(byUpstream, one.upstream, () => []).push(one);
  });
  return {
    of: (upstream, model) => byTarget.get(nameOf(upstream, model)) ?? [],
    ofUpstream: (upstream) => byUpstream.get(upstream) ?? [],
    targets: [...byTarget.values()],
  };
}

export interface SnapshotIndex {
  readonly models: ReadonlyMap<string, Model>;
  /** The IDs of the models that an upstream serves, by its name for them; and all of them, each once. */
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
  await inSlices(all, (model) => {
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

/** Healthy only after a call or a health check. Nodes of a former version do not report `isKnown`. */
const shownState = ({ state, isKnown = true }: TargetState): State =>
  state === 'healthy' && !isKnown ? 'unknown' : state;

/** The worst that any node reports, of that state the one with the longest cooldown. */
export function worstOf(heard: readonly TargetState[]): { readonly state: State; readonly worst?: TargetState } {
  for (const state of reportedStates) {
    const [worst] = heard.filter((one) => shownState(one) === state).toSorted((a, b) => b.restsForMs - a.restsForMs);
    if (worst !== undefined) return { state, worst };
  }
  return { state: 'unknown' };
}

/** Of one target, or of all that an upstream has. */
export function summaryOf(heard: readonly Heard[]) {
  const { state, worst } = worstOf(heard);
  const latencies = heard.map(({ latencyMs }) => latencyMs).filter((ms) => ms > 0);
  return {
    state,
    why: worst?.why ?? null,
    restsForMs: worst?.restsForMs ?? 0,
    inFlight: sum(heard.map(({ inFlight }) => inFlight)),
    // Each target reports the waiting calls of the whole upstream.
    waiting: sum(byNode(heard).map(([, states]) => Math.max(...states.map(({ waiting }) => waiting)))),
    latencyMs: latencies.length === 0 ? 0 : sum(latencies) / latencies.length,
    calls: sum(heard.map(({ calls = 0 }) => calls)),
    failedCalls: sum(heard.map(({ failedCalls = 0 }) => failedCalls)),
  };
}

export const byNode = (heard: readonly Heard[]): [node: string, states: Heard[]][] => [
  ...Map.groupBy(heard, ({ node }) => node),
];

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
