/** Writes an error in the one shape that every error of the gateway has, with what clients of another service read beside it. */

import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { besideError, type ErrorShape } from '../core/error-shape.ts';
import type { GatewayError } from '../core/errors.ts';
import type { ServerAnswer } from '../wire/server-answer.ts';

function toErrorBody(error: GatewayError, shape?: ErrorShape): string {
  const { message, type, param, code } = error;
  return JSON.stringify({ error: { message, type, param, code }, ...besideError(shape, message) });
}

export function writeError(
  response: ServerAnswer,
  error: GatewayError,
  requestId: string,
  more: readonly string[],
  shape: ErrorShape | undefined,
): number {
  const body = toErrorBody(error, shape);
  return writeJson(response, error.status, body, ['x-request-id', requestId, ...more, ...error.headers]);
}

/** A whole JSON answer of the gateway's own; the length of its body in bytes comes back. */
export function writeJson(response: ServerAnswer, status: number, body: string, headers: readonly string[]): number {
  return response.send(status, ['content-type', 'application/json', ...headers], body);
}

/** The same for a request that never became one, as the whole text of an answer, each character a byte. */
export function toRawError(error: GatewayError, requestId: string): string {
  const body = toErrorBody(error);
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
    '',
    Buffer.from(body).toString('latin1'),
  ].join('\r\n');
}
