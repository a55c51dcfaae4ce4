/** Puts a client's question into the words of an upstream that has a wire format of its own. */

import type { Turn } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { SigningGround } from '../core/family.ts';
import type { Listening } from '../core/outcome.ts';
import type { Target } from '../core/snapshot.ts';
import { Asked, type Translation } from '../core/translation.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type Json, type JsonObject, JsonTooMany, parseJsonInTurns } from '../lib/json-text.ts';
import { nameAt, type Plan, writeBodilessCall } from './plan.ts';
import { TranslatedCalls } from './translated-calls.ts';

/** More than any request needs that is asked in earnest: ten thousand documents of fifty fields. */
const mostValues = 500_000;

/** What the upstream is asked; throws a `GatewayError` where it cannot serve that. */
export async function writeTranslated(
  plan: Plan,
  turn: Turn,
  client: Listening,
  translation: Translation,
  { clock, signing }: { readonly clock: Clock; readonly signing: SigningGround },
): Promise<TranslatedCalls> {
  const { target } = turn.candidate;
  const { exchange, resolved, shape, question } = plan;
  const call = writeBodilessCall(plan, turn, client);
  const asked = new Asked({
    body: await toParameters(question.body, target),
    defaults: target.defaults,
    model: nameAt(target, resolved),
    publicModel: resolved.id,
    shape,
    tokenIds: target.tokenIds,
    options: target.upstream.options,
    id: exchange.id,
    nowS: Math.floor(clock.nowMs() / 1000),
    unsupported: target.unsupported,
    upstreamId: target.upstream.id,
  });
  return new TranslatedCalls(call, asked, await translation.ask(asked), turn, signing);
}

/** What the client sent, without what is null, and completed by what the operator wants. */
async function toParameters(body: Buffer, { defaults }: Target): Promise<JsonObject> {
  const sent = await readQuestion(body);
  if (!isJsonObject(sent)) throw new TypeError('a question is an object');
  const parameters: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries(sent)) {
    if (value !== undefined && value !== null) parameters[name] = value;
  }
  for (const [name, value] of Object.entries(defaults)) parameters[name] ??= value;
  return parameters;
}

async function readQuestion(body: Buffer): Promise<Json> {
  try {
    return await parseJsonInTurns(body, { maxValues: mostValues });
  } catch (error) {
    if (!(error instanceof JsonTooMany)) throw error;
    throw new GatewayError('body_too_large', {
      message: `The body holds more than ${mostValues} values, too many to be translated for the upstream of this model; send it in smaller requests.`,
    });
  }
}
