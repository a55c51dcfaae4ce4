/** One connection to an upstream: how it is opened, what is known of it when it breaks, and how long it lives. */

import type { LookupFunction, Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { buildConnector, Client, type Dispatcher, errors } from 'undici';
import type { UpstreamTls } from '../core/snapshot.ts';
import type { AddressRule } from '../lib/address-rule.ts';
import { markStale } from './failures.ts';
import { type ConnectionWatch, checkLiteral, createGuardedConnector, guardedLookup } from './guarded-connector.ts';
import { readAnswersWhole } from './interim.ts';
import type { ProxyAddress } from './proxy-rule.ts';
import { createTunnelConnector, type TcpSettings } from './tunnel.ts';

interface ConnectionSettings {
  /** With TLS. */
  readonly secure: boolean;
  readonly connectMs: number;
  readonly tls: UpstreamTls | undefined;
  readonly proxy: ProxyAddress | undefined;
  /** For tests; the platform's where undefined. */
  readonly lookup: LookupFunction | undefined;
  /** Where connections may lead; anywhere where undefined. */
  readonly addresses?: AddressRule | undefined;
  readonly watch?: ConnectionWatch | undefined;
}

const anywhere: AddressRule = { id: 'anywhere', permits: () => true };

/** After so long the next address of the host is tried, if it has another: more than any healthy round trip takes. */
const attemptTimeoutMs = 500;

/** A completion may take minutes to its first byte; routers and balancers on the way forget a connection that says nothing. */
const probeAfterMs = 60_000;

export function createConnector(settings: ConnectionSettings): buildConnector.connector {
  const { secure, connectMs, tls, proxy, lookup, addresses, watch } = settings;
  const tcp: TcpSettings = {
    // Looked up anew for each connection, both families; the shares leave time for a third address.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.min(attemptTimeoutMs, Math.ceil(connectMs / 3)),
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
    noDelay: true,
    ...(lookup !== undefined && { lookup }),
  };
  const connector = (timeoutMs: number): buildConnector.connector =>
    buildConnector({
      ...tcp,
      ...(secure && toTlsOptions(tls)),
      timeout: timeoutMs,
      allowH2: false,
      // One origin, one session; another pool with other certificates must not resume it.
      maxCachedSessions: 1,
    });
  const connect = chooseConnector();

  function chooseConnector(): buildConnector.connector {
    if (proxy !== undefined) {
      // The proxy looks names up, and is the operator's; literal addresses are judged here.
      const check = addresses === undefined ? undefined : (hostname: string) => checkLiteral(addresses, hostname);
      return createTunnelConnector({ proxy, tcp, timeoutMs: connectMs, secure: connector(0), check, watch });
    }
    if (addresses === undefined && watch === undefined) return connector(connectMs);
    const rule = addresses ?? anywhere;
    const guarded = { ...tcp, lookup: guardedLookup(rule, lookup, watch) };
    const plain = buildConnector({ ...guarded, timeout: connectMs, allowH2: false });
    return createGuardedConnector({ rule, timeoutMs: connectMs, plain, secure: connector(0), watch });
  }

  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      // Beside an error the library says nothing, whatever its types say.
      if (socket) {
        tellBreaks(socket);
        readAnswersWhole(socket);
      }
      callback(...result);
    });
}

/**
 * A CA of the operator's own stands in place of the platform's list, not beside it: who names one wants no other to vouch for
 * this upstream. It may be an intermediate or the server's own certificate. Without one the platform's list is used, with
 * what NODE_EXTRA_CA_CERTS adds to it.
 */
function toTlsOptions(tls: UpstreamTls | undefined) {
  const { ca, cert, key, serverName } = tls ?? {};
  return {
    secureContext: createSecureContext({
      minVersion: 'TLSv1.2',
      ...(ca !== undefined && { ca, allowPartialTrustChain: true }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    }),
    ...(serverName !== undefined && { servername: serverName }),
    // The platform would look at NODE_TLS_REJECT_UNAUTHORIZED, and send credentials to whoever answers.
    rejectUnauthorized: true,
  };
}

/** Its listener is there before the library's, and changes what that one is told. */
function tellBreaks(socket: Socket): void {
  const write = socket.write.bind(socket);
  let bytesBeforeRequest = 0;
  // The client writes the head of a request as text, and nothing else.
  Object.assign(socket, {
    write(chunk: string | Uint8Array, encoding?: BufferEncoding, done?: (error?: Error | null) => void): boolean {
      if (typeof chunk === 'string') bytesBeforeRequest = socket.bytesRead;
      return write(chunk, encoding, done);
    },
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const served = bytesBeforeRequest > 0;
    if (served && socket.bytesRead === bytesBeforeRequest && wasClosedByPeer(error)) markStale(error);
    // The library takes a reset for the proper end of a body that ends with the connection, and half an answer would look
    // whole; and for the fault of a request that only waits for this idle connection, and was never sent. It goes by the
    // code; under this one it does neither.
    if (error.syscall !== undefined) error.code = 'UND_ERR_SOCKET';
  });
}

function wasClosedByPeer(error: NodeJS.ErrnoException): boolean {
  if (error instanceof errors.SocketError) return error.message === 'other side closed';
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}

/**
 * Opens a new connection once the old one has lived its time, so that a change in the DNS is followed: at once where nothing
 * runs on it, else before the next call. The pool has an option that does the same (`clientTtl`), but asks the clock for
 * every connection at every call: at 256 calls at a time, that doubled the cost of one.
 */
export class AgingClient extends Client {
  #socket: Socket | undefined = undefined;
  #hasAged = false;

  constructor(
    origin: URL,
    { connect, lifeMs, ...options }: Client.Options & { connect: buildConnector.connector; lifeMs: number },
  ) {
    const self: { client?: AgingClient } = {};
    super(origin, {
      ...options,
      connect(target, callback) {
        connect(target, (...result) => {
          const [, socket] = result;
          if (socket && self.client !== undefined) self.client.#adopt(socket, lifeMs);
          callback(...result);
        });
      },
    });
    self.client = this;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#hasAged) this.#closeIdle();
    return super.dispatch(options, handler);
  }

  #adopt(socket: Socket, lifeMs: number): void {
    this.#socket = socket;
    this.#hasAged = false;
    // Connections that were opened together are not all renewed together.
    const timer = setTimeout(() => this.#age(), lifeMs * (1 - Math.random() / 4)).unref();
    socket.once('close', () => clearTimeout(timer));
  }

  #age(): void {
    this.#hasAged = true;
    this.#closeIdle();
  }

  #closeIdle(): void {
    if (this.stats.size === 0) this.#socket?.destroy();
  }
}
