/** Sums up what nodes report of targets, for display: the worst state, calls and latency. */

import type { TargetState } from '../core/target-state.ts';
import { reportedStates } from './shapes/common.ts';
import type { Heard } from './target-index.ts';

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
