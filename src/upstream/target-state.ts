/** Says how a target is, from everything that is remembered of it. */

import type { TargetState } from '../core/target-state.ts';
import type { Circuit } from './circuit.ts';
import type { KeyView, TargetView } from './standing.ts';

/** `alone`: it is called however it fails, save where it asked for a pause. */
export function stateOf(view: TargetView, alone: boolean, nowMs: number): TargetState {
  const { target, upstream, standing, keys } = view;
  const resting = keys.filter((key) => restLeftMs(key.circuit, nowMs) > 0 || restLeftMs(key.limit, nowMs) > 0);
  // A target rests as well when none of its credentials is left.
  const key = resting.length === keys.length ? soonest(resting, nowMs) : undefined;
  const own = restLeftMs(standing.circuit, nowMs);
  const restsForMs = Math.max(own, key === undefined ? 0 : keyRestMs(key, nowMs));
  const isDown = upstream.down !== undefined || restsForMs > 0;
  const isCalled = alone && isDown && keys.every((only) => bindingUntilMs(view, only) <= nowMs);
  return {
    upstream: target.upstream.id,
    model: target.model,
    state: isCalled
      ? 'failing'
      : isDown
        ? 'resting'
        : standing.circuit.state(nowMs) === 'closed'
          ? 'healthy'
          : 'probing',
    restsForMs: isCalled ? 0 : restsForMs,
    why: upstream.down ?? whyOf([standing.circuit, ...(key === undefined ? [] : [key.circuit, key.limit])], nowMs),
    inFlight: standing.inFlight,
    waiting: upstream.places.waiting,
    latencyMs: standing.latency.movingMs(nowMs),
    restingCredentials: resting.map(({ credential }) => credential.id),
  };
}

/** Until when a rest lasts that was asked for. */
export function bindingUntilMs({ standing }: TargetView, { circuit, limit }: KeyView): number {
  return Math.max(standing.circuit.bindingUntilMs, circuit.bindingUntilMs, limit.bindingUntilMs);
}

function restLeftMs(circuit: Circuit, nowMs: number): number {
  return circuit.state(nowMs) === 'closed' ? 0 : Math.max(0, circuit.restsUntilMs - nowMs);
}

function keyRestMs({ circuit, limit }: KeyView, nowMs: number): number {
  return Math.max(restLeftMs(circuit, nowMs), restLeftMs(limit, nowMs));
}

function soonest(keys: readonly KeyView[], nowMs: number): KeyView | undefined {
  return keys.toSorted((a, b) => keyRestMs(a, nowMs) - keyRestMs(b, nowMs))[0];
}

function whyOf(circuits: readonly Circuit[], nowMs: number): string | undefined {
  return circuits.find((circuit) => circuit.state(nowMs) !== 'closed')?.why;
}
