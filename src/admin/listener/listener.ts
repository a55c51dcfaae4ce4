/** Listens for admin requests: plain HTTP on its own address, separate from the clients' listener. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { ErrorRow } from '../../core/errors.ts';
import type { ConsoleSettings } from '../../core/snapshot.ts';
import { isLoopback } from '../../lib/addresses/address-range.ts';
import { isSameSecret } from '../../lib/secrets/key-secret.ts';
import { type ConnectionLimits, createAdminConnections } from './admin-connections.ts';

/** The response for a path: content type and text, which the caller's `Accept` header may choose. */
interface Page {
  type(accept: string | undefined): string;
  /** The text. A long one comes in pieces: each is written by itself, and other requests are served in between. */
  text(accept: string | undefined): string | Promise<string | Iterable<string>>;
}

export interface AdminListenerDeps {
  /** The present settings; host and port are only read at the start. */
  settings(): ConsoleSettings;
  /** Responses by path. */
  readonly pages: Readonly<Record<string, Page>>;
  /** Answers every request that has no page; it authorises them itself. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Whether an address is a proxy, which many people share, so that it has no connection limit of its own. */
  readonly isProxy: (address: string) => boolean;
  /** Called with faults that callers must not see. */
  onFault(error: unknown): void;
}

/** The error for a listener without a token that other machines could reach. */
export class OpenListenerError extends Error {
  override readonly name = 'OpenListenerError';
}

const maxHeaderBytes = 8 * 1024;
const maxHeaders = 50;
/** Limits of connections; one browser uses six, and one more for each live view. */
const connectionLimits: ConnectionLimits = { most: 256, mostAnAddress: 64, mostIdle: 128, reserved: 16 };
const headersTimeoutMs = 5_000;
const requestTimeoutMs = 10_000;
const keepAliveTimeoutMs = 75_000;
const shortKeepAliveTimeoutMs = 5_000;
/** Timeout of a response whose reader has stopped reading. */
const silenceTimeoutMs = 90_000;

const strictHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export function createAdminListener(deps: AdminListenerDeps) {
  const { settings, pages, answer: answerOthers, isProxy, onFault } = deps;
  const connections = createAdminConnections(connectionLimits, isProxy);
  const known = new Map(Object.entries(pages));

  /** Answers a request. A connection of the reserve is closed after its answer, so that it is free for the next probe. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const isOpenToAll = connections.begin(socket);
    response.once('close', () => connections.end(socket));
    server.keepAliveTimeout = connections.isUnderPressure() ? shortKeepAliveTimeoutMs : keepAliveTimeoutMs;
    if (!isOpenToAll) response.shouldKeepAlive = false;
    try {
      checkHost(request, settings());
      const page = known.get(pathOf(request));
      if (page === undefined) {
        if (!isOpenToAll) throw new Refusal('too_many_connections', { 'retry-after': '5' });
        response.setHeaders(new Headers(strictHeaders));
        answerOthers(request, response);
        return;
      }
      checkPlain(request);
      const { accept } = request.headers;
      const text = await page.text(accept);
      if (typeof text === 'string') write(response, 200, page.type(accept), text, {});
      else await writePieces(response, page.type(accept), text);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal('internal_error');
      if (refusal !== error) onFault(error);
      if (!response.headersSent) refuse(response, refusal);
    }
  }

  function checkPlain(request: IncomingMessage): void {
    const { headers, method } = request;
    const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
    if (hasBody) throw new Refusal('malformed_request', { connection: 'close' });
    checkToken(request, settings());
    if (method !== 'GET' && method !== 'HEAD') throw new Refusal('method_not_allowed', { allow: 'GET, HEAD' });
  }

  const server = createServer(
    {
      insecureHTTPParser: false,
      // Checked in `checkHost`, with the other rules for it.
      requireHostHeader: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => void answer(request, response),
  );
  server.maxHeadersCount = maxHeaders;
  server.timeout = silenceTimeoutMs;
  server.on('connection', (socket) => connections.take(socket));
  server.on('checkContinue', (_request, response) => {
    refuse(response, new Refusal('malformed_request', { connection: 'close' }));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => refuseRaw(stream, toCode(error.code ?? '')));

  return {
    async listen(): Promise<AddressInfo> {
      const { host, port } = settings();
      server.listen({ host, port });
      await once(server, 'listening');
      const address = server.address();
      if (address === null || typeof address === 'string') throw new TypeError('the listener has no TCP address');
      if (settings().token !== undefined || isLoopback(address.address)) return address;
      server.close();
      throw new OpenListenerError(`${host} is reachable from other machines, and no token is set`);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

function write(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  const body = Buffer.from(text);
  response.writeHead(status, { ...strictHeaders, 'content-type': type, 'content-length': body.length, ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

async function writePieces(response: ServerResponse, type: string, pieces: Iterable<string>): Promise<void> {
  response.writeHead(200, { ...strictHeaders, 'content-type': type });
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  const gone = new Promise<void>((resolve) => response.once('close', () => resolve()));
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), gone]);
    await setImmediate();
  }
  response.end();
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  write(response, refusal.status, 'application/json', refusal.body(), refusal.headers);
}

function refuseRaw(stream: Duplex, code: RefusalCode): void {
  if (!stream.writable) {
    stream.destroy();
    return;
  }
  const refusal = new Refusal(code);
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(refusal.body())}`,
    'connection: close',
  ];
  stream.end(`${head.join('\r\n')}\r\n\r\n${refusal.body()}`, () => stream.destroy());
}

function toCode(parserCode: string): RefusalCode {
  if (parserCode === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return parserCode === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'malformed_request';
}

/** Refuses other names in `Host`, against DNS rebinding: a web page can point its own name at this machine. Throws a Refusal. */
function checkHost(request: IncomingMessage, { host: configuredHost, url }: ConsoleSettings): void {
  const names = request.headersDistinct.host ?? [];
  const [written = ''] = names;
  if (names.length !== 1) throw new Refusal('malformed_request');
  const name = nameIn(written);
  if (name === undefined) throw new Refusal('malformed_request');
  if (name === 'localhost' || name === configuredHost.toLowerCase()) return;
  if (url !== undefined && name === nameIn(new URL(url).host)) return;
  if (isIP(name) !== 0 && (isLoopback(name) || isOwnAddress(name))) return;
  throw new Refusal('host_not_allowed');
}

/** The host name or address in `Host`, without port and brackets, in lower case. */
function nameIn(host: string): string | undefined {
  const [, v6, name] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?$/.exec(host) ?? [];
  return (v6 ?? name)?.toLowerCase();
}

function isOwnAddress(address: string): boolean {
  const own = new BlockList();
  for (const { address: one, family } of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
    own.addAddress(one, family === 'IPv6' ? 'ipv6' : 'ipv4');
  }
  return own.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Throws a Refusal where the request lacks the configured token, or comes from another machine while none is configured. */
export function checkToken(request: IncomingMessage, { token }: ConsoleSettings): void {
  // Without one, only this machine may connect, whatever the settings became since the start.
  if (token === undefined && isLoopback(request.socket.localAddress ?? '')) return;
  const { authorization } = request.headers;
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (given !== undefined && token !== undefined && isSameSecret(given, token)) return;
  throw new Refusal('invalid_token', { 'www-authenticate': 'Bearer' });
}

/** The errors of requests that never reach the API, in the common error shape. */
const refusals = {
  malformed_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request is not well-formed HTTP, or has a body; send a plain GET.',
  },
  invalid_token: {
    status: 401,
    type: 'authentication_error',
    message: 'This listener is for operators; send its token (console.token) as "Authorization: Bearer <token>".',
  },
  method_not_allowed: { status: 405, type: 'invalid_request_error', message: 'Only GET and HEAD are allowed here.' },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The request was sent too slowly.',
  },
  host_not_allowed: {
    status: 421,
    type: 'invalid_request_error',
    message:
      'Address this listener as localhost, by an IP address of its machine, or by the name in console.host or console.url.',
  },
  headers_too_large: { status: 431, type: 'invalid_request_error', message: 'Send fewer or shorter headers.' },
  too_many_connections: {
    status: 503,
    type: 'server_error',
    message: 'Too many connections are open, in all or from your address; close some, or try again in a moment.',
  },
  internal_error: { status: 500, type: 'server_error', message: 'Internal error; see the log for the cause.' },
} as const satisfies Record<string, ErrorRow>;

type RefusalCode = keyof typeof refusals;

class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  /** Headers of the response, by name. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RefusalCode, headers: Readonly<Record<string, string>> = {}) {
    super(refusals[code].message);
    this.name = 'Refusal';
    this.code = code;
    this.status = refusals[code].status;
    this.headers = headers;
  }

  body(): string {
    const { message, code } = this;
    return JSON.stringify({ error: { message, type: refusals[code].type, param: null, code } });
  }
}
