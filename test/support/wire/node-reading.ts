/** Parses bytes with `node:http`, over in-memory connections. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import type { Reading, ReadRequest } from './reading.ts';

/** Input is passed by hand; output is dropped. */
class MemoryConnection extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly read_: ReadRequest[] = [];
  open = 0;
  why: string | undefined = undefined;
  isLast = false;
  settle: () => void = () => {};

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  setTimeout(): this {
    return this;
  }
}

/** Behind some offers of another protocol it never closes, though all is read. */
const silenceMs = 1_000;
const turns = 20;

async function settleLater(connection: MemoryConnection): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  connection.settle();
}

export interface NodeReader {
  read(bytes: Buffer): Promise<Reading>;
  close(): void;
}

export function createNodeReader(): NodeReader {
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: 0,
    shouldUpgradeCallback: () => false,
  });
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  server.maxHeadersCount = 0;
  // What came before the client ended its side is answered.
  Object.assign(server, { httpAllowHalfOpen: true });
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) server.on(event, record);
  server.on('connect', (request, connection) => recordHead(request, connection));
  server.on('clientError', (error: Error & { code?: string }, connection) => {
    if (!(connection instanceof MemoryConnection)) return;
    connection.why = error.code ?? error.message;
    setImmediate(() => connection.destroy());
  });

  return {
    async read(bytes) {
      const connection = new MemoryConnection();
      const settled = new Promise<void>((resolve) => {
        connection.settle = resolve;
      });
      connection.on('error', () => {});
      connection.on('close', connection.settle);
      server.emit('connection', connection);
      connection.push(bytes);
      connection.push(null);
      const giveUp = setTimeout(() => void settleLater(connection), silenceMs);
      await settled;
      clearTimeout(giveUp);
      const { read_: requests, why } = connection;
      if (why === undefined) return { requests, end: 'clean' };
      return { requests, end: why === 'HPE_INVALID_EOF_STATE' ? 'cut' : 'refused', why };
    },
    close: () => void server.close(),
  };
}

function record(request: IncomingMessage, response: ServerResponse): void {
  const connection: Duplex = request.socket;
  if (!(connection instanceof MemoryConnection)) return;
  let body = '';
  const { method = '', url: target = '', httpVersionMinor: minor, rawHeaders: fields } = request;
  request.setEncoding('latin1');
  request.on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', () => {
    connection.read_.push({ method, target, minor, fields, body });
    response.end();
  });
  request.on('error', () => {});
}

/** Of a tunnel there is only a head. */
function recordHead({ method = '', url: target = '', httpVersionMinor, rawHeaders }: IncomingMessage, tunnel: Duplex) {
  if (tunnel instanceof MemoryConnection) {
    tunnel.read_.push({ method, target, minor: httpVersionMinor, fields: rawHeaders, body: '' });
  }
  tunnel.destroy();
}
