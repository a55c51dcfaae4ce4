/** Compiles the configured models, together with those that families have built in, into the form that serves requests. */

import { mayBeMatched, upstreamNameOf } from '../../../core/model-name.ts';
import { companionsOf, type Operation, operationRows, operations } from '../../../core/operations/index.ts';
import {
  type Model,
  type ModelIndex,
  offerKey,
  type ResolvedModel,
  type Target,
  type Upstream,
} from '../../../core/snapshot.ts';
import { getOrMake } from '../../../lib/get-or-make.ts';
import { toCaps } from '../caps.ts';
import { type CompileContext, checkPattern, createClaims, type Entry, Location } from '../context.ts';
import type { ConfigurationDocument } from '../document.ts';
import { lightAtOnce, ReusableStep } from '../reuse.ts';
import { checkShadow, toAttemptPolicy, toListSettings, warnOfIdleSettings } from './attempt-policy.ts';
import { type ModelEntry, modelSchema } from './schema.ts';
import {
  type CompiledModel,
  calledOf,
  type LocatedTarget,
  type LocatedTargets,
  nameOf,
  servedBy,
  serves,
  toScores,
  toSpace,
  toTargets,
} from './targets.ts';

/** Models that are compiled together, with what the index of all models needs to know of them. */
export interface CompiledGroup {
  readonly models: readonly Model[];
  /** Each model with its entry in the configuration; empty for built-in models. */
  readonly pairs: readonly { readonly entry: Entry<ModelEntry>; readonly model: Model }[];
  readonly shadowing: readonly Entry<ModelEntry>[];
  /** The models' IDs and aliases, without patterns. */
  readonly names: readonly { readonly name: string; readonly resolved: ResolvedModel }[];
  readonly patterns: readonly Model[];
  readonly targets: readonly { readonly upstream: string; readonly name: string }[];
}

export function* compileModels(
  document: ConfigurationDocument,
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Generator<undefined, readonly CompiledGroup[], undefined> {
  const { modelNames, upstreamIds } = document;
  if (!document.areModelNamesUnique) yield* claimAll(document, context);
  const inputs = [
    context.families,
    document.importedPrices,
    // Plans of requests to these models hold the custom routes of one configuration.
    document.routes.length === 0 ? undefined : document,
  ];
  // An upstream that is at fault is no fault of its models: these are compiled anew once it is no longer there.
  const groupInputs = [...inputs, upstreams, upstreamIds.size === upstreams.size ? undefined : document];
  function* compileGroup(entries: readonly Entry<ModelEntry>[]): Generator<undefined, CompiledGroup, undefined> {
    const pairs: { readonly entry: Entry<ModelEntry>; readonly model: Model }[] = [];
    for (const entry of entries) {
      if (compiling.isPauseDue()) yield;
      const { path, value, createdAtMs } = entry;
      const location = new Location(context, path);
      checkNames(value, location);
      // A faulty upstream is no fault of the model; an absent one is.
      const called = value.targets.map(({ upstream: id }) => upstreams.get(id) ?? upstreamIds.has(id));
      const model = compiling.of(entry, [...inputs, ...called], context, () => {
        const [first, ...others] = toTargets(value, document, upstreams, location.at('targets'));
        if (first === undefined) return undefined;
        const isComplete = others.length + 1 === value.targets.length;
        return compileModel({ location, value, createdAtMs, isComplete }, [first, ...others]);
      });
      if (model !== undefined) pairs.push({ entry, model });
    }
    const shadowing = entries.filter(({ value }) => value.shadow !== undefined);
    return { ...toGroup(pairs.map(({ model }) => model)), pairs, shadowing };
  }
  const groups: CompiledGroup[] = [];
  for (const entries of document.models) {
    if (compilingGroup.isPauseDue()) yield;
    groups.push(yield* compilingGroup.steps(entries, groupInputs, context, () => compileGroup(entries)));
  }
  for (const { value, path } of groups.flatMap(({ shadowing }) => shadowing)) {
    checkShadow(value, modelNames, new Location(context, path));
  }
  for (const text of yield* ambiguities(groups)) context.warnings.push({ path: ['models'], text });
  return [...groups, { ...toGroup([...builtInModels(document, upstreams, context)]), pairs: [], shadowing: [] }];
}

const compiling = new ReusableStep<Model | undefined>();
const compilingGroup = new ReusableStep<CompiledGroup>();

function toGroup(models: readonly Model[]): Omit<CompiledGroup, 'pairs' | 'shadowing'> {
  const patterns = models.filter(({ id }) => id.includes('*'));
  return {
    models,
    patterns,
    names: models.flatMap((model) => {
      const { id, aliases } = model;
      const resolved = Object.freeze({ model, id, matched: '' });
      return (id.includes('*') ? aliases : [...aliases, id]).map((name) => ({ name, resolved }));
    }),
    targets: models.flatMap(({ targets }) =>
      targets.map(({ upstream, model }) => ({ upstream: upstream.id, name: model })),
    ),
  };
}

/** Finds patterns of equal length that match a common name: the file's order then decides between them, unnoticed. */
function* ambiguities(groups: readonly CompiledGroup[]): Generator<undefined, string[], undefined> {
  const found: string[] = [];
  const patterns = groups.flatMap((group) => group.patterns.map(({ id }) => id));
  for (const sameLength of Map.groupBy(patterns, ({ length }) => length).values()) {
    for (const [index, id] of sameLength.entries()) {
      yield;
      for (const other of sameLength.slice(index + 1)) {
        if (!overlap(id, other)) continue;
        found.push(
          `: the patterns "${id}" and "${other}" are equally long, and a name can match both; "${id}" holds, as it comes first: make one of them longer, or name such models`,
        );
      }
    }
  }
  return found;
}

function overlap(one: string, other: string): boolean {
  const [start = '', end = ''] = one.split('*');
  const [otherStart = '', otherEnd = ''] = other.split('*');
  const startsFit = start.startsWith(otherStart) || otherStart.startsWith(start);
  return startsFit && (end.endsWith(otherEnd) || otherEnd.endsWith(end));
}

function checkNames({ id, aliases }: ModelEntry, location: Location): void {
  if (id.includes('*')) checkPattern(id, location.at('id'));
  aliases.forEach((alias, index) => {
    if (!alias.includes('*')) return;
    location.at('aliases', index).fault('an alias is an exact name; give the pattern a model of its own');
  });
}

function* claimAll({ models }: ConfigurationDocument, context: CompileContext): Generator<undefined, void, undefined> {
  const claim = createClaims();
  for (const entries of models) {
    for (const [at, { path, value }] of entries.entries()) {
      if (at % lightAtOnce === 0) yield;
      const location = new Location(context, path);
      claim(value.id, location, 'id');
      value.aliases.forEach((alias, index) => {
        if (!alias.includes('*')) claim(alias, location, 'aliases', index);
      });
    }
  }
}

/** The model's prefixes for roles. Reports an upstream with a field for the role, which would get the role twice. */
function toRoles({ location, value: { roles }, called }: CompiledModel): Model['roles'] {
  if (roles === undefined) return undefined;
  const key = offerKey('openai', 'embeddings');
  const knowing = called.find(({ target }) => target.offers.get(key)?.translation?.hasRoles === true);
  if (knowing !== undefined) {
    const { id, family } = knowing.target.upstream;
    location
      .at('roles')
      .fault(
        `the upstream "${id}" (${family.id}) knows roles by itself; leave it out, or give that upstream a model of its own`,
      );
  }
  return Object.freeze({ ...roles });
}

function compileModel(entry: Omit<CompiledModel, 'called' | 'served'>, targets: LocatedTargets): Model {
  const { location, value, createdAtMs } = entry;
  const called = calledOf(targets);
  const served = toOperations({ ...entry, called });
  const model: CompiledModel = { ...entry, called, served };
  if (!value.visible && served.every((operation) => operationRows[operation].visibleModelsOnly)) {
    location.warn(`: nothing reaches it, as a hidden model does not answer on the ${served.join(' and ')} routes`);
  }
  warnOfIdleSettings(model);
  const [first, ...others] = targets;
  return Object.freeze({
    id: value.id,
    aliases: Object.freeze([...value.aliases]),
    createdAtS: createdAtMs === undefined ? undefined : Math.floor(createdAtMs / 1000),
    operations: Object.freeze(served),
    visible: value.visible,
    space: toSpace(model),
    scores: toScores(model),
    context: value.context,
    maxOutput: value.max_output,
    maxToolCalls: value.max_tool_calls,
    dimensions: value.dimensions,
    matryoshka: value.matryoshka,
    roles: toRoles(model),
    maxAudioMs: value.max_audio,
    acceptsMessages: value.accepts_messages,
    asksUsage: value.usage === 'ask',
    lane: value.lane,
    paceMs: value.pace,
    interactiveMs: value.slo?.interactive.p95,
    shape: value.shape,
    ...toAttemptPolicy(model),
    ...toListSettings(model),
    caps: toCaps(value, location),
    targets: Object.freeze<[Target, ...Target[]]>([first.target, ...others.map(({ target }) => target)]),
  });
}

/** The built-in models of families that have an upstream, unless the file uses the name; compiled as if they were written in the file. */
function* builtInModels(
  document: ConfigurationDocument,
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Generator<Model> {
  const taken = new Set(document.modelNames);
  for (const { id: upstream, family } of upstreams.values()) {
    for (const { id, operations: served } of family.builtIn ?? []) {
      if (taken.has(id)) continue;
      taken.add(id);
      const value = modelSchema.parse({ id, operations: served, targets: [{ upstream }] });
      const location = new Location(context, []);
      const [target] = toTargets(value, document, upstreams, location);
      if (target !== undefined) yield compileModel({ location, value, isComplete: true }, [target]);
    }
  }
}

function toOperations({ location, value, called, isComplete }: Omit<CompiledModel, 'served'>): Operation[] {
  const at = location.at('operations');
  if (value.operations === undefined) return toOffered(called, at);
  const served = [...new Set(value.operations)];
  for (const operation of served) {
    const lacking = called.filter((target) => !serves(target, operation));
    if (lacking.length < called.length) {
      for (const { location: modelLocation, target } of lacking) {
        modelLocation.warn(
          `: family ${target.upstream.family.id} does not offer ${operation}, so this target is passed over for it`,
        );
      }
    } else if (isComplete) {
      at.at(value.operations.indexOf(operation)).fault(
        `${operation} is not offered by ${lacking.map(offer).join(', nor by ')}`,
      );
    }
  }
  const companions = companionsOf(served, (operation) => called.some((target) => serves(target, operation)));
  return [...served, ...companions.filter((operation) => operationRows[operation].isImplied === true)];
}

function toOffered(called: LocatedTargets, location: Location): Operation[] {
  const all = new Set(called.flatMap(servedBy));
  const offered = operations.filter((operation) => all.has(operation));
  if (offered.length > 1) {
    const families = [...new Set(called.map(({ target }) => target.upstream.family.id))];
    const subject =
      families.length === 1 ? `family ${families[0]}, which offers` : `families ${families.join(' and ')}, which offer`;
    location.warn(` is left to ${subject} ${offered.join(', ')}; name those that the model serves`);
  }
  return offered;
}

function offer(located: LocatedTarget): string {
  const offered = servedBy(located).join(', ') || 'nothing';
  return `${nameOf(located)} (family ${located.target.upstream.family.id}), which offers ${offered}`;
}

interface Pattern {
  readonly model: Model;
  readonly prefix: string;
  readonly suffix: string;
  /** Names of the model at its upstreams that contain the text that its pattern matched. */
  readonly made: readonly string[];
}

/** Builds the index of all models. It may pause at every `yield`. */
export function* indexingModels(groups: readonly CompiledGroup[]): Generator<undefined, ModelIndex, undefined> {
  const exact = new Map<string, ResolvedModel>();
  const patterns: Pattern[] = [];
  const namesByUpstream = new Map<string, Set<string>>();
  for (const group of groups) {
    yield;
    for (const { upstream, name } of group.targets) getOrMake(namesByUpstream, upstream, noNames).add(name);
    for (const { name, resolved } of group.names) exact.set(name, resolved);
    for (const model of group.patterns) {
      const [prefix = '', suffix = ''] = model.id.split('*');
      patterns.push({ model, prefix, suffix, made: namesMadeBy(model) });
    }
  }
  patterns.sort((a, b) => b.model.id.length - a.model.id.length);

  return Object.freeze({
    all: Object.freeze(groups.flatMap(({ models }) => models)),
    namesByUpstream,
    resolve(name: string) {
      const found = exact.get(name);
      // A pattern stands for names and cannot be named itself.
      if (found !== undefined || patterns.length === 0 || name.includes('*') || !mayBeMatched(name)) return found;
      for (const { model, prefix, suffix, made } of patterns) {
        if (name.length < prefix.length + suffix.length) continue;
        if (!name.startsWith(prefix) || !name.endsWith(suffix)) continue;
        const matched = name.slice(prefix.length, name.length - suffix.length);
        // With `x*`, `x../y` is a harmless name, but its matched part `../y` is not.
        return made.every((one) => mayBeMatched(upstreamNameOf(one, matched)))
          ? { model, id: name, matched }
          : undefined;
      }
      return undefined;
    },
  });
}

const noNames = (): Set<string> => new Set();

function namesMadeBy({ targets }: Model): string[] {
  return [...new Set(targets.map(({ model }) => model).filter((name) => name.includes('*')))];
}
