/** The `models` section as the pipeline uses it, and the models that come with a family. */

import { type Operation, operations } from '../core/operation.ts';
import { type Model, offerKey, type Target, type Upstream } from '../core/snapshot.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { type CompileContext, createClaims, quoted } from './context.ts';
import type { ConfigurationDocument, Entry } from './document.ts';
import { type Path, suggestion, toPathText } from './faults.ts';
import type { ModelEntry, TargetEntry } from './schema.ts';

/** On the routes of these, a hidden model answers as an unknown one does. */
const visibleOnly: readonly Operation[] = ['rerank', 'embeddings'];

type Targets = readonly [Target, ...Target[]];

export function compileModels(
  document: ConfigurationDocument,
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Model[] {
  const claim = createClaims(context);
  const models: Model[] = [];
  for (const { path, value } of document.models) {
    const named = claimNames(value, path, claim, context);
    const targets = toTargets(value, path, document, upstreams, context);
    const [first, ...others] = targets;
    if (first !== undefined && named) models.push(compileModel({ path, value }, [first, ...others], context));
  }
  return [...models, ...builtInModels(upstreams, document.modelNames)];
}

function claimNames(
  { id, aliases }: ModelEntry,
  path: Path,
  claim: (name: string, path: Path) => boolean,
  context: CompileContext,
): boolean {
  checkStars(id, [...path, 'id'], context);
  let free = claim(id, [...path, 'id']);
  for (const [index, alias] of aliases.entries()) {
    const at = [...path, 'aliases', index];
    if (alias.includes('*')) context.faults.add(at, 'an alias is an exact name; give the pattern a model of its own');
    else free = claim(alias, at) && free;
  }
  return free;
}

/** A pattern has one `*` at most. */
export function checkStars(name: string, path: Path, { faults }: CompileContext): void {
  if (name.indexOf('*') !== name.lastIndexOf('*')) faults.add(path, 'holds more than one *; a pattern has one');
}

function toTargets(
  model: ModelEntry,
  path: Path,
  document: ConfigurationDocument,
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Target[] {
  return model.targets.flatMap((entry, index) => {
    const at = [...path, 'targets', index];
    const name = entry.model ?? model.id;
    checkStars(name, [...at, 'model'], context);
    if (name.includes('*') && !model.id.includes('*')) {
      context.faults.add(
        [...at, 'model'],
        "holds a *, which stands for what the model's own pattern matched, but its ID has none",
      );
    }
    const upstream = upstreams.get(entry.upstream);
    if (upstream === undefined) reportUnknown(entry, at, document, context);
    return upstream === undefined
      ? []
      : [Object.freeze({ upstream, model: name, priority: entry.priority, weight: entry.weight })];
  });
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

function compileModel({ path, value }: Entry<ModelEntry>, targets: Targets, context: CompileContext): Model {
  const served = toOperations(value, path, firstOf(targets).upstream, context);
  if (!value.visible && served.every((operation) => visibleOnly.includes(operation))) {
    context.warnings.push(
      `${toPathText(path)}: nothing reaches it, as a hidden model does not answer on the ${served.join(' and ')} routes`,
    );
  }
  return Object.freeze({
    id: value.id,
    aliases: Object.freeze([...value.aliases]),
    operations: Object.freeze(served),
    visible: value.visible,
    space: served.includes('embeddings') ? toSpace(value, path, targets, context) : value.space,
    acceptsMessages: value.accepts_messages,
    targets: Object.freeze(targets),
  });
}

/** The one that is called: the first of the lowest priority. */
function firstOf(targets: Targets): Target {
  return targets.reduce((best, target) => (target.priority < best.priority ? target : best));
}

function toOperations(model: ModelEntry, path: Path, upstream: Upstream, context: CompileContext): Operation[] {
  const { family } = upstream;
  const offered = operations.filter((operation) => upstream.offers.has(offerKey('openai', operation)));
  if (model.operations === undefined) {
    if (offered.length > 1) {
      context.warnings.push(
        `${toPathText(path)}.operations is left to family ${family.id}, which offers ${offered.join(', ')}; name those that the model serves`,
      );
    }
    return offered;
  }
  for (const [index, operation] of model.operations.entries()) {
    if (offered.includes(operation) || upstream.offers.has(offerKey('engines', operation))) continue;
    context.faults.add(
      [...path, 'operations', index],
      `${operation} is not offered by upstream ${upstream.id} (family ${family.id}), which offers ${offered.join(', ') || 'nothing'}`,
    );
  }
  return [...new Set(model.operations)];
}

/** Vectors of different models must never be mixed: without a declared space, all targets have to name the same model. */
function toSpace(model: ModelEntry, path: Path, targets: Targets, { faults }: CompileContext): string | undefined {
  if (model.space !== undefined) return model.space;
  const embedding = targets.filter(({ upstream }) => upstream.offers.has(offerKey('openai', 'embeddings')));
  if (new Set(embedding.map((target) => target.model)).size > 1) {
    faults.add(
      [...path, 'targets'],
      'the targets name different models, whose vectors must not be mixed; set space if all of them share one',
    );
  }
  const { model: name } = firstOf(targets);
  return name.includes('*') ? undefined : name; // each name that the pattern matches is a space of its own
}

/** Those of each family that the file has an upstream of, save where the file itself uses the name. */
function builtInModels(upstreams: ReadonlyMap<string, Upstream>, taken: ReadonlySet<string>): Model[] {
  const models = new Map<string, Model>();
  for (const upstream of upstreams.values()) {
    for (const { id, operations: served } of upstream.family.builtIn ?? []) {
      if (taken.has(id) || models.has(id)) continue;
      const target = Object.freeze({ upstream, model: id, priority: 0, weight: 1 });
      models.set(
        id,
        Object.freeze({
          id,
          aliases: Object.freeze([]),
          operations: Object.freeze([...served]),
          visible: true,
          space: served.includes('embeddings') ? id : undefined,
          acceptsMessages: false,
          targets: Object.freeze<[Target]>([target]),
        }),
      );
    }
  }
  return [...models.values()];
}
