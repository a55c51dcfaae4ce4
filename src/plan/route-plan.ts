/** Compiles what is known of a model and a route before any request: the targets that can serve it, and what they need. */

import { noCaps } from '../core/caps.ts';
import type { CustomRoute } from '../core/custom-route.ts';
import type { Candidate, RoutePlan } from '../core/dispatch.ts';
import type { Offer } from '../core/family.ts';
import type { Route } from '../core/route.ts';
import {
  type Model,
  offerKey,
  type ResolvedModel,
  type Target,
  type Timeouts,
  type Upstream,
} from '../core/snapshot.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { notSupported } from './find-model.ts';
import { isCountAll } from './usage/usage.ts';

const routePlans = new WeakMap<Model, Map<Route, RoutePlan>>();

/** The targets that can serve a route of a model; computed once, as neither changes. */
export function routePlanOf({ model, id }: ResolvedModel, route: Route): RoutePlan {
  const byRoute = getOrMake(routePlans, model, noPlans);
  const known = byRoute.get(route);
  if (known !== undefined) return known;
  const made = makeRoutePlan(model, route, id);
  byRoute.set(route, made);
  return made;
}

const noPlans = (): Map<Route, RoutePlan> => new Map();

function makeRoutePlan(model: Model, route: Route, modelId: string): RoutePlan {
  const tiers = new Map<number, Candidate[]>();
  let totalMs = 0;
  for (const target of model.targets.toSorted((a, b) => a.priority - b.priority)) {
    const candidate = toCandidate(target, route);
    if (candidate === undefined) continue;
    const tier = tiers.get(target.priority);
    if (tier === undefined) tiers.set(target.priority, [candidate]);
    else tier.push(candidate);
    totalMs = Math.max(totalMs, timeoutsOf(target.upstream, route).totalMs);
  }
  if (tiers.size === 0) throw notSupported(modelId, route);
  const ordered = [...tiers.values()];
  return {
    model,
    tiers: ordered,
    totalMs,
    alone: isAlone(ordered.flat()),
    replayable: route.row.replayable || model.retry.scope === 'always',
    isCountAll: isCountAll(route.row),
    isPlain: isPlainRoute(route) && isPlainModel(model) && ordered.every((tier) => tier.every(isPlainCandidate)),
  };
}

const plainCounting: ReadonlySet<string> = new Set([
  'prompts',
  'edit',
  'documents',
  'inputs',
  'inputs and images',
  'messages',
]);

/** Whether a route is plain: the client uses the operation's own format, and the upstream stores nothing. */
export function isPlainRoute({ own, entry, clientApi, isFree, query, streams, verb, row }: Route): boolean {
  const isOrdinary = own === undefined && entry === undefined && clientApi === undefined && isFree !== true;
  const hasOneForm = query === undefined && streams === undefined && verb === undefined;
  return isOrdinary && hasOneForm && row.records === undefined && plainCounting.has(row.counting);
}

const isPlainModel = ({ cache, coalesce, dedupes, hedge, matryoshka, paceMs, roles, shadow }: Model): boolean =>
  [cache, coalesce, hedge, paceMs, roles, shadow].every((one) => one === undefined) &&
  dedupes !== true &&
  matryoshka !== true;

function isPlainCandidate({ target, offer }: Candidate): boolean {
  const { upstream, defaults } = target;
  const { translation } = offer;
  const mayPass =
    translation === undefined || (translation.isNeeded !== undefined && Object.keys(defaults).length === 0);
  const isSigned = upstream.credentials.some(({ signer }) => signer !== undefined);
  return (
    mayPass &&
    !isSigned &&
    offer.make === undefined &&
    upstream.caps === noCaps &&
    upstream.paceMs === undefined &&
    upstream.family.refusesHalfCharacters === undefined
  );
}

/** The timeouts for a route, which may have its own if the operator defined it. */
export const timeoutsOf = ({ timeouts }: Upstream, { operation, own }: Route): Timeouts =>
  own === undefined ? timeouts[operation] : { ...timeouts[operation], ...own.timeouts };

function isAlone(candidates: readonly Candidate[]): boolean {
  const credentials = candidates.flatMap(({ target }) => target.upstream.credentials);
  return credentials.filter(({ weight }) => weight > 0).length === 1;
}

/** The target's offer for the route's own label, else an offer that can serve the route once the model is written into the body. */
function toCandidate(target: Target, route: Route): Candidate | undefined {
  if (target.weight === 0) return undefined;
  if (route.own !== undefined) return toCustomCandidate(target, route.own);
  const { offers } = target;
  const own = offers.get(offerKey(route.label, route.operation));
  if (hasVerb(own, route)) return withPath({ target, offer: own, lifted: false });
  const fallback =
    route.fallbackLabel === undefined ? undefined : offers.get(offerKey(route.fallbackLabel, route.operation));
  return fallback === undefined ? undefined : withPath({ target, offer: fallback, lifted: true });
}

function withPath(candidate: Candidate): Candidate {
  const { target, offer } = candidate;
  return offer.path.includes('{model}') ? candidate : { ...candidate, path: target.upstream.pathPrefix + offer.path };
}

export const hasVerb = (offer: Offer | undefined, { verb }: Route): offer is Offer =>
  offer !== undefined && (offer.verbs === undefined || (verb !== undefined && offer.verbs.includes(verb)));

/** The target's candidate for a custom route: for any family, the call goes to the path in the operator's configuration. */
function toCustomCandidate(target: Target, { offer, upstreams }: CustomRoute): Candidate | undefined {
  const { upstream, bridge } = target;
  const isMeant = upstreams === undefined || upstreams.has(upstream.id);
  return isMeant && upstream.origin !== undefined && bridge === undefined
    ? { target, offer, lifted: false }
    : undefined;
}

export function withOnly(routePlan: RoutePlan, fits: (candidate: Candidate) => boolean): RoutePlan {
  const tiers = routePlan.tiers.map((tier) => tier.filter(fits)).filter((tier) => tier.length > 0);
  return tiers.flat().length === routePlan.tiers.flat().length ? routePlan : { ...routePlan, tiers };
}
