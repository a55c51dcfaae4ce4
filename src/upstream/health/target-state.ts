/** Describes the state of a target for reports, from its health. */

import { type TargetState, targetStates } from '../../core/target-state.ts';
import type { Circuit } from './circuit.ts';
import type { KeyView, TargetView } from './target-health.ts';

/** The state of a target. That of a model pattern has the state of its worst name, shown in `why`, as clients may use any number of names. */
export function stateWithNames(
  view: TargetView,
  alone: boolean,
  nowMs: number,
  lanes: TargetState['lanes'],
): TargetState {
  const whole = stateOf(view, alone, nowMs, lanes);
  if (view.names === undefined || view.names.size === 0) return whole;
  const states = [...view.names.values()].map((named) => ({
    name: named.health.name,
    ...stateOf(named, alone, nowMs, lanes),
  }));
  const worst = states.reduce((one, other) => (isWorse(other, one) ? other : one));
  return {
    ...whole,
    state: worst.state,
    restsForMs: worst.restsForMs,
    why: worst.why === undefined ? undefined : `${worst.name}: ${worst.why}`,
    isSloMissed: states.find(({ isSloMissed }) => isSloMissed)?.isSloMissed ?? whole.isSloMissed,
    inFlight: states.reduce((sum, { inFlight }) => sum + inFlight, 0),
    latencyMs: Math.max(...states.map(({ latencyMs }) => latencyMs)),
    restingCredentials: [...new Set(states.flatMap(({ restingCredentials }) => restingCredentials))],
  };
}

function isWorse(one: TargetState, than: TargetState): boolean {
  if (one.state === than.state) return one.restsForMs > than.restsForMs;
  return targetStates.indexOf(one.state) < targetStates.indexOf(than.state);
}

/** The state of one name. `alone`: the target is called even in cooldown, unless it requested a pause. */
function stateOf(view: TargetView, alone: boolean, nowMs: number, lanes: TargetState['lanes']): TargetState {
  const { target, upstream, health, keys } = view;
  const inCooldown = keys.filter(
    (key) => cooldownLeftMs(key.circuit, nowMs) > 0 || cooldownLeftMs(key.limit, nowMs) > 0,
  );
  // A target is also in cooldown when all its credentials are.
  const key = inCooldown.length === keys.length ? soonest(inCooldown, nowMs) : undefined;
  const own = cooldownLeftMs(health.circuit, nowMs);
  const cooldownMs = Math.max(own, key === undefined ? 0 : keyCooldownMs(key, nowMs));
  const isDown = upstream.down !== undefined || cooldownMs > 0;
  const isCalled = alone && isDown && keys.every((only) => bindingUntilMs(view, only) <= nowMs);
  const isLoading = upstream.down === undefined && health.circuit.openedBy === 'loading';
  return {
    upstream: target.upstream.id,
    model: target.model,
    state: toState({ isLoading, isCalled, isDown, isOpen: health.circuit.state(nowMs) !== 'closed' }),
    restsForMs: isCalled ? 0 : cooldownMs,
    why: upstream.down ?? whyOf([health.circuit, ...(key === undefined ? [] : [key.circuit, key.limit])], nowMs),
    inFlight: health.inFlight,
    waiting: upstream.slots.waiting,
    lanes,
    bulkLimit: Number.isFinite(upstream.slots.bulkLimit) ? upstream.slots.bulkLimit : undefined,
    isSloMissed: health.slo?.isMissed,
    learnedLimit: upstream.slots.auto?.learned,
    latencyMs: health.latency.measuredMs(nowMs),
    ...health.recent.sums(nowMs),
    isKnown: health.recent.wasCalled || upstream.isChecked,
    restingCredentials: inCooldown.map(({ credential }) => credential.id),
  };
}

interface Signs {
  readonly isLoading: boolean;
  readonly isCalled: boolean;
  readonly isDown: boolean;
  readonly isOpen: boolean;
}

function toState({ isLoading, isCalled, isDown, isOpen }: Signs): TargetState['state'] {
  if (isLoading) return 'loading';
  if (isCalled) return 'failing';
  if (isDown) return 'resting';
  return isOpen ? 'probing' : 'healthy';
}

export function bindingUntilMs({ health }: TargetView, { circuit, limit }: KeyView): number {
  return Math.max(health.circuit.bindingUntilMs, circuit.bindingUntilMs, limit.bindingUntilMs);
}

function cooldownLeftMs(circuit: Circuit, nowMs: number): number {
  return circuit.state(nowMs) === 'closed' ? 0 : Math.max(0, circuit.cooldownUntilMs - nowMs);
}

function keyCooldownMs({ circuit, limit }: KeyView, nowMs: number): number {
  return Math.max(cooldownLeftMs(circuit, nowMs), cooldownLeftMs(limit, nowMs));
}

function soonest(keys: readonly KeyView[], nowMs: number): KeyView | undefined {
  return keys.toSorted((a, b) => keyCooldownMs(a, nowMs) - keyCooldownMs(b, nowMs))[0];
}

function whyOf(circuits: readonly Circuit[], nowMs: number): string | undefined {
  return circuits.find((circuit) => circuit.state(nowMs) !== 'closed')?.why;
}
