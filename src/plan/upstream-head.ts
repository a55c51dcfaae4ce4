/** Writes the head of a request to an upstream: the allowed headers of the client, and the gateway's own. */

import { GatewayError } from '../core/errors.ts';
import type { CallTrace, Exchange, RequestHeaders } from '../core/exchange.ts';
import { loopHeader } from '../core/loop-mark.ts';
import type { Credential, Upstream } from '../core/snapshot.ts';
import { headersWithout } from '../lib/raw-headers.ts';
import { isWritable, toFieldLines } from '../wire/head-writer.ts';

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
  /** The lines up to the name of the request ID's header, whose value follows. */
  readonly text: string;
}

/** Lines of the latest call by the credential's header array: most calls with a credential have the same lines. */
const standingLines = new WeakMap<readonly string[], StandingLines>();

/** The headers of a call as the lines of a head, most of which are cached. */
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

/** Headers that ask for an uncompressed answer, which the gateway reads as it passes. */
export function uncompressed(headers: readonly string[]): string[] {
  return [...withoutHeader(headers, 'accept-encoding'), 'accept-encoding', 'identity'];
}

/** The headers without one. `name` must be in lower case, like all headers sent upstream. */
export const withoutHeader = (headers: readonly string[], name: string): string[] =>
  headersWithout(headers, (one) => one === name);

export const clientHeadersWithout = (client: RequestHeaders, names: ReadonlySet<string>): RequestHeaders => ({
  get: (name) => (names.has(name) ? undefined : client.get(name)),
  has: (name) => !names.has(name) && client.has(name),
});

/** Headers about bodies: where the gateway writes the request and reads the answer itself, those of the client do not apply. */
export const bodyHeaders: ReadonlySet<string> = new Set(['content-type', 'accept', 'accept-encoding']);

function forward(headers: string[], name: string, value: string | undefined): void {
  if (value === undefined) return;
  headers.push(name, sendable(name, value));
}

/** Returns the value; throws where it is no valid header value. */
export function sendable(name: string, value: string): string {
  if (!isWritable(value)) {
    throw new GatewayError('malformed_request', {
      message: `The header ${name} holds a character that HTTP does not allow.`,
    });
  }
  return value;
}
