/** Compiles the `models` section for the pipeline, together with the families' built-in models. */

import { noCaps } from '../../../core/caps.ts';
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
import { type CompileContext, checkPattern, createClaims, Location } from '../context.ts';
import type { ConfigurationDocument } from '../document.ts';
import { lightAtOnce, ReusableStep } from '../reuse.ts';
import { checkShadow, standardPolicy, toAttemptPolicy, toListSettings, warnOfIdleSettings } from './attempt-policy.ts';
import { toPrice } from './prices.ts';
import type { ModelEntry } from './schema.ts';
import { toScores, toSpace } from './score-scale.ts';
import {
  type CompiledModel,
  calledOf,
  familyScores,
  type LocatedTarget,
  type LocatedTargets,
  nameOf,
  servedBy,
  serves,
  toTargets,
} from './targets.ts';

export function* compileModels(
  document: ConfigurationDocument,
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Generator<undefined, Model[], undefined> {
  const claim = createClaims();
  const models: Model[] = [];
  // Plans of its requests hold the custom routes of one configuration.
  const inputs = [context.families, document.importedPrices, document.routes.length === 0 ? undefined : document];
  for (const entry of document.models) {
    if (compiling.isPauseDue()) yield;
    const { path, value, createdAtMs } = entry;
    const location = new Location(context, path);
    const named = claimNames(value, claim, location);
    if (value.shadow !== undefined) checkShadow(value, document.modelNames, location);
    // One that is at fault is no fault of the model; one that is absent is.
    const called = value.targets.map(({ upstream: id }) => upstreams.get(id) ?? document.upstreamIds.has(id));
    const model = compiling.of(entry, [...inputs, ...called], context, () => {
      const [first, ...others] = toTargets(value, document, upstreams, location.at('targets'));
      if (first === undefined) return undefined;
      const isComplete = others.length + 1 === value.targets.length;
      return compileModel({ location, value, createdAtMs, isComplete }, [first, ...others]);
    });
    if (named && model !== undefined) models.push(model);
  }
  for (const text of yield* ambiguities(models)) context.warnings.push({ path: ['models'], text });
  return [...models, ...builtInModels(upstreams, document.modelNames)];
}

const compiling = new ReusableStep<Model | undefined>();

/** Patterns of one length that both match some name: the file's order decides between them unnoticed. */
function* ambiguities(models: readonly Model[]): Generator<undefined, string[], undefined> {
  const found: string[] = [];
  const patterns = models.flatMap(({ id }) => (id.includes('*') ? [id] : []));
  for (const sameLength of Map.groupBy(patterns, ({ length }) => length).values()) {
    for (const [index, id] of sameLength.entries()) {
      yield;
      for (const other of sameLength.slice(index + 1)) {
        if (overlap(id, other)) found.push(ambiguity(id, other));
      }
    }
  }
  return found;
}

function ambiguity(id: string, other: string): string {
  return `: the patterns "${id}" and "${other}" are equally long, and a name can match both; "${id}" holds, as it comes first: make one of them longer, or name such models`;
}

function overlap(one: string, other: string): boolean {
  const [start = '', end = ''] = one.split('*');
  const [otherStart = '', otherEnd = ''] = other.split('*');
  const startsFit = start.startsWith(otherStart) || otherStart.startsWith(start);
  return startsFit && (end.endsWith(otherEnd) || otherEnd.endsWith(end));
}

function claimNames({ id, aliases }: ModelEntry, claim: ReturnType<typeof createClaims>, location: Location): boolean {
  if (id.includes('*')) checkPattern(id, location.at('id'));
  let free = claim(id, location, 'id');
  aliases.forEach((alias, index) => {
    if (!alias.includes('*')) free = claim(alias, location, 'aliases', index) && free;
    else location.at('aliases', index).fault('an alias is an exact name; give the pattern a model of its own');
  });
  return free;
}

/** Such an upstream would get the role twice: in its own field, and by the prefix. */
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

/** For each family with an upstream in the file, unless the file itself uses the name. */
function builtInModels(upstreams: ReadonlyMap<string, Upstream>, taken: ReadonlySet<string>): Model[] {
  const models = new Map<string, Model>();
  for (const upstream of upstreams.values()) {
    for (const { id, operations: served } of upstream.family.builtIn ?? []) {
      if (taken.has(id) || models.has(id)) continue;
      const scores = served.includes('rerank') ? familyScores(upstream.offers, id) : undefined;
      const target: Target = Object.freeze({
        upstream,
        model: id,
        priority: 0,
        weight: 1,
        price: toPrice(undefined, upstream, id, true),
        offers: upstream.offers,
        unsupported: undefined,
        bridge: undefined,
        tokenIds: 'decode',
        scores,
        defaults: {},
      });
      models.set(
        id,
        Object.freeze({
          id,
          aliases: Object.freeze([]),
          operations: Object.freeze([...served]),
          visible: true,
          space: served.includes('embeddings') ? id : undefined,
          scores: scores?.scale,
          acceptsMessages: false,
          asksUsage: false,
          ...standardPolicy,
          caps: noCaps,
          targets: Object.freeze<[Target]>([target]),
        }),
      );
    }
  }
  return [...models.values()];
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
  /** Its upstream names that contain the matched text. */
  readonly made: readonly string[];
}

/** It may pause at every `yield`. */
export function* indexingModels(models: readonly Model[]): Generator<undefined, ModelIndex, undefined> {
  const exact = new Map<string, ResolvedModel>();
  const patterns: Pattern[] = [];
  const namesByUpstream = new Map<string, Set<string>>();
  let count = 0;
  for (const model of models) {
    count += 1;
    if (count % lightAtOnce === 0) yield;
    for (const { upstream, model: name } of model.targets) getOrMake(namesByUpstream, upstream.id, noNames).add(name);
    const resolved = getOrMake(resolvedOf, model, toResolved);
    for (const alias of model.aliases) exact.set(alias, resolved);
    if (!model.id.includes('*')) exact.set(model.id, resolved);
    else {
      const [prefix = '', suffix = ''] = model.id.split('*');
      patterns.push({ model, prefix, suffix, made: namesMadeBy(model) });
    }
  }
  patterns.sort((a, b) => b.model.id.length - a.model.id.length);

  return Object.freeze({
    all: Object.freeze([...models]),
    namesByUpstream,
    resolve(name: string) {
      const found = exact.get(name);
      // A pattern stands for names, not for itself.
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

/** Of models that the next configuration has, too. */
const resolvedOf = new WeakMap<Model, ResolvedModel>();
const toResolved = (model: Model): ResolvedModel => Object.freeze({ model, id: model.id, matched: '' });

function namesMadeBy({ targets }: Model): string[] {
  return [...new Set(targets.map(({ model }) => model).filter((name) => name.includes('*')))];
}
