/** A scriptable upstream on a raw socket: exact bytes both ways, with a journal of everything received. */

import { createServer, type Socket } from 'node:net';
import { beforeDeadline } from '../../../src/lib/deadline.ts';
import {
  createMessageReader,
  type Framing,
  type HeaderField,
  headerValue,
  type MessageHead,
  nowMs,
  parseFraming,
  toHead,
  WireError,
} from '../clients/http-message.ts';
import { patientMs } from '../time/patience.ts';
import { createReply, type Reply } from './fake-reply.ts';

/** One accepted request. It enters the journal with its head; the body grows until `complete`. */
export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly rawHead: Buffer;
  /** In the order and case they came. */
  readonly headers: readonly HeaderField[];
  /** All values of a field, joined; undefined where it is absent. */
  header(name: string): string | undefined;
  readonly body: Buffer;
  readonly complete: boolean;
  /** Counts from 1, in the order the connections were accepted. */
  readonly connectionNo: number;
  readonly receivedAtMs: number;
}

/** Answers one request. What it throws is thrown again by `close`, so that a check inside a handler counts. */
export type Handler = (request: UpstreamRequest, reply: Reply) => unknown;

/** One handler for all requests, or one for each in turn, of which the last stays. */
export type Script = Handler | readonly [Handler, ...Handler[]];

export interface FakeUpstream {
  /** `http://127.0.0.1:port`, or `unix:/path:` where it has a socket. */
  readonly url: string;
  /** 0 where it has a socket. */
  readonly port: number;
  /** The journal: every request whose head was well-formed, in order of arrival. */
  readonly requests: readonly UpstreamRequest[];
  /** What came that was no request; a gateway that lets nothing malformed through leaves this empty. */
  readonly malformed: readonly { readonly connectionNo: number; readonly reason: string }[];
  /** Bytes received on all connections. */
  readonly receivedBytes: number;
  /** From now on; with `at: 'head'` the handler runs before the body has come. */
  respondWith(script: Script, options?: { readonly at?: 'head' | 'complete' }): void;
  /** The next complete request that no earlier call has returned; fails after 10 s. */
  nextRequest(): Promise<UpstreamRequest>;
  connections(): { readonly open: number; readonly accepted: number };
  /** Breaks what is open; throws what a handler threw. */
  close(): Promise<void>;
}

const nextRequestTimeoutMs = patientMs(2_500);

const answerOk: Handler = (_request, reply) => reply.json(200, {});

export async function startFakeUpstream(
  script: Script = answerOk,
  options: { readonly port?: number; readonly socketPath?: string } = {},
): Promise<FakeUpstream> {
  const requests: UpstreamRequest[] = [];
  const malformed: { connectionNo: number; reason: string }[] = [];
  const sockets = new Set<Socket>();
  const completed: UpstreamRequest[] = [];
  const waiting: ((request: UpstreamRequest) => void)[] = [];
  const failures: unknown[] = [];
  const closing = new AbortController();
  let accepted = 0;
  let receivedBytes = 0;
  let nextHandler = toTurns(script);
  let handleAt: 'head' | 'complete' = 'complete';

  const server = createServer({ noDelay: true }, (socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket, accepted);
  });

  function serve(socket: Socket, connectionNo: number): void {
    let current: JournalEntry | undefined;
    let answered: Promise<void> = Promise.resolve();

    const clientClosed = new Promise<void>((resolve) => {
      socket.once('end', resolve);
      socket.once('close', () => resolve());
    });
    // A reset is an ordinary way for a gateway to leave; 'close' follows and notifies the handler.
    socket.on('error', () => undefined);

    const reader = createMessageReader({
      onHead(head) {
        const framing = parseRequestFraming(head);
        current = new JournalEntry(head, connectionNo);
        requests.push(current);
        if (handleAt === 'head') enqueue(current);
        return framing;
      },
      onBody(bytes) {
        current?.take(bytes);
      },
      onComplete() {
        if (current === undefined) return;
        const request = current;
        request.complete = true;
        // A handler that ran at the head has been enqueued already.
        if (!request.handled) enqueue(request);
        const taker = waiting.shift();
        if (taker === undefined) completed.push(request);
        else taker(request);
      },
    });

    function enqueue(request: JournalEntry): void {
      request.handled = true;
      const handler = nextHandler();
      answered = answered.then(() => answer(request, handler));
    }

    async function answer(request: JournalEntry, handler: Handler): Promise<void> {
      try {
        await handler(request, createReply({ socket, clientClosed, closing: closing.signal }));
      } catch (error) {
        if (closing.signal.aborted) return;
        failures.push(error);
        socket.destroy();
      }
      if (request.header('connection')?.toLowerCase() === 'close') socket.end();
    }

    socket.on('data', (bytes: Buffer) => {
      receivedBytes += bytes.length;
      try {
        reader.push(bytes);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        malformed.push({ connectionNo, reason: error.message });
        socket.removeAllListeners('data');
        socket.end(
          toHead('HTTP/1.1 400 Bad Request', [
            ['connection', 'close'],
            ['content-length', '0'],
          ]),
        );
      }
    });
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    const { socketPath, port = 0 } = options;
    if (socketPath === undefined) server.listen(port, '127.0.0.1', resolve);
    else server.listen(socketPath, resolve);
  });
  const address = server.address();
  if (address === null) throw new Error('the fake upstream has no address');
  const port = typeof address === 'string' ? 0 : address.port;

  return {
    url: typeof address === 'string' ? `unix:${address}:` : `http://127.0.0.1:${port}`,
    port,
    requests,
    malformed,
    get receivedBytes() {
      return receivedBytes;
    },
    respondWith(next, { at = 'complete' } = {}) {
      nextHandler = toTurns(next);
      handleAt = at;
    },
    async nextRequest() {
      const ready = completed.shift();
      if (ready !== undefined) return ready;
      const { promise: arrival, resolve } = Promise.withResolvers<UpstreamRequest>();
      waiting.push(resolve);
      const tooLate = (): Error => new Error(`no request reached the upstream within ${nextRequestTimeoutMs} ms`);
      return beforeDeadline(arrival, nextRequestTimeoutMs, tooLate);
    },
    connections: () => ({ open: sockets.size, accepted }),
    async close() {
      closing.abort();
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
      if (failures.length > 0) throw failures[0];
    },
  };
}

class JournalEntry implements UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly rawHead: Buffer;
  readonly headers: readonly HeaderField[];
  readonly connectionNo: number;
  readonly receivedAtMs: number = nowMs();
  complete = false;
  handled = false;
  #pieces: Buffer[] = [];

  constructor(head: MessageHead, connectionNo: number) {
    const [method = '', path = ''] = head.startLine.split(' ');
    this.method = method;
    this.path = path;
    this.rawHead = head.rawHead;
    this.headers = head.headers;
    this.connectionNo = connectionNo;
  }

  header(name: string): string | undefined {
    return headerValue(this.headers, name);
  }

  take(bytes: Buffer): void {
    this.#pieces.push(bytes);
  }

  get body(): Buffer {
    const [first] = this.#pieces;
    if (first === undefined || this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] ?? Buffer.alloc(0);
  }
}

function parseRequestFraming(head: MessageHead): Framing {
  if (!/^[A-Z]+ [\x21-\x7e]+ HTTP\/1\.1$/.test(head.startLine)) {
    throw new WireError(`a request line of ${JSON.stringify(head.startLine)}`);
  }
  const hosts = head.headers.filter(([name]) => name.toLowerCase() === 'host');
  if (hosts.length !== 1) throw new WireError(`${hosts.length} Host fields`);
  return parseFraming(head.headers) ?? { kind: 'none' };
}

function toTurns(script: Script): () => Handler {
  if (typeof script === 'function') return () => script;
  let turn = 0;
  return () => {
    const handler = script[Math.min(turn, script.length - 1)] ?? script[0];
    turn += 1;
    return handler;
  };
}
