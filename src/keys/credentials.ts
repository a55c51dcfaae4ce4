/** Reads the API key from a request's headers. */

import { Buffer } from 'node:buffer';
import type { RequestHeaders } from '../core/exchange.ts';
import { unauthorized } from './access.ts';

const otherHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const;

/** Longest credential that is looked up: longer than any secret, yet cheap to hash. */
const maxCharacters = 512;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The API key of a request; undefined where there is none. An Authorization of another scheme, or an empty one, does not hide the other headers. */
export function readCredential(headers: RequestHeaders): string | undefined {
  const credential = readBearer(headers.get('authorization')) ?? readOther(headers);
  if (credential === undefined) return undefined;
  if (credential.length > maxCharacters) throw unauthorized('invalid_api_key');
  return fromHeaderText(credential);
}

function readBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const value = withoutBlanks(authorization);
  // The scheme must be followed by a blank, which is trimmed where nothing else follows.
  return /^bearer[ \t]/i.test(value) ? withoutBlanks(value.slice('bearer '.length)) : undefined;
}

function readOther(headers: RequestHeaders): string | undefined {
  for (const name of otherHeaders) {
    const value = headers.get(name);
    if (value === undefined) continue;
    const credential = withoutBlanks(value);
    if (credential !== '') return credential;
  }
  return undefined;
}

/** Trims spaces and tabs only: JavaScript's other white space may be part of a character here. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (character: number): boolean => character === 0x20 || character === 0x09;

/** Decodes a header's bytes, which come as Latin-1, since digests are of UTF-8. Invalid UTF-8 stays, and matches no key. */
function fromHeaderText(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text)) return text;
  try {
    return utf8.decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}
