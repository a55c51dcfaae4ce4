/** Opens connections: TCP or Unix socket, optionally with TLS, within a timeout. */

import { Buffer } from 'node:buffer';
import { isIP, type LookupFunction, type OnReadOpts, connect as openTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as openTls, type TLSSocket } from 'node:tls';
import { BrokenConnectionError, ConnectTimeoutError } from './client-errors.ts';

export interface ServerAddress {
  readonly secure: boolean;
  /** A name or an address, without brackets; with `path`, the name that the certificate must have. */
  readonly host: string;
  readonly port: number;
  /** The address to connect to, instead of resolving `host`; the certificate must have the name of `host`. */
  readonly address?: string | undefined;
  /** The path of a local socket, which replaces host and port. */
  readonly path?: string | undefined;
}

export type ConnectDone = (result: Socket | Error) => void;

/** Opens a connection. `done` is called once, and never before this function has returned. */
export type Connector = (server: ServerAddress, done: ConnectDone) => void;

export interface TcpOptions {
  readonly autoSelectFamily?: boolean;
  readonly autoSelectFamilyAttemptTimeout?: number;
  readonly keepAlive?: boolean;
  readonly keepAliveInitialDelay?: number;
  readonly noDelay?: boolean;
  readonly lookup?: LookupFunction;
}

export type TlsOptions = Pick<
  ConnectionOptions,
  'secureContext' | 'ca' | 'allowPartialTrustChain' | 'servername' | 'minVersion' | 'checkServerIdentity'
>;

export function toServerAddress(origin: string): ServerAddress {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { secure, host, port: port === '' ? (secure ? 443 : 80) : Number(port) };
}

export function nameOf({ host, port, address = host, path }: ServerAddress): string {
  if (path !== undefined) return path;
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Opens a connection without TLS, which may be added later. */
export function openPlain({ host, port, address = host, path, secure }: ServerAddress, tcp: TcpOptions): Socket {
  const where = path === undefined ? { ...tcp, host: address, port } : { path };
  if (secure) return openTcp(where);
  const onread = new Reads();
  const socket = openTcp({ ...where, onread });
  onread.socket = socket;
  return socket;
}

const shortBytes = 64 * 1024;
const longBytes = 256 * 1024;
/** After a shorter read, the socket reads into the shared buffer again. Pieces of at least this length can be given back. */
export const reusedBytes = 16 * 1024;
/** The buffer for short reads; they are copied out of it before the next read. */
const shared = Buffer.allocUnsafeSlow(shortBytes);
/** Free buffers for the next reads. V8 would look through its whole heap after some hundred new long buffers. */
const spareShort: Buffer[] = [];
const spareLong: Buffer[] = [];
const mostSpare = 64;
/** Number of short buffers that were lent and not given back; above a limit, pieces are copied instead. */
let shortLent = 0;
const mostShortLent = 256;
/** Interval at which the spare buffers are dropped, so that none stays once there are no long answers any more. */
const forgetAfterMs = 10_000;
let isForgetDue = false;
/** Pieces that may be given back, once each. */
const lent = new WeakSet<Buffer>();

/** Gives back a piece that nothing refers to any more, not even in part: the next read overwrites it. Other buffers are ignored. */
export function giveBack(piece: Buffer): void {
  if (!lent.delete(piece)) return;
  const buffer = Buffer.from(piece.buffer);
  if (buffer.length === shortBytes) shortLent -= 1;
  keep(buffer);
}

/** Replaces a lent piece by a part of it; nothing refers to the remainder any more. */
export function narrow(piece: Buffer, part: Buffer): void {
  if (part.length >= reusedBytes && lent.delete(piece)) lent.add(part);
}

const spareOf = (bytes: number): Buffer[] => (bytes === shortBytes ? spareShort : spareLong);

function keep(buffer: Buffer): void {
  const list = spareOf(buffer.length);
  if (list.length < mostSpare) list.push(buffer);
  forgetLater();
}

function forgetLater(): void {
  if (isForgetDue) return;
  isForgetDue = true;
  setTimeout(forget, forgetAfterMs).unref();
}

function forget(): void {
  spareShort.length = 0;
  spareLong.length = 0;
  shortLent = 0;
  isForgetDue = false;
}

const take = (bytes: number): Buffer => spareOf(bytes).pop() ?? Buffer.allocUnsafeSlow(bytes);

/**
 * The buffer that a socket reads into. Node would allocate 64 KiB for each piece and shrink it, which costs more than copying a short piece. After a
 * longer piece the socket gets a buffer of its own, whose pieces are passed on without a copy; while they fill it, it is 256 KiB long. The socket
 * needs a listener for data as soon as it is connected.
 */
class Reads implements OnReadOpts {
  socket: Socket | undefined = undefined;
  #buffer: Buffer = shared;
  /** Whether the reader released the last piece at once. If not, short pieces are copied, as each would keep a long buffer in memory. */
  #comesBack = false;

  readonly buffer = (): Buffer => this.#buffer;

  readonly callback = (bytes: number): boolean => {
    const buffer = this.#buffer;
    if (buffer !== shared && bytes >= reusedBytes && this.#mayLend(bytes)) {
      this.#lend(buffer.subarray(0, bytes));
      return true;
    }
    const piece = Buffer.allocUnsafe(bytes);
    buffer.copy(piece, 0, 0, bytes);
    if (bytes < reusedBytes) {
      if (buffer !== shared) keep(buffer);
      this.#buffer = shared;
    } else if (buffer === shared) this.#buffer = take(bytes === shortBytes ? longBytes : shortBytes);
    this.socket?.emit('data', piece);
    return true;
  };

  #mayLend(bytes: number): boolean {
    if (this.#buffer.length === shortBytes) return shortLent < mostShortLent;
    return this.#comesBack || bytes > longBytes / 2;
  }

  #lend(piece: Buffer): void {
    const { length } = this.#buffer;
    if (length === shortBytes) {
      shortLent += 1;
      forgetLater();
    }
    lent.add(piece);
    this.socket?.emit('data', piece);
    this.#comesBack = !lent.has(piece);
    // Mostly this takes the same buffer again.
    this.#buffer = take(piece.length === shortBytes ? longBytes : length);
  }
}

/** TLS to servers that these options trust. One session is kept, and resumed for the next connection to the same server. */
export class TlsClient {
  readonly #options: TlsOptions;
  #sessionOf = '';
  #session: Buffer | undefined = undefined;

  constructor(options: TlsOptions) {
    this.#options = options;
  }

  open(server: ServerAddress, tcp: TcpOptions): TLSSocket {
    const { host, port, path } = server;
    return this.#open(server, path === undefined ? { ...tcp, host, port } : { path, host });
  }

  over(server: ServerAddress, socket: Socket): TLSSocket {
    return this.#open(server, { socket, host: server.host });
  }

  #open(server: ServerAddress, where: ConnectionOptions): TLSSocket {
    const name = nameOf(server);
    const socket = openTls({
      ...where,
      // TLS cannot ask for an address; the certificate is checked against it all the same.
      ...(isIP(server.host) === 0 && { servername: server.host }),
      ...this.#options,
      ...(this.#session !== undefined && this.#sessionOf === name && { session: this.#session }),
      ALPNProtocols: ['http/1.1'],
      // The platform would read NODE_TLS_REJECT_UNAUTHORIZED, and send credentials to any server.
      rejectUnauthorized: true,
    });
    socket.on('session', (session) => {
      this.#sessionOf = name;
      this.#session = session;
    });
    return socket;
  }
}

export interface Patience {
  /** Remaining time; 0: no limit. */
  readonly leftMs: number;
  /** The whole time, for messages; `leftMs` is what remains of it. */
  readonly timeoutMs: number;
}

/** Waits until the socket can be used. If that fails, the socket is destroyed. */
export function whenReady(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  { leftMs, timeoutMs }: Patience,
  server: ServerAddress,
  done: ConnectDone,
): void {
  let timer: NodeJS.Timeout | undefined;
  const finish = (failure: Error | undefined): void => {
    clearTimeout(timer);
    socket.off(event, onReady);
    socket.off('close', onClose);
    if (failure === undefined) {
      socket.off('error', finish);
      done(socket);
      return;
    }
    // Errors of the socket that come later are ignored.
    socket.off('error', finish).on('error', ignore).destroy();
    done(failure);
  };
  const onReady = (): void => finish(undefined);
  const onClose = (): void => finish(new BrokenConnectionError(`${nameOf(server)} closed the connection as it began`));
  if (leftMs > 0) timer = setTimeout(() => finish(connectTimeout(nameOf(server), timeoutMs)), leftMs);
  socket.on('error', finish).on('close', onClose).on(event, onReady);
}

function ignore(): void {}

/** Begins TLS on an open connection, and waits until it can be used. */
export function whenSecure(
  tls: TlsClient,
  socket: Socket,
  patience: Patience,
  server: ServerAddress,
  done: ConnectDone,
): void {
  socket.on('error', ignore);
  whenReady(tls.over(server, socket), 'secureConnect', patience, server, (result) => {
    if (result instanceof Error) socket.destroy();
    done(result);
  });
}

export function connectTimeout(where: string, timeoutMs: number): ConnectTimeoutError {
  return new ConnectTimeoutError(`no connection to ${where} within ${timeoutMs} ms`);
}

interface ConnectorOptions {
  readonly tcp: TcpOptions;
  /** TLS for origins that use it; created by `new TlsClient`. */
  readonly tls: TlsClient;
  /** Limit of the time from the look-up of the name to the end of the TLS handshake. */
  readonly timeoutMs: number;
}

export function createDirectConnector({ tcp, tls, timeoutMs }: ConnectorOptions): Connector {
  return (server, done) => {
    const socket = server.secure ? tls.open(server, tcp) : openPlain(server, tcp);
    whenReady(socket, server.secure ? 'secureConnect' : 'connect', { leftMs: timeoutMs, timeoutMs }, server, done);
  };
}
