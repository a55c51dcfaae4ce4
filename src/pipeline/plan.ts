/** Chooses where an exchange goes and writes the call. Pure: no clock, no I/O. */

import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Offer } from '../core/family.ts';
import type { Call } from '../core/outcome.ts';
import type { Route } from '../core/route.ts';
import { offerKey, type ResolvedModel, type Target, type Upstream } from '../core/snapshot.ts';
import { replaceSpan } from '../lib/json-scan.ts';
import { upstreamHeaders } from './headers.ts';
import { duplicate, modelNameOf, type Question } from './question.ts';

export interface Plan {
  readonly target: Target;
  readonly call: Call;
}

export function makePlan(
  exchange: Exchange,
  route: Route,
  question: Question,
  resolved: ResolvedModel,
  clientHeaders: IncomingHttpHeaders,
): Plan {
  const target = firstTarget(resolved.model.targets);
  const { upstream } = target;
  const { offer, lifted } = findOffer(upstream, route, resolved.id);
  const upstreamName = target.model.includes('*') ? target.model.replace('*', () => resolved.matched) : target.model;
  return {
    target,
    call: {
      upstream,
      offer,
      path: upstream.pathPrefix + toPath(offer, upstreamName),
      headers: upstreamHeaders(exchange.id, upstream, clientHeaders),
      body: withModel(question, upstreamName, lifted || route.model.from === 'body'),
      timeouts: upstream.timeouts[route.operation],
      client: exchange.client,
    },
  };
}

/** The name as one encoded segment. What a pattern caught may be no name at all, and must not lead to another path. */
function toPath(offer: Offer, upstreamName: string): string {
  if (!offer.path.includes('{model}')) return offer.path;
  if (upstreamName === '' || upstreamName === '.' || upstreamName === '..') {
    throw new GatewayError('model_not_found', { param: 'model' });
  }
  return offer.path.replace('{model}', () => encodeURIComponent(upstreamName));
}

function firstTarget(targets: ResolvedModel['model']['targets']): Target {
  let best = targets[0];
  for (const target of targets) {
    if (target.priority < best.priority) best = target;
  }
  return best;
}

/** By the route's own label, else by the one that may serve it once the model is lifted into the body. */
function findOffer(upstream: Upstream, route: Route, modelId: string): { offer: Offer; lifted: boolean } {
  const own = upstream.offers.get(offerKey(route.label, route.operation));
  if (own !== undefined) return { offer: own, lifted: false };
  const fallback =
    route.fallbackLabel === undefined ? undefined : upstream.offers.get(offerKey(route.fallbackLabel, route.operation));
  if (fallback !== undefined) return { offer: fallback, lifted: true };
  throw notSupported(modelId, route);
}

export function notSupported(modelId: string, route: Route): GatewayError {
  return new GatewayError('operation_not_supported', {
    param: 'model',
    message: `The model "${modelId}" does not serve ${route.operation}; GET /v1/models lists the operations of each model.`,
  });
}

/** The body with the upstream's name for the model in it, every other byte as it came. */
function withModel(question: Question, upstreamName: string, insertIfAbsent: boolean): Buffer {
  const { body, scan, modelField } = question;
  if (modelField !== undefined) {
    if (modelNameOf(question) === upstreamName) return body;
    return replaceSpan(body, modelField.start, modelField.end, Buffer.from(JSON.stringify(upstreamName)));
  }
  if (!insertIfAbsent) return body;
  // An upstream that takes "Model" for "model" would read the client's, not ours.
  if (scan.foldedOnly.includes('model')) throw duplicate('model');
  const field = `"model":${JSON.stringify(upstreamName)}${scan.empty ? '' : ','}`;
  return replaceSpan(body, scan.insertAt, scan.insertAt, Buffer.from(field));
}
