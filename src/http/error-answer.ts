/** Writes an error in the gateway's common shape, with additional fields for other services' clients, or in a client API's own shape. */

import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import type { ClientApi } from '../core/client-api.ts';
import { anthropicHeader, besideError, type ErrorShape } from '../core/error-shape.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import { writeJson as writeJsonText } from '../lib/json/json-text.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { withMasks } from '../lib/secrets/secret-shapes.ts';
import { traceOf } from '../lib/thrown.ts';
import type { ServerAnswer } from '../wire/server-answer.ts';
import type { ServerRequest } from '../wire/server-request.ts';

/** Which client reads the error, and thus its format. */
interface Reader {
  readonly shape: ErrorShape | undefined;
  readonly clientApi: ClientApi | undefined;
}

function toErrorBody(error: GatewayError, requestId: string, { shape, clientApi }: Partial<Reader> = {}): string {
  const { message, type, param, code } = error;
  if (clientApi?.error !== undefined) {
    const retryAfter = headerValue(error.headers, 'retry-after');
    const said = { status: error.status, message, id: requestId, type, code, param, retryAfter };
    return writeJsonText(clientApi.error(said)).toString('utf8');
  }
  return JSON.stringify({ error: { message, type, param, code }, ...besideError(shape, message) });
}

/** Writes a complete JSON answer of the gateway; returns the length of its body in bytes. */
export function writeJson(response: ServerAnswer, status: number, body: string, headers: readonly string[]): number {
  return response.send(status, ['content-type', 'application/json', ...headers], body);
}

/** Writes the error for an invalid request as the text of a complete answer, each byte as one character. */
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

export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal_error', { cause: error });
}

/** Answers a request with the error; cuts an answer that has begun. */
export function answerError(
  exchange: Exchange,
  request: ServerRequest,
  response: ServerAnswer,
  error: GatewayError,
): void {
  exchange.status = error.status;
  exchange.errorCode = error.recordedAs;
  exchange.errorCause = toCause(error.cause);
  if (error.code === 'client_closed' || response.isClosed) return;
  if (response.headersSent) {
    response.cut(false);
    return;
  }
  const requestId = exchange.clientRequestId ?? exchange.id;
  const shape = isAnthropics(exchange, request)
    ? 'anthropic'
    : (exchange.shape ?? exchange.key?.shape ?? exchange.errorShape);
  const body = toErrorBody(error, requestId, { shape, clientApi: exchange.clientApi });
  const headers = ['x-request-id', requestId, ...triedUpstream(exchange), ...error.headers];
  exchange.responseBytes = writeJson(response, error.status, body, headers);
}

function isAnthropics({ route }: Exchange, request: ServerRequest): boolean {
  return route?.label === 'anthropic' || request.header(anthropicHeader) !== undefined;
}

function triedUpstream({ target, attempts, snapshot }: Exchange): string[] {
  if (target === undefined || !snapshot.server.diagnostics) return [];
  return ['x-postern-upstream', withMasks(target.upstream.id), 'x-postern-attempts', String(attempts)];
}

function toCause(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  return traceOf(cause);
}
