/** Decides which headers an operator may add to upstream calls, and which client and response headers may be forwarded. */

import { type HeaderList, toHeaderList, whyWithheld } from '../../../core/answer-headers.ts';
import type { Auth } from '../../../core/family.ts';
import { loopHeader } from '../../../core/loop-mark.ts';
import { isHeaderForModel } from '../../../core/model-fields.ts';
import type { Location } from '../context.ts';

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Characters of a header's value: Latin-1 without control characters, which HTTP allows and our HTTP client can write. */
const sendable = /^[\t\x20-\x7e\xa0-\xff]*$/;

/** Headers that an operator cannot add: they concern a single connection, or Postern writes them for each call. */
const ownHeaders = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'idempotency-key',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-request-id',
  loopHeader,
]);

/** Headers that are always forwarded from clients, so that naming them has no effect. */
const standing = new Set([
  'accept',
  'accept-encoding',
  'content-type',
  'idempotency-key',
  'openai-beta',
  'traceparent',
  'tracestate',
]);

/** Headers with the client's credential, account, cookie or address, which the upstream must not see. */
const clientOnly =
  /^(authorization|api-key|x-api-key|x-goog-api-key|.*-authorization|cookie2?|set-cookie2?|forwarded|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip|via|openai-organization|openai-project|anthropic-organization-id|x-goog-user-project|x-hf-bill-to|ocp-apim-subscription-key|x-postern-.*)$/;

/** The headers that an operator adds, with names in lower case; faulty ones are reported and left out. */
export function toStaticHeaders(headers: Readonly<Record<string, string>>, location: Location): Map<string, string> {
  const result = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    const at = location.at(name);
    const lower = name.toLowerCase();
    if (!token.test(name)) at.fault('is no name that an HTTP header can have');
    else if (ownHeaders.has(lower)) at.fault('Postern writes this header itself; it cannot be set');
    else if (result.has(lower)) at.fault('stands twice, in different letter case');
    else if (!sendable.test(value))
      at.fault('its value holds a line break or another character that no HTTP header can carry');
    else result.set(lower, value);
  }
  return result;
}

/** The client headers to forward, with names in lower case, each once. */
export function toForwardHeaders(
  names: readonly string[],
  fixed: ReadonlyMap<string, string>,
  auth: Auth | undefined,
  location: Location,
): string[] {
  const result = new Set<string>();
  for (const [index, name] of names.entries()) {
    const at = location.at(index);
    const lower = name.toLowerCase();
    if (!token.test(name)) at.fault('is no name that an HTTP header can have');
    else if (clientOnly.test(lower) || lower === auth?.header) {
      at.fault(`${lower} speaks of the client's credential, account or address, and is never forwarded`);
    } else if (standing.has(lower)) continue;
    else if (ownHeaders.has(lower))
      at.fault(`${lower} belongs to one connection, or is written by Postern, and is never forwarded`);
    else if (isHeaderForModel(lower)) {
      at.fault(
        `${lower} can tell an upstream another model than the one that was judged, and is never forwarded; set it under headers, where it is the same for all`,
      );
    } else if (fixed.has(lower)) at.fault(`${lower} is set under headers; a client must not change it`);
    else result.add(lower);
  }
  return [...result];
}

/** The response headers to forward, without those that may never pass. */
export function toResponseHeaders(names: readonly string[], location: Location): HeaderList {
  const listed: string[] = [];
  for (const [index, name] of names.entries()) {
    const lower = name.toLowerCase();
    const why = whyWithheld(lower);
    if (!token.test(name) || lower.slice(0, -1).includes('*')) {
      location.at(index).fault('is no name that an HTTP header can have, nor the beginning of one with a * at its end');
    } else if (why !== undefined) location.at(index).fault(`${lower} ${why}; it never passes`);
    else listed.push(lower);
  }
  return toHeaderList(listed);
}
