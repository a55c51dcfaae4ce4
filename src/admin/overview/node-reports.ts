/** Merges what the nodes report on targets: each target gets the worst state that any node sees. */

import type * as z from 'zod';
import type { CanaryState, ShadowAgreement } from '../../core/drift.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { HealthReport } from '../../core/target-state.ts';
import { inBackground } from '../../lib/time-slices.ts';
import { type NodeStates, summaryOf, type TargetReports } from '../target-index.ts';
import type { agreement, healthTarget } from './contract/state.ts';

type HealthTarget = z.input<typeof healthTarget>;

/** Each target once: those of the configuration in force first, in its order, even if no node reports them. */
export async function toTargets({ models }: Snapshot, reports: TargetReports): Promise<HealthTarget[]> {
  const shown = new Map<string, HealthTarget>();
  const add = (upstream: string, model: string): void => {
    const name = `${upstream}\0${model}`;
    if (!shown.has(name)) shown.set(name, toTarget(upstream, model, reports.byNode(upstream, model)));
  };
  await inBackground.inSlices(models.all, ({ targets }) => {
    for (const { upstream, model, weight } of targets) if (weight > 0) add(upstream.id, model);
  });
  for (const { targets } of reports.spoken)
    await inBackground.inSlices(targets, ({ upstream, model }) => add(upstream, model));
  return [...shown.values()];
}

function toTarget(upstream: string, model: string, said: readonly NodeStates[]): HealthTarget {
  const heard = said.flatMap(({ states }) => states);
  const latencyMs = Math.max(0, ...heard.map((one) => one.latencyMs));
  return {
    ...{ upstream, model, ...summaryOf(said) },
    latencyMs: latencyMs === 0 ? null : latencyMs,
    restsForMs: Math.max(0, ...heard.map(({ restsForMs }) => restsForMs)),
    restingCredentials: [...new Set(heard.flatMap(({ restingCredentials }) => restingCredentials))],
    nodes: said.length,
  };
}

type Agreement = z.input<typeof agreement>;

/** How far models agree with their shadows and canaries: reports of live nodes, for existing models, in the order of the configuration. */
export function toAgreements(snapshot: Snapshot, reports: readonly HealthReport[]): Agreement[] {
  const said = reports.flatMap(({ drift }) => drift ?? []);
  if (said.every(({ shadows, canaries }) => shadows.length === 0 && canaries.length === 0)) return [];
  const shadows = Map.groupBy(
    said.flatMap((drift) => drift.shadows),
    ({ model }) => model,
  );
  const canaries = Map.groupBy(
    said.flatMap((drift) => drift.canaries),
    ({ model }) => model,
  );
  const known = snapshot.models.all.filter(({ id }) => shadows.has(id) || canaries.has(id));
  return known.flatMap(({ id }) => [
    ...together(shadows.get(id) ?? [], ({ shadow }) => shadow, ofShadow),
    ...together(canaries.get(id) ?? [], targetNameOf, ofCanary),
  ]);
}

const targetNameOf = ({ upstream, upstreamModel }: CanaryState): string => `${upstream}: ${upstreamModel}`;

function together<T>(
  all: readonly T[],
  nameFor: (one: T) => string,
  toLine: (name: string, said: readonly [T, ...T[]]) => Agreement,
): Agreement[] {
  return [...Map.groupBy(all, nameFor)].flatMap(([name, [first, ...others]]) =>
    first === undefined ? [] : [toLine(name, [first, ...others])],
  );
}

/** Measures of agreement, the most exact first. */
const measures = ['cosine', 'ranks', 'verdicts', 'overlap'] as const;

/** A shadow's agreement: the mean over nodes, weighted by their comparisons. */
function ofShadow(name: string, said: readonly [ShadowAgreement, ...ShadowAgreement[]]): Agreement {
  const measure = measures.find((one) => said.some((each) => each[one] !== null)) ?? null;
  let compared = 0;
  let sum = 0;
  for (const each of said) {
    const value = measure === null ? null : each[measure];
    if (value === null) continue;
    compared += each.compared;
    sum += value * each.compared;
  }
  const value = compared === 0 ? null : sum / compared;
  const all = said.reduce((total, each) => total + each.compared, 0);
  return { model: said[0].model, with: name, kind: 'shadow', measure, value, compared: all, hasChanged: false };
}

/** A canary's agreement: the lowest value of any node. */
function ofCanary(name: string, said: readonly [CanaryState, ...CanaryState[]]): Agreement {
  const values = said.flatMap(({ agreement }) => agreement ?? []);
  const value = values.length === 0 ? null : Math.min(...values);
  const facts = { kind: 'canary', measure: 'cosine', hasChanged: said.some((one) => one.hasChanged) } as const;
  return { model: said[0].model, with: name, value, compared: values.length, ...facts };
}
