/** Writes an error in the gateway's common shape, with additional fields for other services' clients, or in a client API's own shape. */

import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import type { ClientApi } from '../core/client-api.ts';
import { besideError, type ErrorShape } from '../core/error-shape.ts';
import type { GatewayError } from '../core/errors.ts';
import { writeJson as writeJsonText } from '../lib/json/json-text.ts';
import { headerValue } from '../lib/raw-headers.ts';
import type { ServerAnswer } from '../wire/server-answer.ts';

/** The reader of the error. */
interface Reader {
  readonly shape: ErrorShape | undefined;
  readonly clientApi: ClientApi | undefined;
}

function toErrorBody(error: GatewayError, requestId: string, { shape, clientApi }: Partial<Reader> = {}): string {
  const { message, type, param, code } = error;
  if (clientApi?.error !== undefined) {
    const retryAfter = headerValue(error.headers, 'retry-after');
    const said = { status: error.status, message, id: requestId, code, param, retryAfter };
    return writeJsonText(clientApi.error(said)).toString('utf8');
  }
  return JSON.stringify({ error: { message, type, param, code }, ...besideError(shape, message) });
}

export function writeError(
  response: ServerAnswer,
  error: GatewayError,
  requestId: string,
  more: readonly string[],
  reader: Reader,
): number {
  const body = toErrorBody(error, requestId, reader);
  return writeJson(response, error.status, body, ['x-request-id', requestId, ...more, ...error.headers]);
}

/** A complete JSON answer of the gateway; returns the length of its body in bytes. */
export function writeJson(response: ServerAnswer, status: number, body: string, headers: readonly string[]): number {
  return response.send(status, ['content-type', 'application/json', ...headers], body);
}

/** The same for an invalid request, as the text of a whole answer, each character a byte. */
export function toRawError(error: GatewayError, requestId: string): string {
  const body = toErrorBody(error, requestId);
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
