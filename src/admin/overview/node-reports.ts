/** What nodes reported of their targets, as one picture: for each target the worst that any of them sees. */

import type * as z from 'zod';
import type { Snapshot } from '../../core/snapshot.ts';
import { type TargetState, targetStates } from '../../core/target-state.ts';
import { callsOf, shownState } from '../known-state.ts';
import type { TargetReports } from '../target-index.ts';
import type { healthTarget } from './contract/state.ts';

type HealthTarget = z.input<typeof healthTarget>;

/** From bad to good. */
const states = [...targetStates, 'unknown'] as const;

/**
 * Those of the configuration in force first, in its order, each once; nobody need have reported them. Every `yield` is a place to
 * stop at.
 */
export function* toTargets(
  snapshot: Snapshot,
  reports: TargetReports,
): Generator<undefined, HealthTarget[], undefined> {
  const shown = new Map<string, HealthTarget>();
  for (const { targets } of snapshot.models.all) {
    yield;
    for (const { upstream, model, weight } of targets) {
      const name = nameOf(upstream.id, model);
      if (weight > 0 && !shown.has(name)) shown.set(name, toTarget(upstream.id, model, reports.of(upstream.id, model)));
    }
  }
  for (const heard of reports.targets) {
    yield;
    const [{ upstream, model }] = heard;
    const name = nameOf(upstream, model);
    if (!shown.has(name)) shown.set(name, toTarget(upstream, model, heard));
  }
  return [...shown.values()];
}

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
