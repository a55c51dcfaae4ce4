/** Responses of the fake upstream's handlers: well-formed messages, any bytes, truncation, resets and silence. */

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type HeaderField, headerValue, lastChunk, toChunk, toHead } from '../clients/http-message.ts';

type Bytes = Buffer | string;

/** Every sending method resolves when the bytes are with the kernel, or at once if the client is gone. */
export interface Reply {
  raw(bytes: Bytes): Promise<void>;
  json(status: number, value: unknown, headers?: readonly HeaderField[]): Promise<void>;
  /**
   * A whole answer. Framing is added unless `headers` bring their own (true or false).
   * One body goes out in one write with its head; a body in parts a part a write, and a part a chunk when `chunked`.
   */
  bytes(
    status: number,
    headers: readonly HeaderField[],
    body: Bytes | readonly Bytes[],
    options?: { readonly chunked?: boolean },
  ): Promise<void>;
  /** A chunked event stream, an event a chunk; strings go out as they are, everything else as JSON. */
  sse(events: readonly unknown[], options?: { readonly everyMs?: number }): Promise<void>;
  /** The beginning of an answer in pieces: `head`, then `chunk` as often as wanted, then `lastChunk`. */
  head(status: number, headers: readonly HeaderField[]): Promise<void>;
  chunk(bytes: Bytes): Promise<void>;
  lastChunk(): Promise<void>;
  /** Ends the connection with FIN, whatever was announced. */
  cut(): void;
  /** Ends the connection with RST. */
  reset(): void;
  /** Sends nothing more; resolves when the client leaves. */
  stall(): Promise<void>;
  /** Ends early, by throwing, when the upstream itself is closed. */
  sleep(ms: number): Promise<void>;
  /** Resolves when the client has ended or broken the connection. */
  readonly clientClosed: Promise<void>;
  /** False once nothing can be sent any more. */
  readonly open: boolean;
}

export interface ReplyDeps {
  readonly socket: Socket;
  readonly clientClosed: Promise<void>;
  readonly closing: AbortSignal;
}

export function createReply({ socket, clientClosed, closing }: ReplyDeps): Reply {
  const raw = (bytes: Bytes): Promise<void> =>
    new Promise((resolve) => {
      if (!socket.writable) return resolve();
      // An error here is a client that left; 'close' on the socket reports it.
      socket.write(toBuffer(bytes), () => resolve());
    });

  const sleep = async (ms: number): Promise<void> => {
    await wait(ms, undefined, { signal: closing });
  };

  const head = (status: number, headers: readonly HeaderField[]): Promise<void> =>
    raw(toHead(statusLine(status), headers));

  const chunk = (bytes: Bytes): Promise<void> => raw(toChunk(toBuffer(bytes)));

  async function bytes(
    status: number,
    headers: readonly HeaderField[],
    body: Bytes | readonly Bytes[],
    { chunked = false }: { readonly chunked?: boolean } = {},
  ): Promise<void> {
    const parts = typeof body === 'string' || Buffer.isBuffer(body) ? [toBuffer(body)] : body.map(toBuffer);
    const fields = [...headers, ...missingFraming(status, headers, parts, chunked)];
    const framed = parts.filter((part) => part.length > 0).map((part) => (chunked ? toChunk(part) : part));
    if (chunked) framed.push(lastChunk);
    const first = toHead(statusLine(status), fields);
    if (!Array.isArray(body)) return raw(Buffer.concat([first, ...framed]));
    for (const piece of [first, ...framed]) await raw(piece);
  }

  return {
    raw,
    bytes,
    json: (status, value, headers = []) =>
      bytes(status, [['content-type', 'application/json'], ...headers], JSON.stringify(value)),
    async sse(events, { everyMs = 0 } = {}) {
      await head(200, [
        ['content-type', 'text/event-stream'],
        ['transfer-encoding', 'chunked'],
      ]);
      for (const [index, event] of events.entries()) {
        if (index > 0 && everyMs > 0) await sleep(everyMs);
        await chunk(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
      }
      await raw(lastChunk);
    },
    head,
    chunk,
    lastChunk: () => raw(lastChunk),
    cut: () => {
      socket.end();
    },
    reset: () => {
      socket.resetAndDestroy();
    },
    stall: () => clientClosed,
    sleep,
    clientClosed,
    get open() {
      return socket.writable;
    },
  };
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}

function toBuffer(bytes: Bytes): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
}

function missingFraming(
  status: number,
  headers: readonly HeaderField[],
  parts: readonly Buffer[],
  chunked: boolean,
): HeaderField[] {
  if (headerValue(headers, 'content-length') !== undefined) return [];
  if (headerValue(headers, 'transfer-encoding') !== undefined) return [];
  if (status === 204 || status === 304 || status < 200) return [];
  if (chunked) return [['transfer-encoding', 'chunked']];
  return [['content-length', String(parts.reduce((sum, part) => sum + part.length, 0))]];
}
