/** Rewrites an upstream's error in the gateway's format, with the original beside it. */

import { Buffer } from 'node:buffer';
import type { Candidate } from '../core/dispatch.ts';
import { besideError } from '../core/error-shape.ts';
import { upstreamError } from '../core/errors.ts';
import type { Answer } from '../core/outcome.ts';
import type { ErrorWireFormat, RerankShape, SaidError } from '../core/translation.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  type JsonObject,
  parseJsonOrNone,
  writeJson,
} from '../lib/json/json-text.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { heldBytes } from './held-answer.ts';
import { WholeMadeAnswer, withoutBodyHeaders } from './made-answer.ts';
import { Allowance, readWhole } from './whole-answer.ts';

const longestMessage = 2_000;
/** Longest accepted time to wait, one day; a longer one is ignored. */
const longestRetryS = 86_400;

export interface ErrorReader {
  /** The service that the client was written for, where its errors have a form of their own. */
  readonly shape?: RerankShape | undefined;
  /** The service of a client that may also read other forms: its form is added to rewritten errors only. */
  readonly errorShape?: RerankShape | undefined;
  /** True where the gateway translated the request, so that the upstream's field names are not the client's. */
  readonly isTranslated: boolean;
  write(status: number, message: string): Buffer;
  /** The client's name for the field that the upstream names; undefined if the client sent no such field. */
  fieldFor(param: string): Promise<string | undefined>;
}

/**
 * The error in the gateway's format; unchanged where it has that format already and the client reads no other.
 * `meantStatus`: the status that the upstream meant, where its head has another.
 */
export async function inOurWords(
  screened: Promise<Answer>,
  meantStatus: number,
  { target, offer }: Candidate,
  reader: ErrorReader,
): Promise<Answer> {
  const answer = await screened;
  const { family } = target.upstream;
  const mayPass = offer.translation === undefined || offer.translation.isNeeded !== undefined;
  if (offer.passesErrors === true) return inItsOwnWords(answer, meantStatus, family.errors ?? {}, reader);
  if (family.errors === undefined && mayPass && reader.shape === undefined) return answer;
  if (meantStatus < 400) return answer;
  // A longer body is no error message, and passes through the screen before it is known to be harmless.
  const whole = await readWhole(answer, new Allowance(heldBytes));
  const said = toSaid(meantStatus, answer.headers, 'body' in whole ? whole.body : undefined);
  const wireFormat = family.errors ?? {};
  const isOurs = isInOurShape(said.json) && !isWithheld(said, wireFormat) && (mayPass || !reader.isTranslated);
  return toOurs(answer, said, isOurs, wireFormat, offer.translatedBy ?? family.id, reader);
}

/** The upstream's own error. One about the operator's account or key is replaced by a message in the format of the client's API. */
async function inItsOwnWords(
  answer: Answer,
  meantStatus: number,
  wireFormat: ErrorWireFormat,
  { write }: ErrorReader,
): Promise<Answer> {
  if (meantStatus < 400) return answer;
  const whole = await readWhole(answer, new Allowance(heldBytes));
  const said = toSaid(meantStatus, answer.headers, 'body' in whole ? whole.body : undefined);
  const { bytes, json, headers } = said;
  const isOurKey = wireFormat.read?.(json, headers)?.isOurKey === true;
  const isHidden = isOurKey || isWithheld(said, wireFormat) || bytes === undefined;
  const passing = withoutBodyHeaders(answer.headers);
  if (headerValue(passing, 'retry-after') === undefined) passing.push(...retryAfterIn(json, wireFormat));
  const message = messageInstead(said, wireFormat);
  return new WholeMadeAnswer(answer, {
    headers: passing,
    body: isHidden ? write(answer.status, message) : bytes,
    contentType: isHidden ? undefined : headerValue(answer.headers, 'content-type'),
  });
}

function messageInstead(said: Said, wireFormat: ErrorWireFormat): string {
  if (said.bytes === undefined) return plainMessage(said);
  const { isOurKey, message } = wireFormat.read?.(said.json, said.headers) ?? {};
  return isOurKey === true && message !== undefined ? message : withheldMessage(said.status);
}

const withheldMessage = (status: number): string =>
  `The upstream answered ${status} and speaks of the operator's account in it; its words are withheld. Tell the operator.`;

/** An upstream's error as received. */
interface Said {
  readonly status: number;
  readonly headers: readonly string[];
  readonly bytes: Buffer | undefined;
  readonly json: Json | undefined;
}

function toSaid(status: number, headers: readonly string[], bytes: Buffer | undefined): Said {
  return { status, headers, bytes, json: bytes && parseJsonOrNone(bytes) };
}

/** The error in the gateway's format, with further fields of an error that has it already, else with the original beside it. */
async function toOurs(
  answer: Answer,
  said: Said,
  isOurs: boolean,
  wireFormat: ErrorWireFormat,
  by: string,
  reader: ErrorReader,
): Promise<Answer> {
  const { bytes, json } = said;
  const { shape, errorShape } = reader;
  const status = wireFormat.statuses?.[said.status] ?? said.status;
  const headers = withoutBodyHeaders(answer.headers);
  if (headerValue(headers, 'retry-after') === undefined) headers.push(...retryAfterIn(json, wireFormat));
  const passes = isOurs && shape === undefined && bytes !== undefined;
  const words = isOurs && isJsonObject(json) ? json : { error: await toError(said, status, wireFormat, reader) };
  return new WholeMadeAnswer(answer, {
    status,
    headers,
    body: passes ? bytes : writeJson({ ...words, ...besideError(shape ?? errorShape, messageOf(words, said)) }),
    translated: passes ? undefined : { by, ignored: [], isEstimated: false, usage: null },
  });
}

function messageOf({ error }: JsonObject, said: Said): string {
  return (isJsonObject(error) ? textIn(error.message) : undefined) ?? plainMessage(said);
}

/** The `retry-after` header for a waiting time in an error's body; no header where the body has none. */
export function retryAfterIn(body: Json | undefined, wireFormat: ErrorWireFormat): string[] {
  const seconds = body === undefined ? undefined : wireFormat.retryAfterS?.(body);
  const isTime = seconds !== undefined && seconds <= longestRetryS;
  return isTime ? ['retry-after', String(Math.max(1, Math.ceil(seconds)))] : [];
}

/** Rewrites an error in the middle of a stream, of which only the event's data is known. */
export function streamErrorInOurWords(data: string): Json {
  const said = toSaid(500, [], Buffer.from(data));
  const { message } = readError(said.json);
  return {
    error: { message: cut(message ?? plainMessage(said), longestMessage), ...kindOf(500), upstream: original(said) },
  };
}

function isWithheld({ status }: Said, { withheld = [] }: ErrorWireFormat): boolean {
  return withheld.includes(status);
}

async function toError(
  said: Said,
  status: number,
  wireFormat: ErrorWireFormat,
  reader: ErrorReader,
): Promise<JsonObject> {
  const { json, headers } = said;
  const { message, param, isOurKey } = withoutGaps(wireFormat.read?.(json, headers), readError(json));
  const field = param === undefined ? undefined : await reader.fieldFor(param);
  const kind = kindOf(isOurKey ? 401 : status, field);
  if (isWithheld(said, wireFormat)) {
    return { message: withheldMessage(said.status), ...kind };
  }
  return {
    message: cut(message ?? plainMessage(said), longestMessage),
    ...kind,
    ...(isOurKey && { type: 'upstream_error' }),
    upstream: original(said),
  };
}

/** Type, field and code of the client's error, by status alone: the upstream's own error type means nothing to the client. */
function kindOf(status: number, field?: string): { type: string; param: string | null; code: string } {
  const { type, code } = upstreamError(status);
  return { type, param: field ?? null, code };
}

const original = ({ json, bytes }: Said): Json => (json === undefined ? textOf(bytes) : json);

function textOf(bytes: Buffer | undefined): string | null {
  return bytes === undefined || bytes.length === 0 ? null : cut(bytes.toString('utf8'), longestMessage);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

function withoutGaps(first: SaidError = {}, second: SaidError): SaidError {
  return { ...first, message: first.message ?? second.message, param: first.param ?? second.param };
}

/** Whether a body is `{"error":{"message","type","param","code"}}` with the types that the official clients expect. */
function isInOurShape(body: Json | undefined): boolean {
  const error = isJsonObject(body) ? body.error : undefined;
  if (!isJsonObject(error)) return false;
  const { message, type, param, code } = error;
  return typeof message === 'string' && typeof type === 'string' && isTextOrNull(param) && isTextOrNull(code);
}

const isTextOrNull = (value: Json | undefined): boolean => value === null || typeof value === 'string';

export function errorMessageIn(status: number, bytes: Buffer | undefined): string {
  const said = toSaid(status, [], bytes);
  return cut(readError(said.json).message ?? plainMessage(said), longestMessage);
}

/** Reads message and details from any error format that upstreams are known to use: objects, texts and lists, wrapped or flat. */
function readError(body: Json | undefined): SaidError {
  if (isJsonList(body)) {
    const first = readError(body[0]);
    return { ...first, message: messageIn(body) ?? first.message };
  }
  if (!isJsonObject(body)) return { message: messageIn(body) };
  const inner = body.error ?? body.fault ?? body.errors;
  return { ...readFlat(body), ...withValues(readError(inner)) };
}

function withValues(said: SaidError): SaidError {
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

function readFlat(body: JsonObject): SaidError {
  return {
    message:
      messageIn(body.message) ?? messageIn(body.Message) ?? messageIn(body.detail) ?? messageIn(body.faultstring),
    param:
      textIn(body.param) ??
      paramIn(body.detail) ??
      paramIn(isJsonObject(body.message) ? body.message.detail : undefined),
  };
}

/** The message in a text, an object, or a list of faults; each with the position that it is about, if known. */
function messageIn(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (isJsonList(value)) {
    const messages = value.flatMap((fault) => messageIn(fault) ?? []);
    return messages.length === 0 ? undefined : messages.join('; ');
  }
  if (!isJsonObject(value)) return undefined;
  const path = pathIn(value.loc);
  const said = messageIn(value.msg) ?? messageIn(value.message) ?? messageIn(value.detail) ?? messageIn(value.error);
  return said === undefined || path === undefined ? said : `${path}: ${said}`;
}

function paramIn(detail: Json | undefined): string | undefined {
  const first = isJsonList(detail) ? detail[0] : undefined;
  return isJsonObject(first) ? pathIn(first.loc) : undefined;
}

function pathIn(loc: Json | undefined): string | undefined {
  if (!isJsonList(loc)) return undefined;
  const steps = loc.flatMap((step) => textIn(step) ?? []).filter((step, index) => index > 0 || step !== 'body');
  return steps.length === 0 ? undefined : steps.join('.');
}

function textIn(value: Json | undefined): string | undefined {
  if (value instanceof JsonNumber) return value.source;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The message for an error whose body cannot be read, such as a proxy's page or an empty body. */
function plainMessage({ status, bytes, json }: Said): string {
  const text = json === undefined ? (bytes?.toString('utf8').trim() ?? '') : '';
  const isMarkup = text.startsWith('<');
  if (text !== '' && !isMarkup) return text;
  const nothing = bytes === undefined ? 'a message that cannot be read' : 'no message';
  const what = isMarkup ? 'a page instead of an error' : nothing;
  return `The upstream answered ${status} with ${what}; try again, and tell the operator if it stays so.`;
}
