/** Lists the targets that may serve a request, and writes the call to each. Pure: no clock, no I/O. */

import { Buffer } from 'node:buffer';
import type { Reservation } from '../core/accounting/spending.ts';
import { type CallBody, withSpan } from '../core/call-body.ts';
import type { Candidate, RoutePlan, TargetLease } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange, RequestHeaders } from '../core/exchange.ts';
import type { Offer } from '../core/family.ts';
import type { Remembered } from '../core/lists.ts';
import { upstreamNameOf } from '../core/model-name.ts';
import type { ObjectRecords } from '../core/operations/row.ts';
import type { Answer, AnswerForm, Call, Failure, Listening } from '../core/outcome.ts';
import { type Query, withQuery } from '../core/query.ts';
import type { Route } from '../core/route.ts';
import { needsScoring, type RawAsked } from '../core/scores.ts';
import type { Credential, ResolvedModel, Target } from '../core/snapshot.ts';
import type { Translation } from '../core/translation.ts';
import { textOf } from '../lib/json/json-scan.ts';
import type { NamedAgain } from './named-again.ts';
import { type OtherModel, queryAt, renamedAt } from './other-models.ts';
import { duplicate, type Form, modelFieldOf, modelNameOf, type Question } from './question.ts';
import { timeoutsOf } from './route-plan.ts';
import { sendable, uncompressed, upstreamHeaders, upstreamLines, withoutHeader } from './upstream-head.ts';

interface CallAbout {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly behind: string;
  readonly query: Query;
  /** The body of a call made by the gateway, as received. */
  readonly body?: CallBody;
}

export interface Plan {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly question: Question;
  readonly resolved: ResolvedModel;
  readonly clientHeaders: RequestHeaders;
  readonly routePlan: RoutePlan;
  /** The only credential that may be used, if the request names an object of that credential's account; else undefined. */
  readonly credential: Credential | undefined;
  /** Replaces the exchange's client in work that is finished even if the client disconnects. */
  readonly client?: Listening;
  /** For a call about one stored object: what follows the path where such objects are created. */
  readonly about?: CallAbout;
  /** If the model is in the path: the fields of the body that name it too. */
  readonly namedAgain?: readonly NamedAgain[] | undefined;
  readonly others?: readonly OtherModel[] | undefined;
  readonly query: Query;
  /** One deadline for all attempts together, on the monotonic clock. */
  readonly deadlineMs: number;
  readonly reservation: Reservation;
  /** Whether the gateway reads the answer and writes another one for the client. */
  readonly isRead?: boolean;
  /** The gateway requests usage in the stream and rewrites the stream, as the client did not ask for usage. */
  readonly isCountRead?: boolean;
  /** The answer's fields with IDs of objects that the upstream stores; undefined if it stores none. */
  readonly records: ObjectRecords | undefined;
  /** The answer only confirms that background work has started. */
  readonly inBackground: boolean;
  /** Reads a good answer whole; another target is called if it does not match the request. */
  readonly judge?: (answer: Answer, lease: TargetLease) => Promise<Judged>;
  /** For a list whose model caches items: the items that were found in the cache. */
  readonly remembered?: Remembered | undefined;
  readonly isPart?: true;
  /** The call is sent only if a slot is free at once; else `NoFreeSlot` is thrown. */
  readonly isOnlyAtOnce?: boolean;
}

export class NoFreeSlot extends Error {}

export type Judged = { readonly answer: Answer } | { readonly failure: Failure };

/** The translation for a target; undefined if the bytes pass unchanged. */
export function translationFor({ question, exchange }: Plan, { target, offer }: Candidate): Translation | undefined {
  const { translation } = offer;
  // The target's default parameters must be added to every request.
  if (translation?.isNeeded === undefined || Object.keys(target.defaults).length > 0) return translation;
  const { body, scan } = question;
  const { shape } = exchange;
  const { tokenIds, scores } = target;
  if (scores !== undefined && needsScoring(scores, rawAskedIn(question))) return translation;
  return translation.isNeeded({ body, fields: scan.fields, shape, tokenIds }) ? translation : undefined;
}

export function rawAskedIn({ body, scan, words }: Question): RawAsked {
  if (words?.prefersRawScores) return 'preferred';
  const field = scan.fields.get('raw_scores');
  if (field === undefined || field.kind === 'null') return undefined;
  return field.kind === 'boolean' ? body[field.start] === 't'.charCodeAt(0) : 'unclear';
}

/** Writes the call to the leased target. `isPlain`: the client's headers are already those to send. */
export function writeCall(asked: Plan, lease: TargetLease, client: Listening, isPlain = false): Call {
  const plan = asked.others === undefined ? asked : withOthers(asked, asked.others, lease);
  const { route, question } = plan;
  const { target, lifted, offer } = lease.candidate;
  if (plan.about !== undefined) return toCallAbout(plan, lease, client, plan.about);
  const insertIfAbsent = lifted || (route.model.from === 'body' && offer.namesNoModel !== true);
  const name = nameAt(target, plan.resolved);
  const { namedAgain } = plan;
  const form = formOf(plan);
  if (namedAgain !== undefined)
    return toCall(plan, lease, client, withNames(question.body, namedAgain, name, lease), form);
  const field = modelFieldOf(route) ?? 'model';
  const written = nameInBody(lease.candidate, plan.resolved);
  return toCall(plan, lease, client, withModel(question, written, insertIfAbsent ? field : undefined), form, isPlain);
}

/** The required form of a good answer whose bytes pass; undefined if any is allowed, or it is read whole. */
function formOf({ route, question, exchange, judge }: Plan): AnswerForm | undefined {
  const { row } = route;
  if (route.own !== undefined || judge !== undefined || row.answers.includes('audio')) return undefined;
  const isStream = row.mayStream && (route.streams !== undefined || exchange.estimate?.isStream === true);
  if (isStream) return 'json or events';
  return row.answers.includes('text') ? transcriptForm(question) : 'json';
}

/** The required form of a transcription, by `response_format`; undefined if that is absent, as services have different defaults. */
function transcriptForm({ body, scan }: Question): AnswerForm | undefined {
  const format = scan.fields.get('response_format');
  if (format?.kind !== 'string') return 'json or text';
  return textOf(body, format).includes('json') ? 'json' : undefined;
}

function withOthers(plan: Plan, others: readonly OtherModel[], { candidate: { target } }: TargetLease): Plan {
  const { question, moved } = renamedAt(plan.question, others, target, modelFieldOf(plan.route) ?? 'model');
  const namedAgain = plan.namedAgain?.map((one) => ({ ...one, start: moved(one.start), end: moved(one.end) }));
  return { ...plan, question, namedAgain, query: queryAt(plan.query, others, target) };
}

export const questionFor = ({ question, others, route }: Plan, { candidate: { target } }: TargetLease): Question =>
  others === undefined ? question : renamedAt(question, others, target, modelFieldOf(route) ?? 'model').question;

const nothing = Buffer.alloc(0);

/** Writes a call whose body a translation adds later. */
export function writeBodilessCall(plan: Plan, lease: TargetLease, client: Listening): Call {
  checkOtherSpelling(plan.question);
  return toCall(plan, lease, client, nothing);
}

function toCall(
  plan: Plan,
  lease: TargetLease,
  client: Listening,
  body: CallBody,
  form?: AnswerForm,
  isPlain = false,
): Call {
  const { exchange, route } = plan;
  const { target, offer, path } = lease.candidate;
  const { upstream } = target;
  const upstreamName = nameAt(target, plan.resolved);
  const { credential } = lease;
  const own = offer.asChat === true && credential.chatHeaders ? { headers: credential.chatHeaders } : credential;
  const headers = isPlain ? noHeaders : headersFor(plan, lease, own, upstreamName);
  return {
    method: route.own?.method ?? 'POST',
    upstream,
    offer,
    path: withQuery(path ?? upstream.pathPrefix + toPath(offer, upstreamName, route.verb), plan.query),
    headers,
    lines: isPlain ? upstreamLines(exchange, own, upstream, plan.clientHeaders) : undefined,
    body,
    timeouts: timeoutsOf(upstream, route),
    deadlineMs: plan.deadlineMs,
    client,
    end: lease,
    isOnce: !plan.routePlan.replayable,
    form,
  };
}

const noHeaders: readonly string[] = [];

function headersFor(
  plan: Plan,
  lease: TargetLease,
  own: Pick<Credential, 'headers'>,
  upstreamName: string,
): readonly string[] {
  const { exchange, route, records, isRead, clientHeaders } = plan;
  const { target } = lease.candidate;
  const trace = exchange.trace?.calling(lease, target);
  const all = upstreamHeaders(exchange, own, target.upstream, clientHeaders, trace);
  const headers = headersOf(plan, all, upstreamName);
  // A compressed body could not be read as it passes.
  return records === undefined && isRead !== true && route.own?.usage === undefined ? headers : uncompressed(headers);
}

/** The headers of a call; on custom routes, a header that names the model gets the upstream's name for it. */
function headersOf({ route: { own } }: Plan, headers: string[], upstreamName: string): string[] {
  if (own === undefined) return headers;
  const fitting = own.method === 'GET' ? withoutHeader(headers, 'content-type') : headers;
  if (own.model.from !== 'header') return fitting;
  const { name } = own.model;
  return [...withoutHeader(fitting, name), name, sendable(name, upstreamName)];
}

/** Appends `behind` to a path, before the query of the path if it has one. */
export function behindPath(path: string, behind: string): string {
  const at = path.indexOf('?');
  return at === -1 ? path + behind : path.slice(0, at) + behind + path.slice(at);
}

/** A call about a stored object, usually without a body: its path names the object. */
function toCallAbout(plan: Plan, lease: TargetLease, client: Listening, about: CallAbout): Call {
  const call = toCall(plan, lease, client, about.body ?? nothing);
  return {
    ...call,
    method: about.method,
    path: withQuery(behindPath(call.path, about.behind), about.query),
    headers: about.body === undefined ? withoutHeader(call.headers, 'content-type') : call.headers,
  };
}

export function nameAt({ model }: Target, { matched }: ResolvedModel): string {
  return upstreamNameOf(model, matched);
}

/** The upstream's name for the model as bodies write it, such as a resource name. */
export function nameInBody({ target, offer }: Candidate, resolved: ResolvedModel): string {
  const name = nameAt(target, resolved);
  return offer.resource === undefined ? name : offer.resource(name);
}

/** The path with the model's name as one encoded segment, or as the segments of its resource name; names such as `..` are refused. */
export function toPath({ path, resource }: Pick<Offer, 'path' | 'resource'>, upstreamName: string, verb = ''): string {
  if (!path.includes('{model}')) return path;
  const segments = resource === undefined ? [upstreamName] : resource(upstreamName).split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw new GatewayError('model_not_found', { param: 'model' });
  }
  const encoded = segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/');
  return path.replace('{verb}', () => verb).replace('{model}', () => encoded);
}

function withModel(question: Question, upstreamName: string, insertAs: string | undefined): CallBody {
  const { body, scan, modelField, form } = question;
  if (form !== undefined) return withNameOf(form, upstreamName, insertAs !== undefined);
  if (modelField !== undefined) {
    if (modelNameOf(question) === upstreamName) return body;
    return withSpan(body, modelField.start, modelField.end, JSON.stringify(upstreamName));
  }
  if (insertAs === undefined) return body;
  checkOtherSpelling(question, insertAs);
  const field = `${JSON.stringify(insertAs)}:${JSON.stringify(upstreamName)}${scan.empty ? '' : ','}`;
  return withSpan(body, scan.insertAt, scan.insertAt, field);
}

function withNameOf({ body, model }: Form, upstreamName: string, mayAdd: boolean): CallBody {
  if (model === undefined) return body;
  const { start, end, missing } = model;
  if (missing === undefined) return withSpan(body, start, end, upstreamName);
  return mayAdd ? withSpan(body, start, end, missing.before + upstreamName + missing.after) : body;
}

/** Writes the upstream's name wherever the body names the model that is in the path too, in that service's own format. */
function withNames(body: Buffer, named: readonly NamedAgain[], name: string, { candidate }: TargetLease): CallBody {
  const { resource = (one: string) => one } = candidate.offer;
  const meant = resource(name);
  let written: CallBody = body;
  for (const { start, end, text } of named.toReversed()) {
    if (text !== name && text !== meant && resource(text) !== meant) {
      written = withSpan(written, start, end, JSON.stringify(meant));
    }
  }
  return written;
}

/** Refuses a field such as "Model": an upstream that reads it as "model" would use the client's name, not the gateway's. */
function checkOtherSpelling({ scan, modelField }: Question, name = 'model'): void {
  if (modelField === undefined && scan.foldedOnly.includes(name)) throw duplicate(name);
}
