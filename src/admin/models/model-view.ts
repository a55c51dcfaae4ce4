/** A model as operators see it: what is written of it, what holds, and how its targets are. */

import { type Operation, operations } from '../../core/operations/index.ts';
import type { ConfiguredElement } from '../../core/resource-desk.ts';
import { type ScoreScale, scoreScales } from '../../core/scores.ts';
import type { Model, Snapshot } from '../../core/snapshot.ts';
import { type HealthReport, type TargetState, targetStates } from '../../core/target-state.ts';
import { callsOf, shownState } from '../known-state.ts';
import { toInstant } from '../shapes/common.ts';
import { targetsIn, toPriceView } from './price-view.ts';

/** Older ones are of gateways that are gone. */
export const healthMaxAgeMs = 15_000;

/** What is said of every element, whatever it is. */
export function toManaged({ managedBy, place, version, updatedAtMs, inForce }: ConfiguredElement) {
  return {
    managedBy,
    place: place ?? null,
    version: version ?? null,
    updatedAt: updatedAtMs === undefined ? null : toInstant(updatedAtMs),
    inForce,
  };
}

/** Where it is not in force yet, what was written counts before what holds. */
export function toModelView(element: ConfiguredElement, snapshot: Snapshot, reports: readonly HealthReport[]) {
  const { id, document, inForce } = element;
  const compiled = snapshot.models.all.find((one) => one.id === id);
  const isWritten = compiled === undefined || !inForce;
  return {
    id,
    aliases: isWritten ? textsIn(document.aliases) : [...compiled.aliases],
    operations: isWritten
      ? (operationsIn(document.operations) ?? [...(compiled?.operations ?? [])])
      : [...compiled.operations],
    visible: isWritten ? document.visible !== false : compiled.visible,
    space: spaceOf(element, compiled),
    scores: scoresOf(element, compiled),
    targets: targetsOf(element, compiled).map((target) => ({ ...target, ...healthOf(target, reports) })),
    ...toManaged({ ...element, inForce: inForce && compiled !== undefined }),
  };
}

export type ModelView = ReturnType<typeof toModelView>;

function spaceOf({ document, inForce }: ConfiguredElement, compiled: Model | undefined): string | null {
  if (inForce) return compiled?.space ?? null;
  return typeof document.space === 'string' ? document.space : null;
}

function scoresOf({ document, inForce }: ConfiguredElement, compiled: Model | undefined): ScoreScale | null {
  if (inForce) return compiled?.scores ?? null;
  return scoreScales.find((scale) => scale === document.scores) ?? null;
}

function targetsOf({ id, document, inForce }: ConfiguredElement, compiled: Model | undefined) {
  if (inForce && compiled !== undefined) {
    return compiled.targets.map((target) => ({
      upstream: target.upstream.id,
      model: target.model,
      priority: target.priority,
      weight: target.weight,
      bridge: target.bridge ?? null,
      price: toPriceView(target, document),
    }));
  }
  return targetsIn(document).map(({ upstream, model, priority, weight, bridge }) => ({
    upstream: String(upstream ?? ''),
    model: String(model ?? id),
    priority: Number.isInteger(priority) ? Number(priority) : 0,
    weight: Number.isInteger(weight) ? Number(weight) : 1,
    bridge: typeof bridge === 'string' ? bridge : null,
    price: null,
  }));
}

type State = TargetState['state'] | 'unknown';
const worstFirst: readonly State[] = [...targetStates, 'unknown'];

function healthOf({ upstream, model }: { upstream: string; model: string }, reports: readonly HealthReport[]) {
  const nodes = reports.flatMap(({ node, targets }) =>
    targets
      .filter((state) => state.upstream === upstream && state.model === model)
      .map(({ why, restsForMs, latencyMs, inFlight, waiting, restingCredentials, ...said }) => ({
        node,
        state: shownState(said),
        why: why ?? null,
        restsForMs,
        latencyMs,
        ...callsOf([said]),
        inFlight,
        waiting,
        restingCredentials: [...restingCredentials],
      })),
  );
  const health: State = worstFirst.find((state) => nodes.some((one) => one.state === state)) ?? 'unknown';
  return { health, isListed: isListed({ upstream, model }, reports), nodes };
}

/** Until somebody has read the list, and found that it is not there, it may be. */
function isListed(target: { upstream: string; model: string }, reports: readonly HealthReport[]): boolean {
  const states = reports.flatMap(({ targets }) => targets);
  return !states.some(
    (one) => one.isListed === false && one.upstream === target.upstream && one.model === target.model,
  );
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

function operationsIn(value: unknown): Operation[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return operations.filter((operation) => value.includes(operation));
}
