/** Serves requests in another service's format: translates them into an operation, and the answers back. */

import type { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { AnswerMemory } from '../answers/answer-memory.ts';
import { errorMessageIn } from '../answers/foreign-error.ts';
import { heldBytes } from '../answers/held-answer.ts';
import { jsonTypeLike, WholeMadeAnswer, withoutBodyHeaders } from '../answers/made-answer.ts';
import { observerOf } from '../answers/relay.ts';
import { LineAnswer } from '../answers/stream-as-list.ts';
import { toFailure } from '../answers/translation-faults.ts';
import { untilGone } from '../answers/until-gone.ts';
import { Allowance, readWhole } from '../answers/whole-answer.ts';
import type { ApiAnswer, AskedModel, Entrance, MeantRequest, WrittenAnswer } from '../core/client-api.ts';
import type { RoutePlan } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { MemoryPool } from '../core/memory-lease.ts';
import type { Operation } from '../core/operations/index.ts';
import type { Answer, Failure } from '../core/outcome.ts';
import type { ApiEntry, Route } from '../core/route.ts';
import { type Model, offerKey } from '../core/snapshot.ts';
import { Unfit } from '../core/translation.ts';
import { type Json, type JsonObject, writeJsonSliced } from '../lib/json/json-text.ts';
import { headerValue } from '../lib/raw-headers.ts';
import type { ParsingMemory } from '../plan/parsing-memory.ts';
import { type Question, questionReaderOf } from '../plan/question.ts';
import { hasVerb } from '../plan/route-plan.ts';
import { usageIn } from '../plan/usage/usage-reader.ts';
import { readParameters, toDocument } from './calls/wire-document.ts';

/** A request in the operation's own format, and its client API context. */
export interface Entered {
  readonly question: Question;
  readonly entrance: Entrance;
}

/** The model, and what the caller may use, looked up on demand. */
export interface Asker {
  readonly model: () => Model;
  mayAsk(operation: Operation): boolean;
}

/** The route that a client API's request means: bytes pass where the upstreams have the same wire format. */
export function meantAt(called: Route, asked: Question, asker: Asker): Route {
  const { entry } = called;
  if (entry === undefined) return called;
  const { instead, passing } = entry;
  if (passing !== undefined && mayPass(entry, passing, asked, asker)) return passing.route;
  return instead?.isMeant(meantOf(asked, asker)) === true ? instead.route : called;
}

function mayPass(
  { mapping }: ApiEntry,
  { route: own, needsAll }: NonNullable<ApiEntry['passing']>,
  { body, scan }: Question,
  { model: find, mayAsk }: Asker,
): boolean {
  const { holds } = mapping.passes ?? {};
  const isHeld = (name: string): boolean => {
    const field = scan.fields.get(name);
    return field !== undefined && holds?.[name]?.(body.subarray(field.start, field.end)) === true;
  };
  if (holds !== undefined && !Object.keys(holds).some(isHeld)) return false;
  const model = find();
  if (!model.operations.includes(own.operation) || !mayAsk(own.operation)) return false;
  const key = offerKey(own.label, own.operation);
  const targets = model.targets.filter(({ weight }) => weight > 0);
  const speaking = targets.filter(({ offers }) => hasVerb(offers.get(key), own)).length;
  return speaking > 0 && (needsAll !== true || speaking === targets.length);
}

function meantOf({ body, scan }: Question, asker: Asker): MeantRequest {
  return {
    has(name) {
      const field = scan.fields.get(name);
      return field !== undefined && field.kind !== 'null';
    },
    isSet(name) {
      const field = scan.fields.get(name);
      if (field === undefined || field.kind === 'null') return false;
      const text = body.toString('latin1', field.start, Math.min(field.end, field.start + 'false'.length));
      return text !== 'false' && text !== '""';
    },
    serves: (operation) => asker.model().operations.includes(operation) && asker.mayAsk(operation),
  };
}

const readFor = "the limit for requests of another service's API";

/** Converts a request to the operation's format; `asked` was validated against the mapping's fields. */
export async function enter(
  { mapping, canonical }: ApiEntry,
  asked: Question,
  memory: ParsingMemory,
  model: AskedModel,
): Promise<Entered> {
  const entrance = mapping.enter(await readParameters(asked.body, memory, readFor), model);
  const question = await questionReaderOf(canonical)(await writeJsonSliced(entrance.body));
  return { question: { ...question, words: entrance.words }, entrance };
}

/** Throws where a target lacks a feature that the request needs. */
export function checkDemands({ demands = [] }: Entrance, { tiers }: RoutePlan, modelId: string): void {
  for (const { field, what, isMetBy } of demands) {
    if (tiers.every((tier) => tier.every(({ offer }) => isMetBy(offer)))) continue;
    throw new GatewayError('unsupported_parameter', {
      param: field,
      message: `The field "${field}" cannot be served: not every upstream of the model "${modelId}" ${what}; leave it out, or ask the operator for a model that can.`,
    });
  }
}

/** Answers a request that needs no upstream's call. */
export async function answerAtOnce(exchange: Exchange, entrance: Entrance, body: JsonObject): Promise<Answer> {
  const none = { promptTokens: 0, completionTokens: null, totalTokens: 0, searchUnits: null };
  return new WholeMadeAnswer(undefined, {
    body: await writeJsonSliced((await entrance.write(toApiAnswer(exchange, body))).body),
    countedApart: none,
  });
}

/** Converts an answer to the client's format. */
export async function leave(exchange: Exchange, entrance: Entrance, answer: Answer, pool: MemoryPool): Promise<Answer> {
  const { status, meantStatus = status } = answer;
  if (meantStatus >= 400) return errorAtClientApi(exchange, answer);
  const type = headerValue(answer.headers, 'content-type') ?? '';
  if (entrance.stream !== undefined && /^text\/event-stream\b/i.test(type)) {
    return new LineAnswer(answer, entrance.stream(exchange.startedMs), observerOf(exchange, answer));
  }
  return written(exchange, entrance, answer, meantStatus, pool);
}

/** Converts an upstream's error to the client API's format; other answers are unchanged. */
export async function errorAtClientApi(exchange: Exchange, answer: Answer): Promise<Answer> {
  const { clientApi, id } = exchange;
  const status = answer.meantStatus ?? answer.status;
  if (clientApi?.error === undefined || status < 400) return answer;
  const whole = await untilGone(exchange, answer, readWhole(answer, new Allowance(heldBytes)));
  const message = errorMessageIn(status, 'body' in whole ? whole.body : undefined);
  const body = await writeJsonSliced(clientApi.error({ status, message, id }));
  return new WholeMadeAnswer(answer, { status, body, translated: answer.translated });
}

async function written(
  exchange: Exchange,
  entrance: Entrance,
  answer: Answer,
  status: number,
  pool: MemoryPool,
): Promise<Answer> {
  const limitBytes = exchange.target?.upstream.answerLimitBytes ?? heldBytes;
  const memory = new AnswerMemory(exchange, pool, exchange.client);
  const whole = await untilGone(exchange, answer, readWhole(answer, new Allowance(limitBytes, memory)));
  if ('failure' in whole) throw toError(whole.failure);
  const counted = answer.translated === undefined ? (answer.countedApart ?? usageIn(whole.body)) : undefined;
  // Counted usage is owed, whatever happens to the answer.
  exchange.usage = answer.translated?.usage ?? counted ?? null;
  const { body, headers = [] } = await read(exchange, entrance, whole.body);
  const made = new WholeMadeAnswer(answer, {
    status,
    statusText: answer.statusText,
    headers: [...withoutBodyHeaders(answer.headers), ...headers],
    body: await writeJsonSliced(body),
    contentType: jsonTypeLike(undefined),
    translated: answer.translated,
    ignored: answer.ignored,
    countedApart: counted ?? undefined,
  });
  const failure = memory.settle(made.bytes);
  if (failure !== undefined) throw toError(failure);
  return made;
}

async function read(exchange: Exchange, entrance: Entrance, bytes: Buffer): Promise<WrittenAnswer> {
  const document = await toDocument(bytes);
  if (document instanceof Unfit) throw toError(toFailure(document));
  try {
    return await entrance.write(toApiAnswer(exchange, document));
  } catch (error) {
    if (error instanceof Unfit) throw toError(toFailure(error));
    throw error;
  }
}

function toApiAnswer({ id, modelId = '', startedAtMs, startedMs }: Exchange, body: Json): ApiAnswer {
  const tookMs = performance.now() - startedMs;
  return { body, model: modelId, id, nowMs: startedAtMs + tookMs, tookMs };
}

function toError({ code, message, cause, retryAfterS }: Failure): GatewayError {
  const headers = retryAfterS === undefined ? [] : ['Retry-After', String(retryAfterS)];
  return new GatewayError(code, { message, cause, headers });
}
