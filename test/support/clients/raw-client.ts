/** A client that sends any bytes or an ordinary request, and returns the complete response. */

import { setTimeout as wait } from 'node:timers/promises';
import { type HeaderField, headerValue, toHead } from './http-message.ts';
import { type ConnectOptions, connect, type RawConnection, type RawResponse } from './raw-connection.ts';

type Bytes = Buffer | string;

export type { RawResponse } from './raw-connection.ts';

export type Segment = Bytes | { readonly bytes: Bytes; readonly afterMs: number };

export interface SendOptions extends ConnectOptions {
  /** `close` waits for the end of the connection too, so that bytes behind the response would show. */
  readonly until?: 'response' | 'close';
  /** Sends FIN behind the request. */
  readonly halfClose?: boolean;
}

export async function send(
  port: number,
  segments: Bytes | readonly Segment[],
  options: SendOptions = {},
): Promise<RawResponse> {
  const connection = await connect(port, options);
  try {
    const sent = writeSegments(connection, segments, options.halfClose ?? false);
    const response = await connection.nextResponse();
    if (options.until !== 'close') return response;
    await sent;
    const closed = await connection.closed();
    return Object.assign(response, { closed, rawBytes: connection.received() });
  } finally {
    connection.destroy();
  }
}

/** Sends all requests at once on one connection and reads as many responses, in order. */
export async function sendPipelined(
  port: number,
  requests: readonly Bytes[],
  options: ConnectOptions = {},
): Promise<RawResponse[]> {
  const connection = await connect(port, options);
  try {
    await connection.write(Buffer.concat(requests.map(toBuffer)));
    const responses: RawResponse[] = [];
    for (const _ of requests) {
      const response = await connection.nextResponse();
      responses.push(response);
      if (!response.complete) break;
    }
    return responses;
  } finally {
    connection.destroy();
  }
}

export interface RawRequest extends SendOptions {
  readonly port: number;
  readonly path: string;
  readonly headers?: readonly HeaderField[];
  /** Anything but bytes and strings is sent as JSON. */
  readonly body?: unknown;
}

/** An ordinary, well-formed request. */
export function request(options: RawRequest): Promise<RawResponse> {
  return send(options.port, toRequestBytes(options), options);
}

/** The bytes of an ordinary request; Host, Content-Length and a JSON Content-Type are added where they are missing. */
export function toRequestBytes(options: Omit<RawRequest, 'port'> & { readonly port?: number }): Buffer {
  const { method = options.body === undefined ? 'GET' : 'POST', path, headers = [], body } = options;
  const bytes = body === undefined ? Buffer.alloc(0) : toBodyBytes(body);
  const fields: HeaderField[] = [...headers];
  const addMissing = (name: string, value: string): void => {
    if (headerValue(headers, name) === undefined) fields.push([name, value]);
  };
  addMissing('host', `127.0.0.1${options.port === undefined ? '' : `:${options.port}`}`);
  if (body !== undefined) {
    addMissing('content-type', 'application/json');
    if (headerValue(headers, 'transfer-encoding') === undefined) addMissing('content-length', String(bytes.length));
  }
  return Buffer.concat([toHead(`${method} ${path} HTTP/1.1`, fields), bytes]);
}

async function writeSegments(
  connection: RawConnection,
  segments: Bytes | readonly Segment[],
  halfClose: boolean,
): Promise<void> {
  const list: readonly Segment[] = typeof segments === 'string' || Buffer.isBuffer(segments) ? [segments] : segments;
  for (const segment of list) {
    if (typeof segment === 'string' || Buffer.isBuffer(segment)) {
      await connection.write(segment);
      continue;
    }
    await wait(segment.afterMs);
    await connection.write(segment.bytes);
  }
  if (halfClose) connection.finish();
}

function toBuffer(bytes: Bytes): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
}

function toBodyBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
