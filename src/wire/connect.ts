/** Opens connections: TCP or Unix socket, optionally with TLS, within a timeout. */

import { Buffer } from 'node:buffer';
import { isIP, type LookupFunction, type OnReadOpts, connect as openTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as openTls, type TLSSocket } from 'node:tls';
import { BrokenConnectionError, ConnectTimeoutError } from './client-errors.ts';

/** Where a connection leads. */
export interface ServerAddress {
  /** With TLS. */
  readonly secure: boolean;
  /** A name or an address, without brackets; with `path`, the name that the certificate must have. */
  readonly host: string;
  readonly port: number;
  /** The address to connect to, instead of resolving `host`; the certificate must have the name of `host`. */
  readonly address?: string | undefined;
  /** The path of a local socket, in place of host and port. */
  readonly path?: string | undefined;
}

export type ConnectDone = (result: Socket | Error) => void;

/** `done` is called once, and never before this has returned. */
export type Connector = (server: ServerAddress, done: ConnectDone) => void;

/** How every TCP connection is opened. */
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

/** `origin` is that of a URL. */
export function toServerAddress(origin: string): ServerAddress {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { secure, host, port: port === '' ? (secure ? 443 : 80) : Number(port) };
}

/** As it stands in a URL and in messages. */
export function nameOf({ host, port, address = host, path }: ServerAddress): string {
  if (path !== undefined) return path;
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}

/** TLS may follow on it. */
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
/** After a shorter read, the socket reads into the shared buffer again. Pieces from this length on may be given back. */
export const reusedBytes = 16 * 1024;
/** What is read into it is copied before anything else is read. */
const shared = Buffer.allocUnsafeSlow(shortBytes);
/** Buffers that nobody refers to, for the next read: V8 looks through its whole heap after some hundred new long ones. */
const spareShort: Buffer[] = [];
const spareLong: Buffer[] = [];
const mostSpare = 64;
/** Short ones that were lent and did not come back: with more of them, pieces are copied. */
let shortLent = 0;
const mostShortLent = 256;
/** All this is forgotten now and then, so that no spare buffer stays once there are no long answers any more. */
const forgetAfterMs = 10_000;
let isForgetDue = false;
/** Pieces that may be given back, each once. */
const lent = new WeakSet<Buffer>();

/** For a piece that nothing refers to any more, nor to a part of it: the next read overwrites it. Other buffers stay as they are. */
export function giveBack(piece: Buffer): void {
  if (!lent.delete(piece)) return;
  const buffer = Buffer.from(piece.buffer);
  if (buffer.length === shortBytes) shortLent -= 1;
  keep(buffer);
}

/** From now on the part stands for the piece, to the rest of which nothing refers any more. */
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
 * What a socket reads into. The platform would take 64 KiB for each piece and give back what was not filled, which costs more than to
 * copy a short piece. After a longer one the socket has a buffer of its own, and pieces leave as they are; while they fill it, they are
 * read in pieces of 256 KiB. Somebody has to listen for data as soon as the socket is connected.
 */
class Reads implements OnReadOpts {
  socket: Socket | undefined = undefined;
  #buffer: Buffer = shared;
  /** The last piece came back at once: a short piece does not keep a long buffer for long either. */
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
    // Mostly it is the same one.
    this.#buffer = take(piece.length === shortBytes ? longBytes : length);
  }
}

/** TLS with servers trusted by these options. One session is kept, and resumed where the next connection leads there too. */
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

  /** On a connection that is there. */
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

/** How long something may take. */
export interface Patience {
  /** 0: as long as it takes. */
  readonly leftMs: number;
  /** Of which that is left, for the message. */
  readonly timeoutMs: number;
}

/** Waits until the socket may be used. Where it fails, the socket is destroyed. */
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
    // Its later errors are ignored.
    socket.off('error', finish).on('error', ignore).destroy();
    done(failure);
  };
  const onReady = (): void => finish(undefined);
  const onClose = (): void => finish(new BrokenConnectionError(`${nameOf(server)} closed the connection as it began`));
  if (leftMs > 0) timer = setTimeout(() => finish(connectTimeout(nameOf(server), timeoutMs)), leftMs);
  socket.on('error', finish).on('close', onClose).on(event, onReady);
}

function ignore(): void {}

/** Makes TLS on a connection that is there. */
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
  /** Created by `new TlsClient` for origins with TLS. */
  readonly tls: TlsClient;
  /** From the lookup of the name to the end of the TLS handshake. */
  readonly timeoutMs: number;
}

export function createDirectConnector({ tcp, tls, timeoutMs }: ConnectorOptions): Connector {
  return (server, done) => {
    const socket = server.secure ? tls.open(server, tcp) : openPlain(server, tcp);
    whenReady(socket, server.secure ? 'secureConnect' : 'connect', { leftMs: timeoutMs, timeoutMs }, server, done);
  };
}
