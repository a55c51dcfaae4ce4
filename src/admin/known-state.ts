/** A target's displayed state: healthy only after a call or health check, with its success rate. */

import type { TargetState } from '../core/target-state.ts';

type Said = Pick<TargetState, 'state' | 'isKnown' | 'calls' | 'failedCalls'>;

/** Nodes of a former version do not report `isKnown`. */
export const shownState = ({ state, isKnown = true }: Said): TargetState['state'] | 'unknown' =>
  state === 'healthy' && !isKnown ? 'unknown' : state;

/** Over all reporting nodes. */
export function callsOf(said: readonly Said[]): { readonly calls: number; readonly failedCalls: number } {
  let [calls, failedCalls] = [0, 0];
  for (const one of said) {
    calls += one.calls ?? 0;
    failedCalls += one.failedCalls ?? 0;
  }
  return { calls, failedCalls };
}
