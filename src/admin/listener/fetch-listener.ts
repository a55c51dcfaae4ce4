/** Adapts Node's HTTP server to `Request` and `Response`: streams bodies both ways, and cancels work when the client disconnects. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { codeOf } from '../../lib/thrown.ts';

type Fetch = (request: Request, incoming: IncomingMessage) => Promise<Response>;

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Faults that occur after the answer's head was sent are reported to `onFault`, and close the connection. */
export function createFetchListener(fetch: Fetch, onFault: (error: unknown) => void): RequestListener {
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const left = new AbortController();
    outgoing.once('close', () => left.abort());
    try {
      const request = toRequest(incoming, left.signal);
      if (request === undefined) {
        outgoing.writeHead(400, { 'content-length': '0' }).end();
        return;
      }
      // The signal is only fired while the request object is alive: it is kept as long as the connection.
      outgoing.once('close', () => void request.signal);
      const response = await fetch(request, incoming);
      if (left.signal.aborted) {
        await response.body?.cancel();
        return;
      }
      await write(response, incoming, outgoing);
      // The rest of a refused body is discarded within the request's time limit: the next request on the connection waits for it.
      if (!incoming.complete) incoming.removeAllListeners('data').resume();
    } catch (error) {
      const hasLeft = outgoing.headersSent ? codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE' : left.signal.aborted;
      if (hasLeft) return;
      onFault(error);
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500, { 'content-length': '0' }).end();
    }
  }
  return (incoming, outgoing) => void answer(incoming, outgoing);
}

/** Methods that the `Request` class refuses. */
const noMethods: readonly string[] = ['CONNECT', 'TRACE', 'TRACK'];

/** Converts a request; undefined for an invalid one. Anyone can send a method TRACE or an invalid port, so that is not logged. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', headersDistinct } = incoming;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  // Permitted host names were checked before.
  const base = `http://${headers.get('host') ?? 'localhost'}`;
  const address = URL.parse(url.startsWith('/') ? base + url : url);
  if (address === null || noMethods.includes(method)) return undefined;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(address, {
    method,
    headers,
    signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
  });
}

async function write(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  outgoing.setHeaders(response.headers).writeHead(response.status);
  const { body } = response;
  if (body === null || incoming.method === 'HEAD') {
    await body?.cancel();
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  await pipeline(Readable.fromWeb(body as NodeReadableStream), outgoing);
}
