/** The request in reading order: admit, read, find the model, plan, attempt, relay. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Answer } from '../core/outcome.ts';
import type { Route } from '../core/route.ts';
import type { ResolvedModel } from '../core/snapshot.ts';
import type { Translated } from '../core/translation.ts';
import { type AttemptDeps, attempt } from './attempt.ts';
import { courseOf, nameAt, notSupported, shapeOf } from './plan.ts';
import { compileQuestionReader, missing, modelNameOf, type Question, type QuestionReader } from './question.ts';
import { relay } from './relay.ts';
import type { UsageObserver } from './usage.ts';

export interface PipelineDeps extends AttemptDeps {
  readonly routes: readonly Route[];
  /** Throws where the process has more to do than is good for it. */
  checkPressure(exchange: Exchange): void;
  /** Who calls, and whether the key may use the route at all. */
  admit(exchange: Exchange, route: Route, request: IncomingMessage): KeyRecord | Promise<KeyRecord>;
  /** Judges the media type, then reads and decodes the whole body under the limits. */
  readBody(exchange: Exchange, request: IncomingMessage, response: ServerResponse): Promise<Buffer>;
  checkModel(key: KeyRecord, modelId: string): void;
}

export type Pipeline = (
  exchange: Exchange,
  route: Route,
  modelFromPath: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

export function createPipeline(deps: PipelineDeps): Pipeline {
  const { routes, checkPressure, admit, readBody, checkModel } = deps;
  const readers = new Map<Route, QuestionReader>(routes.map((route) => [route, compileQuestionReader(route)]));

  return async (exchange, route, modelFromPath, request, response) => {
    exchange.route = route;
    checkPressure(exchange);
    const admitted = admit(exchange, route, request);
    const key = admitted instanceof Promise ? await admitted : admitted;
    exchange.key = key;

    const body = await readBody(exchange, request, response);
    const read = readers.get(route);
    if (read === undefined) throw new TypeError(`route ${route.path} was not compiled`);
    const shape = shapeOf(route, request.headers);
    const asked = read(body, shape);
    const question = asked instanceof Promise ? await asked : asked;

    const resolved = findModel(exchange, route, question, modelFromPath);
    exchange.modelId = resolved.id;
    checkModel(key, resolved.id);
    const course = courseOf(resolved, route);
    const deadlineMs = performance.now() + course.totalMs;
    const plan = { exchange, route, question, resolved, clientHeaders: request.headers, course, deadlineMs, shape };

    const answer = await attempt(plan, deps);
    const observer = await passOn(exchange, answer, response, resolved);
    const usage = observer.finish(exchange.cut || exchange.errorCode !== undefined);
    const counted = usage instanceof Promise ? await usage : usage;
    // What a translated answer shows may be an estimate.
    exchange.usage = answer.translated === undefined ? counted : answer.translated.usage;
  };
}

/** The answer is taken, or let go of. */
async function passOn(
  exchange: Exchange,
  answer: Answer,
  response: ServerResponse,
  resolved: ResolvedModel,
): Promise<UsageObserver> {
  try {
    return await relay(exchange, answer, response, ownHeaders(exchange, answer, resolved));
  } catch (error) {
    answer.cancel();
    throw error;
  }
}

function findModel(
  exchange: Exchange,
  route: Route,
  question: Question,
  modelFromPath: string | undefined,
): ResolvedModel {
  const { models, defaultModels } = exchange.snapshot;
  const name = modelFromPath ?? modelNameOf(question) ?? defaultModels[route.operation];
  if (name === undefined) throw missing('model', 'a string');

  const resolved = models.resolve(name);
  if (resolved === undefined || (route.visibleModelsOnly && !resolved.model.visible)) throw unknownModel(name);
  if (!resolved.model.operations.includes(route.operation)) throw notSupported(resolved.id, route);
  if (question.standIn !== undefined && !resolved.model.acceptsMessages) {
    throw missing(
      question.standIn.field,
      `it ("${question.standIn.standIn}" in its place is for models marked accepts_messages)`,
    );
  }
  return resolved;
}

function unknownModel(name: string): GatewayError {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return new GatewayError('model_not_found', {
    param: 'model',
    message: `The model ${JSON.stringify(shown)} does not exist; GET /v1/models lists what does.`,
  });
}

/** What Postern adds to the head of an answer. */
function ownHeaders(exchange: Exchange, { translated }: Answer, resolved: ResolvedModel): string[] {
  const headers = ['x-request-id', exchange.clientRequestId ?? exchange.id];
  if (!exchange.snapshot.server.diagnostics) return headers;
  const upstreamMs = exchange.firstByteAtMs - exchange.sentAtMs;
  const gatewayMs = performance.now() - exchange.startedMs - upstreamMs;
  headers.push(
    'x-postern-upstream',
    exchange.target?.upstream.id ?? '',
    'x-postern-attempts',
    String(exchange.attempts),
    'server-timing',
    `gateway;dur=${gatewayMs.toFixed(2)}, upstream;dur=${upstreamMs.toFixed(2)}`,
  );
  if (translated !== undefined) headers.push(...translationHeaders(translated));
  if (exchange.route?.operation === 'embeddings' && exchange.target !== undefined) {
    // Each name that a pattern matches is a space of its own.
    const space = resolved.model.space ?? nameAt(exchange.target, resolved);
    headers.push('x-postern-space', encodeURI(space.toWellFormed()));
  }
  return headers;
}

function translationHeaders({ by, isEstimated, ignored }: Translated): string[] {
  const headers = ['x-postern-translated', by];
  if (isEstimated) headers.push('x-postern-usage', 'estimated');
  if (ignored.length > 0) headers.push('x-postern-ignored', toList(ignored));
  return headers;
}

const longestList = 1_000;

/** Names that a client made up may be anything, and as many and as long as its body allows. */
function toList(names: readonly string[]): string {
  let list = '';
  for (const name of names) {
    const next = (list === '' ? '' : ', ') + encodeURIComponent(name.slice(0, longestList).toWellFormed());
    if (list.length + next.length > longestList) return `${list}${list === '' ? '' : ', '}...`;
    list += next;
  }
  return list;
}
