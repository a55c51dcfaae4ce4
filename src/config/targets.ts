/** Who serves a model: targets with their upstreams, and where each stands in the file. */

import { labels, type Operation, operations } from '../core/operation.ts';
import { offerKey, type Target, type Upstream } from '../core/snapshot.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { type CompileContext, checkStars, placeOf, quoted } from './context.ts';
import type { ConfigurationDocument, Entry } from './document.ts';
import { type Path, suggestion, toPathText } from './faults.ts';
import type { ModelEntry, TargetEntry } from './model-schema.ts';

export interface PlacedTarget {
  readonly path: Path;
  readonly target: Target;
}

export type PlacedTargets = readonly [PlacedTarget, ...PlacedTarget[]];

/** Fewer than the file has where an upstream is not there. */
export function toTargets(
  { path, value }: Entry<ModelEntry>,
  document: ConfigurationDocument,
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): PlacedTarget[] {
  if (value.targets.every(({ weight }) => weight === 0)) {
    context.faults.add(
      [...path, 'targets'],
      'every weight is 0, so nothing would be called; give one of them a weight of 1 or more',
    );
  }
  const places = new Map<string, Path>();
  return value.targets.flatMap((entry, index) => {
    const at = [...path, 'targets', index];
    const name = entry.model ?? value.id;
    checkName(name, value.id, [...at, 'model'], context);
    const same = `${entry.upstream} ${name}`;
    const first = places.get(same);
    if (first === undefined) places.set(same, at);
    else {
      context.faults.add(
        at,
        `is the same upstream and model as ${placeOf(first, context)}; keep one, with the weight of both`,
      );
    }
    const upstream = upstreams.get(entry.upstream);
    if (upstream === undefined) {
      reportUnknown(entry, at, document, context);
      return [];
    }
    const { priority, weight } = entry;
    return [{ path: at, target: Object.freeze({ upstream, model: name, priority, weight }) }];
  });
}

function checkName(name: string, modelId: string, path: Path, context: CompileContext): void {
  checkStars(name, path, context);
  if (name.includes('*') && !modelId.includes('*')) {
    context.faults.add(path, "holds a *, which stands for what the model's own pattern matched, but its ID has none");
  }
}

function reportUnknown(
  { upstream }: TargetEntry,
  path: Path,
  { upstreamIds }: ConfigurationDocument,
  context: CompileContext,
): void {
  if (upstreamIds.has(upstream)) return; // it is in the file, with a fault of its own
  const at = [...path, 'upstream'];
  const hint = suggestion(nearestName(upstream, upstreamIds)) || '; declare it under upstreams';
  context.faults.add(at, `unknown upstream ${quoted(context, at, upstream)}${hint}`);
}

/** Those with a weight; where none has one, which is a fault, all of them. */
export function calledOf(targets: PlacedTargets): PlacedTargets {
  const [first, ...others] = targets.filter(({ target }) => target.weight > 0);
  return first === undefined ? targets : [first, ...others];
}

/** `targets[1]`: within its model, a place says more than a name, and gives nothing away. */
export function nameOf({ path }: PlacedTarget): string {
  return toPathText(path.slice(-2));
}

export function serves({ target }: PlacedTarget, operation: Operation): boolean {
  return labels.some((label) => target.upstream.offers.has(offerKey(label, operation)));
}

export function servedBy(target: PlacedTarget): Operation[] {
  return operations.filter((operation) => serves(target, operation));
}
