/** Refuses requests whose framing, host or target could be read in two ways. The parser alone lets these pass. */

import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.ts';

const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]+)(?::[0-9]{1,5})?$/;
const targetPattern = /^\/[\x21-\x7e]*$/;
const lengthPattern = /^(?:0|[1-9][0-9]{0,15})$/;
/** Named in `Connection`, one of these would be dropped by the next hop and the message would change its shape. */
const neverHopByHop = new Set(['content-length', 'transfer-encoding', 'host', 'authorization', 'content-type']);

export function checkFraming(request: IncomingMessage): void {
  if (!targetPattern.test(request.url ?? '')) {
    throw malformed('The request target must be a path in plain ASCII; send "POST /v1/... HTTP/1.1".');
  }
  if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1) {
    throw malformed('Only HTTP/1.1 and HTTP/1.0 are spoken here.');
  }

  const raw = request.rawHeaders;
  let hosts = 0;
  let lengths = 0;
  let encodings = 0;
  let types = 0;
  let credentials = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const value = raw[i + 1] ?? '';
    // A name's length tells most headers apart without lower-casing them all.
    switch (raw[i]?.length) {
      case 4:
        if (isNamed(raw[i], 'host')) {
          hosts += 1;
          if (!hostPattern.test(value))
            throw malformed('The Host header must be one plain host name with an optional port.');
        }
        break;
      case 6:
        if (isNamed(raw[i], 'expect') && value.toLowerCase() !== '100-continue') {
          throw malformed('The only expectation that can be met is "100-continue".');
        }
        break;
      case 10:
        if (isNamed(raw[i], 'connection')) checkConnection(value);
        break;
      case 12:
        if (isNamed(raw[i], 'content-type')) types += 1;
        break;
      case 13:
        if (isNamed(raw[i], 'authorization')) credentials += 1;
        break;
      case 14:
        if (isNamed(raw[i], 'content-length')) {
          lengths += 1;
          if (!lengthPattern.test(value)) throw malformed('The Content-Length must be one plain decimal number.');
        }
        break;
      case 17:
        if (isNamed(raw[i], 'transfer-encoding')) {
          encodings += 1;
          if (value.toLowerCase() !== 'chunked') throw malformed('The only Transfer-Encoding understood is "chunked".');
        }
        break;
    }
  }

  // A proxy in front may have judged the other one.
  if (types > 1) throw malformed('The Content-Type header stands twice; send it once.');
  if (credentials > 1) throw malformed('The Authorization header stands twice; send it once.');
  if (hosts > 1) throw malformed('The Host header stands twice; send it once.');
  if (hosts === 0 && request.httpVersionMinor === 1)
    throw malformed('The Host header is missing; HTTP/1.1 asks for one.');
  if (lengths > 1) throw malformed('The Content-Length header stands twice; send it once.');
  if (encodings > 1) throw malformed('The Transfer-Encoding header stands twice; send it once.');
  if (encodings > 0 && lengths > 0)
    throw malformed('Content-Length and Transfer-Encoding exclude each other; send one.');
  if (encodings > 0 && request.httpVersionMinor === 0)
    throw malformed('HTTP/1.0 knows no Transfer-Encoding; send a Content-Length.');
}

function isNamed(name: string | undefined, wanted: string): boolean {
  return name === wanted || name?.toLowerCase() === wanted;
}

function checkConnection(value: string): void {
  if (value.length === 10 || value.length === 5) {
    const plain = value.toLowerCase();
    if (plain === 'keep-alive' || plain === 'close') return;
  }
  for (const token of value.toLowerCase().split(',')) {
    if (neverHopByHop.has(token.trim())) throw malformed(`The Connection header must not name ${token.trim()}.`);
  }
}

function malformed(message: string): GatewayError {
  return new GatewayError('malformed_request', { message });
}
