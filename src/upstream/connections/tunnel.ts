/** Opens connections through an HTTP proxy with CONNECT. */

import { Buffer } from 'node:buffer';
import { isIP, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';
import {
  type ConnectDone,
  type Connector,
  connectTimeout,
  nameOf,
  type ServerAddress,
  type TcpOptions,
  type TlsClient,
  whenSecure,
} from '../../wire/connect.ts';
import type { ConnectionWatch } from './guarded-connector.ts';
import type { ProxyAddress } from './proxy-rule.ts';

interface TunnelSettings {
  readonly proxy: ProxyAddress;
  readonly tcp: TcpOptions;
  /** Timeout of everything up to the usable connection: connecting to the proxy, its answer, TLS with the origin. */
  readonly timeoutMs: number;
  readonly tls: TlsClient;
  readonly check?: ((hostname: string) => void) | undefined;
  readonly watch?: ConnectionWatch | undefined;
}

const headLimitBytes = 16 * 1024;
const headEnd = Buffer.from('\r\n\r\n');

class TunnelError extends Error {
  override readonly name = 'TunnelError';
  readonly code = 'ERR_PROXY_TUNNEL';
}

/** Creates the connector. Origins without TLS are tunnelled too: with absolute URLs the proxy could answer for the upstream or buffer streams. */
export function createTunnelConnector(settings: TunnelSettings): Connector {
  return (server, done) => new Tunnel(settings, server, done).open();
}

class Tunnel {
  readonly #settings: TunnelSettings;
  readonly #server: ServerAddress;
  readonly #proxyName: string;
  #done: ConnectDone | undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #socket: Socket | undefined = undefined;
  #head: Buffer = Buffer.alloc(0);

  constructor(settings: TunnelSettings, server: ServerAddress, done: ConnectDone) {
    this.#settings = settings;
    this.#server = server;
    this.#done = done;
    this.#proxyName = toAuthority(settings.proxy.hostname, settings.proxy.port);
  }

  open(): void {
    const { proxy, tcp, timeoutMs, check } = this.#settings;
    try {
      check?.(this.#server.host);
    } catch (error) {
      const refused = error instanceof Error ? error : new Error(String(error));
      queueMicrotask(() => this.#finish(refused));
      return;
    }
    this.#timer = setTimeout(() => this.#expire(), timeoutMs);
    const address = { ...tcp, host: proxy.hostname, port: proxy.port };
    const socket = proxy.secure ? openTls({ ...address, ...proxyTls(proxy.hostname) }) : openTcp(address);
    this.#socket = socket;
    // Kept for the socket's lifetime, so that every error has a listener.
    socket.on('error', (error) => this.#fail(error.message, error));
    socket.on('close', () => this.#fail('it closed the connection'));
    socket.once(proxy.secure ? 'secureConnect' : 'connect', () => this.#ask(socket));
  }

  #ask(socket: Socket): void {
    const target = nameOf(this.#server);
    const { authorization } = this.#settings.proxy;
    const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, 'User-Agent: postern'];
    if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`);
    socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    const onReadable = (): void => {
      if (this.#readHead(socket)) {
        socket.off('readable', onReadable);
        this.#pass(socket);
      }
    };
    socket.on('readable', onReadable);
  }

  #readHead(socket: Socket): boolean {
    for (let bytes: unknown = socket.read(); Buffer.isBuffer(bytes); bytes = socket.read()) {
      this.#head = Buffer.concat([this.#head, bytes]);
    }
    const endsAt = this.#head.indexOf(headEnd);
    const headBytes = endsAt === -1 ? this.#head.length : endsAt + headEnd.length;
    if (headBytes > headLimitBytes) this.#fail('the head of its answer to CONNECT is over 16 KiB');
    else if (endsAt !== -1) this.#judge(this.#head.toString('latin1', 0, endsAt), this.#head.length - headBytes);
    return endsAt !== -1 && this.#done !== undefined;
  }

  #judge(head: string, moreBytes: number): void {
    const [, status] = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?(?:\r\n|$)/.exec(head) ?? [];
    if (status === undefined) this.#fail('it answered CONNECT with something that is not HTTP');
    else if (status !== '200') this.#fail(`it answered CONNECT with status ${status}`);
    // The client speaks first on every connection, so further bytes are invalid.
    else if (moreBytes > 0) this.#fail('it sent more than its answer to CONNECT');
  }

  #pass(socket: Socket): void {
    const { watch, tls, timeoutMs } = this.#settings;
    watch?.connected(this.#proxyName);
    if (!this.#server.secure) {
      this.#finish(socket);
      return;
    }
    // The same deadline continues.
    whenSecure(tls, socket, { leftMs: 0, timeoutMs }, this.#server, (result) => {
      if (!(result instanceof Error)) watch?.secured();
      this.#finish(result);
    });
  }

  #expire(): void {
    const { host } = this.#server;
    this.#finish(connectTimeout(`${host} through the proxy ${this.#proxyName}`, this.#settings.timeoutMs));
  }

  #fail(what: string, cause?: Error): void {
    this.#finish(new TunnelError(`no tunnel through the proxy ${this.#proxyName}: ${what}`, { cause }));
  }

  #finish(result: Socket | Error): void {
    const done = this.#done;
    if (done === undefined) {
      // The time was up during the TLS handshake.
      if (!(result instanceof Error)) result.destroy();
      return;
    }
    this.#done = undefined;
    clearTimeout(this.#timer);
    if (result instanceof Error) this.#socket?.destroy();
    done(result);
  }
}

function proxyTls(hostname: string) {
  return {
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    // TLS has no SNI for addresses; the certificate is checked against them all the same.
    ...(isIP(hostname) === 0 && { servername: hostname }),
  } as const;
}

function toAuthority(hostname: string, port: number): string {
  return isIP(hostname) === 6 ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}
