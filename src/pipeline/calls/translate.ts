/** Translates a client's request into an upstream's own wire format. */

import type { Buffer } from 'node:buffer';
import { AnswerMemory } from '../../answers/answer-memory.ts';
import { declaredFor } from '../../answers/vector-width.ts';
import type { TargetLease } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { SigningGround } from '../../core/family.ts';
import type { MemoryPool } from '../../core/memory-lease.ts';
import type { CallEnd, Listening } from '../../core/outcome.ts';
import type { Target } from '../../core/snapshot.ts';
import { Asked, type Translation } from '../../core/translation.ts';
import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, type JsonObject } from '../../lib/json/json-text.ts';
import { ParsingMemory } from '../../plan/parsing-memory.ts';
import { nameInBody, type Plan, questionFor, writeBodilessCall } from '../../plan/planned-call.ts';
import { listIn } from '../../plan/usage/request-estimate.ts';
import type { DrainPool } from './drain-pool.ts';
import { TranslatedCalls } from './translated-calls.ts';
import { readParameters } from './wire-document.ts';

/** Limit for what is repeated in the calls of one request: fields besides the list of inputs are in each of them. */
const mostRepeatedBytes = 64 * 1024 * 1024;

interface TranslateDeps {
  readonly clock: Clock;
  readonly signing: SigningGround;
  readonly answerPool: MemoryPool;
  readonly drains: DrainPool;
}

/** Writes the upstream's requests; throws a `GatewayError` if the upstream cannot serve the question. */
export async function writeTranslated(
  plan: Plan,
  lease: TargetLease,
  client: Listening,
  translation: Translation,
  { clock, signing, answerPool, drains }: TranslateDeps,
  asksUsage: boolean,
  end: CallEnd,
): Promise<TranslatedCalls> {
  const { target } = lease.candidate;
  const { exchange, resolved, question } = plan;
  const call = { ...writeBodilessCall(plan, lease, client), end };
  const sent = await toParameters(questionFor(plan, lease).body, target, new ParsingMemory(exchange.requestLease));
  const asked = new Asked({
    body: asksUsage ? withUsage(sent) : sent,
    defaults: target.defaults,
    model: nameInBody(lease.candidate, resolved),
    publicModel: resolved.id,
    shape: exchange.shape,
    tokenIds: target.tokenIds,
    scores: target.scores,
    options: target.upstream.options,
    id: exchange.id,
    nowS: Math.floor(clock.nowMs() / 1000),
    words: question.words,
    isPart: plan.isPart,
    unsupported: target.unsupported,
    upstreamId: target.upstream.id,
  });
  const conversation = await translation.ask(asked);
  checkRepeated(plan, conversation.requests.length);
  const memory = new AnswerMemory(exchange, answerPool, client);
  return new TranslatedCalls(call, asked, conversation, lease, {
    signing,
    memory,
    drains,
    declaredWidth: declaredFor(plan),
  });
}

function checkRepeated({ question, route }: Plan, calls: number): void {
  if (calls === 1) return;
  const list = listIn(question, route);
  const bytesEach = question.body.length - (list === undefined ? 0 : list.end - list.start);
  if (bytesEach * calls <= mostRepeatedBytes) return;
  throw new GatewayError('body_too_large', {
    message: `The upstream of this model is asked in ${calls} calls for it, and what stands beside the list (${bytesEach} bytes) would go along with each; ${mostRepeatedBytes} bytes may be repeated in all, so send it in smaller requests.`,
  });
}

async function toParameters(body: Buffer, { defaults }: Target, memory: ParsingMemory): Promise<JsonObject> {
  const parameters = await readParameters(body, memory, 'too much to be translated for the upstream of this model');
  for (const [name, value] of Object.entries(defaults)) parameters[name] ??= value;
  return parameters;
}

function withUsage(sent: JsonObject): JsonObject {
  const options = isJsonObject(sent.stream_options) ? sent.stream_options : {};
  return { ...sent, stream_options: { ...options, include_usage: true } };
}
