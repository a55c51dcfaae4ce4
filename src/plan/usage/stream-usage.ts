/** Requests usage in a stream if the client did not: inserts `stream_options.include_usage` in the call's bytes. */

import { performance } from 'node:perf_hooks';
import { type CallBody, inOnePiece, lengthOf, withSpan } from '../../core/call-body.ts';
import type { Call } from '../../core/outcome.ts';
import type { Target } from '../../core/snapshot.ts';
import { compileWatchedKeys, scanJson } from '../../lib/json/json-scan.ts';
import { nameAt, type Plan } from '../planned-call.ts';
import type { Question } from '../question.ts';
import { uncompressed } from '../upstream-head.ts';

const options = 'stream_options';
const usage = 'include_usage';
const watched = compileWatchedKeys([usage]);
const watchedOptions = compileWatchedKeys([options]);

/** An upstream that refused the field is tried with it again after this time. */
const rememberedMs = 3_600_000;
/** When each refusal expires, by target and by the upstream's name for the model: a target of a model pattern has many names. */
const refusals = new WeakMap<Target, Map<string, number>>();
const mostRemembered = 1_000;

/** Whether to request usage: not from upstreams that refuse the field, nor where the client does. */
export function asksUsage(plan: Plan, target: Target): boolean {
  const { routePlan, exchange, question, resolved, route } = plan;
  // Services with usage elsewhere always send it.
  if (route.row.written === undefined || route.row.countsIn !== undefined) return false;
  const isWanted = routePlan.model.asksUsage || plan.isCountRead === true;
  if (!isWanted || exchange.estimate?.isStream !== true) return false;
  const refusedUntilMs = refusals.get(target)?.get(nameAt(target, resolved)) ?? 0;
  return refusedUntilMs <= performance.now() && askedIn(question, question.body) !== undefined;
}

export function withUsageAsked({ question, others }: Plan, call: Call): Call {
  const asked = others === undefined ? question : asSent(question, call.body);
  return { ...call, headers: uncompressed(call.headers), body: askedIn(asked, call.body) ?? call.body };
}

/** The question with the positions of the sent body, for calls in which more than the model's name was replaced. */
function asSent(question: Question, sent: CallBody): Question {
  const body = inOnePiece(sent);
  const scan = scanJson(body, watchedOptions);
  return scan.ok ? { ...question, body, scan, modelField: undefined } : question;
}

/** Whether a status may mean that the upstream refused the field; such a refusal costs nothing. */
export const mayBeRefusal = (status: number): boolean => status === 400 || status === 422;

/** Remembers a refusal once the target has succeeded without the field. */
export function rememberRefusal({ resolved }: Plan, target: Target): void {
  const ofTarget = refusals.get(target) ?? new Map<string, number>();
  if (ofTarget.size >= mostRemembered) ofTarget.clear();
  ofTarget.set(nameAt(target, resolved), performance.now() + rememberedMs);
  refusals.set(target, ofTarget);
}

/** The body with usage requested. `sent`: the body for the upstream, perhaps with another model's name. */
function askedIn({ body, scan, modelField }: Question, sent: CallBody): CallBody | undefined {
  // An upstream may read another spelling, which is not ours to change.
  if (scan.foldedOnly.includes(options)) return undefined;
  const field = scan.fields.get(options);
  if (field === undefined) {
    return withSpan(sent, scan.insertAt, scan.insertAt, `"${options}":{"${usage}":true},`);
  }
  const isBehindModel = field.start > (modelField?.start ?? scan.insertAt);
  const start = field.start + (isBehindModel ? lengthOf(sent) - body.length : 0);
  const end = start + field.end - field.start;
  if (field.kind === 'null') return withSpan(sent, start, end, `{"${usage}":true}`);
  if (field.kind !== 'object') return undefined;
  const inside = scanJson(body.subarray(field.start, field.end), watched);
  // A repeated field is for the upstream to read or to refuse.
  if (!inside.ok || inside.foldedOnly.includes(usage)) return undefined;
  const { fields, insertAt, empty } = inside;
  const asked = fields.get(usage);
  if (asked === undefined) {
    const text = `"${usage}":true${empty ? '' : ','}`;
    return withSpan(sent, start + insertAt, start + insertAt, text);
  }
  if (body.toString('latin1', field.start + asked.start, field.start + asked.end) === 'true') return undefined;
  const isOff = asked.kind === 'null' || asked.kind === 'boolean';
  return isOff ? withSpan(sent, start + asked.start, start + asked.end, 'true') : undefined;
}
