/** Which headers pass, both ways: upstream by allow-list, to the client all but what frames, reveals or commands. */

import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../core/errors.ts';
import type { Credential } from '../core/snapshot.ts';

const standing = ['accept', 'accept-encoding', 'traceparent', 'tracestate', 'idempotency-key', 'openai-beta'] as const;

/** What our HTTP client refuses to write, and no honest header holds. */
const unsendable = /[^\t\x20-\x7e\x80-\xff]/;

export function upstreamHeaders(
  exchangeId: string,
  credential: Credential,
  forwardHeaders: readonly string[],
  client: IncomingHttpHeaders,
): string[] {
  const headers = [
    ...credential.headers,
    'content-type',
    checked('content-type', client['content-type'] || 'application/json'),
    'user-agent',
    'postern',
    'x-request-id',
    exchangeId,
  ];
  for (const name of standing) forward(headers, name, client[name]);
  for (const name of forwardHeaders) forward(headers, name, client[name]);
  return headers;
}

function forward(headers: string[], name: string, value: string | string[] | undefined): void {
  if (value === undefined) return;
  headers.push(name, checked(name, typeof value === 'string' ? value : value.join(', ')));
}

function checked(name: string, value: string): string {
  if (unsendable.test(value)) {
    throw new GatewayError('malformed_request', {
      message: `The header ${name} holds a character that HTTP does not allow.`,
    });
  }
  return value;
}

/** Framing is built anew for each hop; the rest would speak of the upstream's account, host or policy as if of ours. */
const withheld = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'set-cookie',
  'set-cookie2',
  'server',
  'via',
  'alt-svc',
  'location',
  'www-authenticate',
  'clear-site-data',
  'strict-transport-security',
  'openai-organization',
  'openai-project',
]);

/** How the client can tell where the body ends; with none, the connection does, or there is no body. */
export type Framing = 'length' | 'chunked' | 'none';

/**
 * The end-to-end headers of an answer, in its own order and spelling; its request ID under another name. With rates of our own,
 * the upstream's would only confuse.
 */
export function clientHeaders(raw: readonly string[], framing: Framing, hasOwnRates = false): string[] {
  const named = connectionTokens(raw);
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? '';
    const value = raw[i + 1] ?? '';
    const lower = name.toLowerCase();
    if (withheld.has(lower) || lower.startsWith('access-control-') || lower.startsWith('x-postern-')) continue;
    if (named?.has(lower) || (hasOwnRates && lower.startsWith('x-ratelimit-'))) continue;
    if (lower === 'x-request-id') headers.push('x-upstream-request-id', value);
    else if (lower === 'content-length' ? framing === 'length' : lower !== 'trailer' || framing === 'chunked') {
      headers.push(name, value);
    }
  }
  return headers;
}

/** Trailers follow the same rules, and can never change what the head said of framing. */
export function clientTrailers(raw: readonly string[]): [string, string][] {
  const headers = clientHeaders(raw, 'none');
  const pairs: [string, string][] = [];
  for (let i = 0; i < headers.length; i += 2) {
    pairs.push([headers[i] ?? '', headers[i + 1] ?? '']);
  }
  return pairs;
}

/** Headers that `Connection` names belong to that one hop. */
function connectionTokens(raw: readonly string[]): Set<string> | undefined {
  let tokens: Set<string> | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length !== 10 || raw[i]?.toLowerCase() !== 'connection') continue;
    const value = (raw[i + 1] ?? '').toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    tokens ??= new Set();
    for (const token of value.split(',')) tokens.add(token.trim());
  }
  return tokens;
}
