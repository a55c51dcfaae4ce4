/** Parses a request head: method, target, fields and framing. Ambiguous framing is refused. */

import type { Buffer } from 'node:buffer';
import { cr, inTarget, inToken, lf, space } from './characters.ts';
import { ambiguous, malformed, type WireFault } from './fault.ts';
import { type FieldLimits, Fields, listedTokens, readFields } from './fields.ts';

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly fields: Fields;
  /** The announced length, `chunked`, or 0 where the head announces no body. */
  readonly bodyBytes: number | 'chunked';
  readonly keepAlive: boolean;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
}

const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]+)(?::[0-9]{1,5})?$/;
const lengthPattern = /^(?:0|[1-9][0-9]{0,15})$/;
/** Names that `Connection` must not list: the next hop would drop such a field, and the message would change its meaning. */
const neverHopByHop = new Set(['content-length', 'transfer-encoding', 'host', 'authorization', 'content-type']);

/** Parses the head in `bytes` up to `endsAt`, with its blank line. */
export function readRequestHead(bytes: Buffer, endsAt: number, limits: FieldLimits): RequestHead | WireFault {
  const text = bytes.toString('latin1', 0, endsAt - 2);
  let at = 0;
  while (inToken[text.charCodeAt(at)] === 1) at += 1;
  const methodEnd = at;
  if (methodEnd === 0 || text.charCodeAt(at) !== space)
    return malformed('This is no request; send "POST /v1/... HTTP/1.1".');
  at += 1;
  const targetStart = at;
  while (inTarget[text.charCodeAt(at)] === 1) at += 1;
  if (text.charCodeAt(targetStart) !== 0x2f || text.charCodeAt(at) !== space) {
    return ambiguous('The request target must be a path in plain ASCII; send "POST /v1/... HTTP/1.1".');
  }
  const targetEnd = at;
  const minor = minorVersion(text, at + 1);
  if (minor === undefined) return ambiguous('Only HTTP/1.1 and HTTP/1.0 are spoken here.');
  const spans: number[] = [];
  const fault = readFields(bytes, targetEnd + 11, endsAt - 2, limits, spans);
  if (fault !== undefined) return fault;
  const fields = new Fields(text, spans);
  const method = text.slice(0, methodEnd);
  // Bytes after the head of a CONNECT request would belong to the tunnel, whatever length is announced.
  const head =
    method === 'CONNECT'
      ? ambiguous('CONNECT is for proxies, and this is none.')
      : judge(method, text.slice(targetStart, targetEnd), minor, fields);
  return 'kind' in head ? { ...head, request: { method, fields } } : head;
}

/** The minor version, if `HTTP/1.0` or `HTTP/1.1` and the end of the line are at this position; else undefined. */
function minorVersion(text: string, at: number): 0 | 1 | undefined {
  if (!text.startsWith('HTTP/1.', at) || text.charCodeAt(at + 8) !== cr || text.charCodeAt(at + 9) !== lf)
    return undefined;
  const digit = text.charCodeAt(at + 7);
  return digit === 0x31 ? 1 : digit === 0x30 ? 0 : undefined;
}

function judge(method: string, target: string, minor: 0 | 1, fields: Fields): RequestHead | WireFault {
  let hosts = 0;
  let types = 0;
  let credentials = 0;
  let length: string | undefined;
  let isChunked = false;
  let keepAlive = minor === 1;
  /** True if the connection must end, whatever else its header says. */
  let ends = false;
  let expectsContinue = false;
  for (let i = 0; i < fields.count; i += 1) {
    // The length of a name distinguishes most headers.
    switch (fields.nameLength(i)) {
      case 4:
        if (!fields.isNamed(i, 'host')) break;
        hosts += 1;
        if (!hostPattern.test(fields.value(i))) {
          return ambiguous('The Host header must be one plain host name with an optional port.');
        }
        break;
      case 6:
        if (!fields.isNamed(i, 'expect')) break;
        if (fields.value(i).toLowerCase() !== '100-continue') {
          return ambiguous('The only expectation that can be met is "100-continue".');
        }
        expectsContinue = minor === 1;
        break;
      case 7:
        // The client may continue in another protocol.
        if (fields.isNamed(i, 'upgrade')) ends = true;
        break;
      case 10: {
        if (!fields.isNamed(i, 'connection')) break;
        const wish = readConnection(fields.value(i));
        if (typeof wish === 'object') return wish;
        if (wish === true) keepAlive = true;
        else if (wish === false) ends = true;
        break;
      }
      case 12:
        if (fields.isNamed(i, 'content-type')) types += 1;
        break;
      case 13:
        if (fields.isNamed(i, 'authorization')) credentials += 1;
        break;
      case 14:
        if (!fields.isNamed(i, 'content-length')) break;
        if (length !== undefined) return ambiguous('The Content-Length header stands twice; send it once.');
        length = fields.value(i);
        if (!lengthPattern.test(length)) return ambiguous('The Content-Length must be one plain decimal number.');
        break;
      case 17:
        if (!fields.isNamed(i, 'transfer-encoding')) break;
        if (isChunked) return ambiguous('The Transfer-Encoding header stands twice; send it once.');
        if (fields.value(i).toLowerCase() !== 'chunked' || fields.hasTabBehind(i)) {
          return ambiguous('The only Transfer-Encoding understood is "chunked".');
        }
        isChunked = true;
        break;
    }
  }

  // A proxy in front may have judged the request by the other one.
  if (types > 1) return ambiguous('The Content-Type header stands twice; send it once.');
  if (credentials > 1) return ambiguous('The Authorization header stands twice; send it once.');
  if (hosts > 1) return ambiguous('The Host header stands twice; send it once.');
  if (hosts === 0 && minor === 1) return ambiguous('The Host header is missing; HTTP/1.1 asks for one.');
  if (isChunked && length !== undefined) {
    return ambiguous('Content-Length and Transfer-Encoding exclude each other; send one.');
  }
  if (isChunked && minor === 0) return ambiguous('HTTP/1.0 knows no Transfer-Encoding; send a Content-Length.');
  const bodyBytes = isChunked ? 'chunked' : Number(length ?? 0);
  return { method, target, minor, fields, bodyBytes, keepAlive: keepAlive && !ends, expectsContinue };
}

function readConnection(value: string): boolean | undefined | WireFault {
  if (value === 'keep-alive') return true;
  let wish: boolean | undefined;
  for (const token of listedTokens(value.toLowerCase())) {
    if (token === 'close') wish = false;
    else if (token === 'keep-alive') wish ??= true;
    else if (neverHopByHop.has(token)) return ambiguous(`The Connection header must not name ${token}.`);
  }
  return wish;
}
