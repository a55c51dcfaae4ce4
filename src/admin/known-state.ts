/** How a target is, as people are told: healthy is only what was called or looked at, and how often its calls succeed stands beside. */

import type { TargetState } from '../core/target-state.ts';

type Said = Pick<TargetState, 'state' | 'isKnown' | 'calls' | 'failedCalls'>;

/** Nodes of a former version do not say whether they know. */
export const shownState = ({ state, isKnown = true }: Said): TargetState['state'] | 'unknown' =>
  state === 'healthy' && !isKnown ? 'unknown' : state;

/** Over all who spoke. */
export function callsOf(said: readonly Said[]): { readonly calls: number; readonly failedCalls: number } {
  let [calls, failedCalls] = [0, 0];
  for (const one of said) {
    calls += one.calls ?? 0;
    failedCalls += one.failedCalls ?? 0;
  }
  return { calls, failedCalls };
}
