/** Writes an error in the one shape that every error of the gateway has, with what clients of another service read beside it. */

import type { ServerResponse } from 'node:http';
import { besideError } from '../core/error-shape.ts';
import type { GatewayError } from '../core/errors.ts';
import type { RerankShape } from '../core/translation.ts';

function toErrorBody(error: GatewayError, shape?: RerankShape): string {
  const { message, type, param, code } = error;
  return JSON.stringify({ error: { message, type, param, code }, ...besideError(shape, message) });
}

export function writeError(
  response: ServerResponse,
  error: GatewayError,
  requestId: string,
  more: readonly string[],
  shape: RerankShape | undefined,
): number {
  const body = toErrorBody(error, shape);
  return writeJson(response, error.status, body, ['x-request-id', requestId, ...more, ...error.headers]);
}

/** A whole JSON answer of the gateway's own; the length of its body in bytes comes back. */
export function writeJson(response: ServerResponse, status: number, body: string, headers: readonly string[]): number {
  const lengthBytes = Buffer.byteLength(body);
  response.writeHead(status, ['content-type', 'application/json', 'content-length', String(lengthBytes), ...headers]);
  response.end(response.req.method === 'HEAD' ? undefined : body);
  return lengthBytes;
}

/** The same for a request that never became one: the parser gave up, and only the socket is there to write to. */
export function toRawError(error: GatewayError, statusText: string, requestId: string): string {
  const body = toErrorBody(error);
  return [
    `HTTP/1.1 ${error.status} ${statusText}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
