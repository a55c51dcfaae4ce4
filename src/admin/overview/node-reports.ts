/** What nodes said of their targets, as one picture: for each target the worst that any of them sees. */

import type * as z from 'zod';
import type { Snapshot } from '../../core/snapshot.ts';
import { type HealthReport, type TargetState, targetStates } from '../../core/target-state.ts';
import { callsOf, shownState } from '../known-state.ts';
import type { healthTarget } from './contract/state.ts';

type HealthTarget = z.input<typeof healthTarget>;

/** They speak every five seconds: what is older was said by one that is gone. */
const silentAfterMs = 15_000;
/** So long a node that fell silent is still shown. */
export const shownForMs = 10 * 60_000;

/** From bad to good. */
const states = [...targetStates, 'unknown'] as const;

/** Those of the configuration in force first, in its order, each once; nobody need have spoken of them. */
export function toTargets(snapshot: Snapshot, reports: readonly HealthReport[], nowMs: number): HealthTarget[] {
  const said = new Map<string, TargetState[]>();
  for (const { reportedAtMs, targets } of reports) {
    if (isSilent(reportedAtMs, nowMs)) continue;
    for (const target of targets) {
      const name = nameOf(target.upstream, target.model);
      said.set(name, [...(said.get(name) ?? []), target]);
    }
  }
  const shown = new Map<string, HealthTarget>();
  for (const { targets } of snapshot.models.all) {
    for (const { upstream, model, weight } of targets) {
      const name = nameOf(upstream.id, model);
      if (weight > 0 && !shown.has(name)) shown.set(name, toTarget(upstream.id, model, said.get(name) ?? []));
    }
  }
  for (const [name, list] of said) {
    const [first] = list;
    if (first !== undefined && !shown.has(name)) shown.set(name, toTarget(first.upstream, first.model, list));
  }
  return [...shown.values()];
}

export const isSilent = (reportedAtMs: number, nowMs: number): boolean => nowMs - reportedAtMs > silentAfterMs;

const nameOf = (upstream: string, model: string): string => `${upstream}\0${model}`;

function toTarget(upstream: string, model: string, said: readonly TargetState[]): HealthTarget {
  const state = states.find((one) => said.some((each) => shownState(each) === one));
  const worst = said.find((each) => shownState(each) === state);
  const latencies = said.map(({ latencyMs }) => latencyMs).filter((ms) => ms > 0);
  return {
    upstream,
    model,
    state: state ?? 'unknown',
    why: worst?.why ?? null,
    restsForMs: Math.max(0, ...said.map(({ restsForMs }) => restsForMs)),
    latencyMs: latencies.length === 0 ? null : Math.max(...latencies),
    ...callsOf(said),
    inFlight: said.reduce((sum, { inFlight }) => sum + inFlight, 0),
    waiting: said.reduce((sum, { waiting }) => sum + waiting, 0),
    restingCredentials: [...new Set(said.flatMap(({ restingCredentials }) => restingCredentials))],
    nodes: said.length,
  };
}
