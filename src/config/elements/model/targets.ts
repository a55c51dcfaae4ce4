/** Compiles the targets of a model, with their upstreams and positions in the file, and finds the scale and space that they share. */

import type { Offer } from '../../../core/family.ts';
import { labels } from '../../../core/label.ts';
import { type Operation, operationRows, operations } from '../../../core/operations/index.ts';
import type { ScoreScale, TargetScores } from '../../../core/scores.ts';
import { offerKey, type Target, type Upstream } from '../../../core/snapshot.ts';
import type { ListLimits } from '../../../core/translation.ts';
import { fromPlain, type Json } from '../../../lib/json/json-text.ts';
import { toPathText } from '../../read/faults.ts';
import { checkPattern, createFirsts, type Entry, type Location } from '../context.ts';
import type { ConfigurationDocument } from '../document.ts';
import { toOfferMap } from '../upstream/parts.ts';
import { toPrice } from './prices.ts';
import type { ModelEntry, TargetEntry } from './schema.ts';

export interface LocatedTarget {
  readonly location: Location;
  readonly target: Target;
}

export type LocatedTargets = readonly [LocatedTarget, ...LocatedTarget[]];

export interface CompiledModel extends Omit<Entry<ModelEntry>, 'path'> {
  readonly location: Location;
  readonly served: readonly Operation[];
  readonly called: LocatedTargets;
  /** Whether all targets are valid: if not, an operation that nobody offers may be that of a faulty target. */
  readonly isComplete: boolean;
}

interface NewTarget {
  readonly entry: TargetEntry;
  readonly owner: ModelEntry;
  readonly upstream: Upstream;
  /** The model's name at the upstream. */
  readonly model: string;
  readonly location: Location;
}

/** Targets whose upstream is unknown are left out. */
export function toTargets(
  value: ModelEntry,
  document: ConfigurationDocument,
  upstreams: ReadonlyMap<string, Upstream>,
  location: Location,
): LocatedTarget[] {
  if (value.targets.every(({ weight }) => weight === 0)) {
    location.fault('every weight is 0, so nothing would be called; give one of them a weight of 1 or more');
  }
  const firstOf = createFirsts<Location>();
  return value.targets.flatMap((entry, index) => {
    const at = location.at(index);
    const name = entry.model ?? value.id;
    checkName(name, value.id, at.at('model'));
    const first = firstOf(`${entry.upstream} ${name}`, at);
    if (first !== undefined) {
      at.fault(`is the same upstream and model as ${first.inWords()}; keep one, with the weight of both`);
    }
    const upstream = upstreams.get(entry.upstream);
    if (upstream === undefined) {
      // A faulty upstream in the file has a fault of its own.
      if (!document.upstreamIds.has(entry.upstream)) {
        const { nearestUpstream } = document;
        at.at('upstream').unknown('unknown upstream', entry.upstream, nearestUpstream, '; declare it under upstreams');
      }
      return [];
    }
    const target = toTarget({ entry, owner: value, upstream, model: name, location: at }, document);
    return [{ location: at, target }];
  });
}

function toTarget(made: NewTarget, { importedPrices }: Pick<ConfigurationDocument, 'importedPrices'>): Target {
  const { entry, owner, upstream, model } = made;
  const { priority, weight, bridge, unsupported, token_ids: tokenIds } = entry;
  const offers = toBridgeOffers(made) ?? upstream.offers;
  warnOfTokenIds(made, offers);
  const scores = toTargetScores(made, offers);
  const defaults = toDefaults(made, offers);
  const isMadeHere = upstream.offers.values().some(({ make }) => make !== undefined);
  return Object.freeze({
    upstream: bridge === undefined ? upstream : asBridged(upstream),
    model,
    priority,
    weight,
    price: toPrice(entry.price ?? owner.price, upstream, model, isMadeHere, importedPrices),
    bridge,
    offers,
    unsupported,
    tokenIds,
    scores,
    limits: toLimits(entry),
    defaults: withoutScores(defaults, scores),
  });
}

function toLimits({ max_items: items, max_tokens: tokens, max_bytes: bytes }: TargetEntry): ListLimits | undefined {
  if (items === undefined && tokens === undefined && bytes === undefined) return undefined;
  return Object.freeze({
    ...(items !== undefined && { items }),
    ...(tokens !== undefined && { tokens }),
    ...(bytes !== undefined && { bytes }),
  });
}

/** The upstream with the credentials of its chat API, over which the bridge calls it. */
function asBridged(upstream: Upstream): Upstream {
  const { chatCredentials: credentials } = upstream;
  return credentials === undefined ? upstream : Object.freeze({ ...upstream, credentials });
}

/** The operations that a bridge serves, and no others, because the model behind it is a chat model. */
function toBridgeOffers({ entry: { bridge }, upstream, location }: NewTarget): OfferMap | undefined {
  if (bridge === undefined) return undefined;
  const { family, options } = upstream;
  const bridges = family.bridges?.(options) ?? {};
  const offers = Object.hasOwn(bridges, bridge) ? bridges[bridge] : undefined;
  if (offers !== undefined) return toOfferMap(offers, options, () => true);
  const at = location.at('bridge');
  const known = Object.keys(bridges);
  if (known.length === 0) {
    at.fault(`family ${family.id} speaks no chat, so there is nothing to bridge to; leave this out`);
  } else {
    at.unknown('unknown bridge', bridge, known, `; known are ${known.join(', ')}`);
  }
  return undefined;
}

function toDefaults({ entry, owner, location }: NewTarget, offers: OfferMap): Readonly<Record<string, Json>> {
  const at = location.at('defaults');
  // Null counts as absent.
  const entries = Object.entries(entry.defaults).filter(([, value]) => value !== null);
  for (const [name] of entries) {
    const fix = fixFor(name.toLowerCase());
    if (fix !== undefined) at.at(name).fault(`can have no default: ${fix}`);
  }
  if (entries.length > 0 && !isTranslated(offers, owner.operations ?? operations)) {
    at.warn(' has no effect, as the bytes of a request pass as they came');
  }
  return Object.freeze(Object.fromEntries(entries.map(([name, value]) => [name, fromPlain(value)])));
}

function warnOfTokenIds({ entry, location }: NewTarget, offers: OfferMap): void {
  if (entry.token_ids !== 'pass') return;
  for (const peril of new Set([...offers.values()].map(({ perilOfTokenIds }) => perilOfTokenIds))) {
    if (peril === undefined) continue;
    location
      .at('token_ids')
      .warn(
        `: pass lets clients send any number for a token ID, and ${peril}; leave it out, unless every client knows the model's own vocabulary`,
      );
  }
}

const questions = new Set(['prompt', 'input', 'instruction', 'query', 'documents', 'messages', 'images']);

/** Advice for a default that would break every request or change its meaning; undefined for any other. */
function fixFor(parameter: string): string | undefined {
  if (parameter === 'model') return "leave it out, and write the upstream's name for the model in the target's model";
  if (parameter === 'stream') return 'leave it out; the client says whether it wants a stream';
  if (questions.has(parameter)) return 'leave it out; it is what the client asks';
  return undefined;
}

function isTranslated(offers: OfferMap, served: readonly Operation[]): boolean {
  return labels.some((label) =>
    served.some((operation) => offers.get(offerKey(label, operation))?.translation !== undefined),
  );
}

function checkName(name: string, modelId: string, location: Location): void {
  checkPattern(name, location);
  if (name.includes('*') && !modelId.includes('*')) {
    location.fault("holds a *, which stands for what the model's own pattern matched, but its ID has none");
  }
}

/** The targets with a weight; all targets where none has one, which is reported elsewhere. */
export function calledOf(targets: LocatedTargets): LocatedTargets {
  const [first, ...others] = targets.filter(({ target }) => target.weight > 0);
  return first === undefined ? targets : [first, ...others];
}

/** The target's name in messages, such as `targets[1]`: clearer than the model's name at the upstream, and reveals nothing. */
export function nameOf({ location }: LocatedTarget): string {
  return toPathText(location.path.slice(-2));
}

export function serves({ target }: Pick<LocatedTarget, 'target'>, operation: Operation): boolean {
  // Bytes pass to any target.
  if (operationRows[operation].isOperators === true)
    return target.upstream.origin !== undefined && target.bridge === undefined;
  return labels.some((label) => target.offers.has(offerKey(label, operation)));
}

export function servedBy(target: LocatedTarget): Operation[] {
  return operations.filter((one) => operationRows[one].isOperators !== true && serves(target, one));
}

type OfferMap = ReadonlyMap<string, Offer>;

function familyScores(offers: OfferMap, upstreamName: string): TargetScores | undefined {
  const offer = labels.map((label) => offers.get(offerKey(label, 'rerank'))).find((one) => one !== undefined);
  if (offer === undefined) return undefined;
  const { scale, isSwitched = false } = offer.scores ?? { scale: undefined };
  return { scale: typeof scale === 'function' ? scale(upstreamName) : scale, isSwitched, wanted: undefined };
}

function toTargetScores({ entry, owner, model, location }: NewTarget, offers: OfferMap): TargetScores | undefined {
  const { scores: said, defaults } = entry;
  const { scores: wanted } = owner;
  const { raw_scores: raw } = defaults;
  const known = familyScores(offers, model);
  if (known === undefined) {
    if (said !== undefined) location.at('scores').warn(' has no effect, as it reranks nothing');
    return undefined;
  }
  const { scale = said } = known;
  // A target whose scale differs from the family's has a server that ignores the switch.
  const isSwitched = known.isSwitched && (said === undefined || said === scale);
  if (wanted === undefined) return { scale: isSwitched && raw === true ? 'raw' : (said ?? scale), isSwitched, wanted };
  if (raw !== undefined && raw !== null) {
    location.at('defaults', 'raw_scores').warn(" has no effect, as the model's scores says what they are");
  }
  return { scale: said ?? scale, isSwitched, wanted };
}

function withoutScores(
  defaults: Readonly<Record<string, Json>>,
  scores: TargetScores | undefined,
): Readonly<Record<string, Json>> {
  if (scores?.wanted === undefined) return defaults;
  const { raw_scores: _, ...others } = defaults;
  return Object.freeze(others);
}

const inWords: Readonly<Record<ScoreScale, string>> = {
  raw: 'raw scores',
  sigmoid: 'scores between 0 and 1 (sigmoid)',
};

/** The scale that the scores of all rerank targets have; undefined where no target reranks, or one's scale is unknown. */
export function toScores({ location, value, served, called }: CompiledModel): ScoreScale | undefined {
  if (!served.includes('rerank')) return undefined;
  const ranking = called.filter((target) => serves(target, 'rerank'));
  const scaleOf = ({ target }: LocatedTargets[number]) => target.scores?.scale;
  if (value.scores !== undefined) {
    for (const located of ranking.filter((one) => scaleOf(one) === undefined)) {
      located.location.fault(
        `nobody knows on which scale its scores are, so they cannot be made ${value.scores}; say what they are with scores: raw or scores: sigmoid on this target, or take it out of the model`,
      );
    }
    return value.scores;
  }
  const scales = new Set(ranking.map(scaleOf));
  if (scales.has('raw') && scales.has('sigmoid')) {
    const naming = ranking.flatMap((located) => {
      const scale = scaleOf(located);
      return scale === undefined ? [] : [`${nameOf(located)} has ${inWords[scale]}`];
    });
    location
      .at('targets')
      .fault(
        `${naming.join(', ')}, and scores of two scales must not be mixed; set the model's scores to sigmoid or raw, to which they are brought, or make each a model of its own`,
      );
  }
  const [scale, ...others] = scales;
  return others.length === 0 ? scale : undefined;
}

/** The space of the model's vectors. Unless it is declared, all embedding targets must have one model name; undefined for a pattern. */
export function toSpace({ location, value, served, called }: CompiledModel): string | undefined {
  if (!served.includes('embeddings')) return undefined;
  if (value.space !== undefined) return value.space;
  const embedding = called.filter((target) => serves(target, 'embeddings'));
  const names = new Set(embedding.map(({ target }) => target.model));
  if (names.size > 1) {
    const naming = embedding.map((located) => `${nameOf(located)} names ${spell(located, value.id, location)}`);
    location
      .at('targets')
      .fault(
        `${naming.join(', ')}, and vectors of different models must not be mixed; make each a model of its own, or set space where all of them make the same vectors`,
      );
  }
  const [name] = names;
  return name?.includes('*') ? undefined : name; // each name that the pattern matches is a space of its own
}

/** The target's name for its model, as messages show it. A target without one uses the model's ID, elsewhere in the file. */
function spell({ location, target }: LocatedTarget, id: string, model: Location): string {
  const { context, path } = target.model === id ? model.at('id') : location.at('model');
  return context.isSubstituted(path) ? 'one from the environment' : JSON.stringify(target.model);
}
