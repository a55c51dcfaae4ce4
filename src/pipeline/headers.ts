/** Header rules: an allow-list towards the upstream; towards the client all but framing, revealing and commanding headers. */

import { commandsLoading, type HeaderList, whyWithheld } from '../core/answer-headers.ts';
import { GatewayError } from '../core/errors.ts';
import type { CallTrace, Exchange } from '../core/exchange.ts';
import { loopHeader } from '../core/loop-mark.ts';
import type { RequestHeaders } from '../core/request-headers.ts';
import type { Credential, Upstream } from '../core/snapshot.ts';
import { listedTokens } from '../wire/fields.ts';
import { isWritable, toFieldLines } from '../wire/head-writer.ts';
import type { Framing } from '../wire/server-answer.ts';

const standing = ['accept', 'accept-encoding', 'idempotency-key', 'openai-beta'] as const;
const ofTraces = ['traceparent', 'tracestate'] as const;

export function upstreamHeaders(
  { id, loopMark }: Pick<Exchange, 'id' | 'loopMark'>,
  credential: Pick<Credential, 'headers'>,
  { forwardHeaders, standardHeaders }: Pick<Upstream, 'forwardHeaders' | 'standardHeaders'>,
  client: RequestHeaders,
  trace?: CallTrace,
): string[] {
  const headers = [
    ...credential.headers,
    'content-type',
    sendable('content-type', client.get('content-type') || 'application/json'),
    'user-agent',
    'postern',
    loopHeader,
    loopMark,
    'x-request-id',
    id,
  ];
  for (const name of standing) forward(headers, name, client.get(name));
  if (trace === undefined) for (const name of ofTraces) forward(headers, name, client.get(name));
  else for (const name of ofTraces) forward(headers, name, trace[name]);
  for (const name of forwardHeaders) forward(headers, name, client.get(name) ?? standardHeaders?.[name]);
  return headers;
}

interface StandingLines {
  readonly type: string;
  readonly loopMark: string;
  /** Ends behind the name of the request ID's header. */
  readonly text: string;
}

/** For each credential's header array: the lines of the latest call, which are those of most calls. */
const standingLines = new WeakMap<readonly string[], StandingLines>();

/** The same as lines of a head, most of which are cached. */
export function upstreamLines(
  { id, loopMark }: Pick<Exchange, 'id' | 'loopMark'>,
  credential: Pick<Credential, 'headers'>,
  { forwardHeaders, standardHeaders }: Pick<Upstream, 'forwardHeaders' | 'standardHeaders'>,
  client: RequestHeaders,
): string {
  const type = client.get('content-type') || 'application/json';
  let always = standingLines.get(credential.headers);
  if (always?.type !== type || always.loopMark !== loopMark) {
    const headers = [...credential.headers, 'content-type', sendable('content-type', type), 'user-agent', 'postern'];
    always = { type, loopMark, text: `${toFieldLines([...headers, loopHeader, loopMark])}x-request-id: ` };
    standingLines.set(credential.headers, always);
  }
  client.passedOn ??= passedOnFrom(client);
  let lines = `${always.text}${id}\r\n${client.passedOn}`;
  for (const name of forwardHeaders) lines += lineOf(name, client.get(name) ?? standardHeaders?.[name]);
  return lines;
}

function passedOnFrom(client: RequestHeaders): string {
  let lines = '';
  for (const name of standing) lines += lineOf(name, client.get(name));
  for (const name of ofTraces) lines += lineOf(name, client.get(name));
  return lines;
}

const lineOf = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `${name}: ${sendable(name, value)}\r\n`;

/** For an answer that is read as it passes. */
export function uncompressed(headers: readonly string[]): string[] {
  return [...withoutHeader(headers, 'accept-encoding'), 'accept-encoding', 'identity'];
}

/** `name` in lower case, as all headers sent upstream. */
export function withoutHeader(headers: readonly string[], name: string): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) kept.push(headers[i] ?? '', headers[i + 1] ?? '');
  }
  return kept;
}

function forward(headers: string[], name: string, value: string | undefined): void {
  if (value === undefined) return;
  headers.push(name, sendable(name, value));
}

/** Throws where it is no valid header value. */
export function sendable(name: string, value: string): string {
  if (!isWritable(value)) {
    throw new GatewayError('malformed_request', {
      message: `The header ${name} holds a character that HTTP does not allow.`,
    });
  }
  return value;
}

/** A header name as spelled, classified once. */
interface JudgedName {
  readonly lower: string;
  readonly isWithheld: boolean;
}

/** The same names come with every answer; further ones are classified each time. */
const mostJudged = 2_000;
const longestJudged = 100;
const judged = new Map<string, JudgedName>();

function judgeName(name: string): JudgedName {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const judgement = { lower, isWithheld: whyWithheld(lower) !== undefined };
  if (judged.size < mostJudged && name.length <= longestJudged) judged.set(name, judgement);
  return judgement;
}

interface HeaderRules {
  readonly framing: Framing;
  /** The upstream's rate headers would contradict our own. */
  readonly hasOwnRates?: boolean;
  /** The operator's list; undefined: all that may pass. */
  readonly listed: HeaderList | undefined;
}

/** The end-to-end headers of an answer, in its order and spelling, as lines of a head; its request ID gets another name. */
export function clientLines(raw: readonly string[], rules: HeaderRules): string {
  const named = connectionTokens(raw);
  let lines = '';
  for (let i = 0; i < raw.length; i += 2) {
    const value = raw[i + 1] ?? '';
    const name = passingName(raw[i] ?? '', value, rules, named);
    if (name !== undefined) lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** The name under which a header passes; undefined where it does not. */
function passingName(
  name: string,
  value: string,
  { framing, hasOwnRates = false, listed }: HeaderRules,
  named: Set<string> | undefined,
): string | undefined {
  const { lower, isWithheld } = judgeName(name);
  // Framing is the gateway's own, whatever `Connection` or a header list contains.
  if (lower === 'content-length') return framing === 'length' ? name : undefined;
  if (isWithheld || named?.has(lower) || (listed !== undefined && !listed.has(lower))) return undefined;
  if (hasOwnRates && lower.startsWith('x-ratelimit-')) return undefined;
  if (lower === 'link' && commandsLoading(value)) return undefined;
  if (lower === 'x-request-id') return 'x-upstream-request-id';
  return lower !== 'trailer' || framing === 'chunked' ? name : undefined;
}

/** Trailers follow the same rules, and never include framing. */
export function clientTrailers(raw: readonly string[], listed: HeaderList | undefined): string {
  return clientLines(raw, { framing: 'none', listed });
}

/** Headers named by `Connection` are for one hop only. */
function connectionTokens(raw: readonly string[]): Set<string> | undefined {
  let tokens: Set<string> | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length !== 10 || raw[i]?.toLowerCase() !== 'connection') continue;
    const value = (raw[i + 1] ?? '').toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    tokens ??= new Set();
    for (const token of listedTokens(value)) tokens.add(token);
  }
  return tokens;
}
