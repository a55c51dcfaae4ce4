/** What a proxy forwards of a client's bytes, as parsed by the server behind it. */

import { createServer, type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { type Reading, type ReadRequest, shown } from '../../../support/wire/reading.ts';

/** The header that identifies the client's connection of a request, by its port. */
export const originHeader = 'x-origin-port';

export interface Upstream {
  readonly port: number;
  /** What a proxy sent that is no request. */
  readonly refused: () => number;
  /** What is passed on of this connection is put here. */
  watch(originPort: number, requests: ReadRequest[]): void;
  forget(originPort: number): void;
}

/** Another reader than the one that is judged. */
export async function startUpstream(t: TestContext): Promise<Upstream> {
  const watched = new Map<string, ReadRequest[]>();
  let refused = 0;
  // nginx passes a request of HTTP/1.0 without a host on as one of HTTP/1.1: it would be refused unseen.
  const server = createServer({ keepAliveTimeout: 0, requireHostHeader: false });
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const { method = '', url: target = '', httpVersionMinor: minor, rawHeaders: fields } = request;
      const requests = watched.get(String(request.headers[originHeader]));
      if (event === 'checkContinue') response.writeContinue();
      let body = '';
      request.setEncoding('latin1');
      request.on('data', (piece: string) => {
        body += piece;
      });
      request.on('error', () => {});
      request.on('end', () => {
        requests?.push({ method, target, minor, fields, body });
        response.end();
      });
    });
  }
  server.on('clientError', (_error, socket) => {
    refused += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the upstream has no port');
  return {
    port: address.port,
    refused: () => refused,
    watch: (originPort, requests) => watched.set(String(originPort), requests),
    forget: (originPort) => watched.delete(String(originPort)),
  };
}

/** A proxy whose patience is at its end closes the connection; one that does not is left. */
const patienceMs = 5_000;

/** Those that the proxy passed on, once it has closed the connection. */
export function passedOn(proxyPort: number, upstream: Upstream, bytes: Buffer): Promise<ReadRequest[]> {
  const requests: ReadRequest[] = [];
  return new Promise((resolve) => {
    const socket = connect({ port: proxyPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const patience = setTimeout(() => socket.destroy(), patienceMs);
    let originPort = 0;
    socket.on('connect', () => {
      originPort = socket.localPort ?? 0;
      upstream.watch(originPort, requests);
      socket.write(bytes);
    });
    socket.resume();
    socket.on('end', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(patience);
      upstream.forget(originPort);
      resolve(requests);
    });
  });
}

/** Of one hop; a proxy writes its own, or none. */
const ofOneHop = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'http2-settings', 'expect'],
  ...['content-length', 'transfer-encoding', 'max-forwards', 'via', originHeader],
]);

/** The server behind the proxy refuses all others. */
const methods = new Set(METHODS);

/** One of HTTP/0.9 has no end that we would see: we wait for the rest of a head, and refuse it. HAProxy may make it one of HTTP/1. */
const old = /^GET \S+\r\n$/;

/** How what was passed on differs from what we understood; a proxy may refuse what we take, and we what it takes. */
export function differenceBehind(ours: Reading, passed: readonly ReadRequest[], bytes: Buffer): string | undefined {
  if (old.test(bytes.toString('latin1'))) return undefined;
  const known = ours.requests.filter(({ method }) => methods.has(method));
  for (const [index, their] of passed.entries()) {
    const own = known[index];
    if (own !== undefined) {
      const part = partThatDiffers(own, their);
      if (part !== undefined) return `request ${index}: ${part}`;
    } else if (ours.end !== 'refused' && ours.end !== 'last') {
      return `it passed on another request, ${their.method} ${shown(their.target)}, where we say ${ours.end}`;
    }
  }
  return undefined;
}

function partThatDiffers(own: ReadRequest, their: ReadRequest): string | undefined {
  for (const part of ['method', 'target', 'body'] as const) {
    if (own[part] !== their[part]) return `the ${part} is ${shown(own[part])} here, ${shown(their[part])} there`;
  }
  const theirFields = valuesByName(their.fields);
  for (const [name, values] of valuesByName(own.fields)) {
    const theirValues = theirFields.get(name);
    if (ofOneHop.has(name) || theirValues === values) continue;
    return `the field ${shown(name)} is ${shown(values)} here, ${shown(theirValues ?? 'absent')} there`;
  }
  return undefined;
}

function valuesByName(fields: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) {
    const name = (fields[at] ?? '').toLowerCase();
    const before = values.get(name);
    values.set(name, before === undefined ? (fields[at + 1] ?? '') : `${before}\n${fields[at + 1]}`);
  }
  return values;
}
