/** One connection of a raw client: bytes are sent unchanged, and received ones kept and parsed as responses. */

import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { patientMs } from '../time/patience.ts';
import {
  createMessageReader,
  type Framing,
  type HeaderField,
  headerValue,
  type MessageHead,
  nowMs,
  parseFraming,
  WireError,
} from './http-message.ts';

interface InformationalResponse {
  readonly status: number;
  readonly statusLine: string;
  readonly headers: readonly HeaderField[];
}

export interface RawResponse {
  /** Empty, and `status` 0, where no head came. */
  readonly statusLine: string;
  readonly status: number;
  /** In the order and case they came. */
  readonly headers: readonly HeaderField[];
  /** All values of a field, joined; undefined where it is absent. */
  header(name: string): string | undefined;
  /** Without the framing, content coding untouched. */
  readonly body: Buffer;
  /** The body as UTF-8 JSON; throws where it is none. */
  json(): unknown;
  /** Everything that the connection had sent when the response was handed over. */
  readonly rawBytes: Buffer;
  readonly trailers: readonly HeaderField[];
  readonly informational: readonly InformationalResponse[];
  /** False where the connection ended, or the time was up, before the framing's own end. */
  readonly complete: boolean;
  /** How the connection stood when the response was handed over. */
  readonly closed: 'fin' | 'reset' | 'open';
  /** The body, in the pieces it arrived in. */
  readonly chunks: readonly { readonly bytes: Buffer; readonly atMs: number }[];
}

export interface ConnectOptions {
  readonly host?: string;
  /** The path of a local socket, in place of host and port. */
  readonly socketPath?: string;
  /** From which the connection comes: any of 127.0.0.0/8 is this machine. */
  readonly localAddress?: string;
  readonly tls?: ConnectionOptions;
  /** For each thing waited for; a response that is not whole by then is handed over as far as it came. */
  readonly timeoutMs?: number;
  /** The method of the requests: an answer to HEAD has no body, whatever its fields are. */
  readonly method?: string;
}

export interface RawConnection {
  /** Resolves when the kernel has the bytes, or at once where the connection is broken. */
  write(bytes: Buffer | string): Promise<void>;
  /** The next response in order, complete or as far as it came. */
  nextResponse(): Promise<RawResponse>;
  /** Resolves when the text has arrived anywhere in what the server sent; fails when it will not or has not in time. */
  sees(text: string): Promise<void>;
  /** Everything the server sent so far. */
  received(): Buffer;
  /** The end of the connection, or `open` where it did not come in time. */
  closed(): Promise<'fin' | 'reset' | 'open'>;
  /** A client that does not read. */
  pause(): void;
  resume(): void;
  /** Sends FIN; the answer can still be read. */
  finish(): void;
  /** Sends RST. */
  reset(): void;
  destroy(): void;
}

export async function connect(port: number, options: ConnectOptions = {}): Promise<RawConnection> {
  const { host = '127.0.0.1', localAddress, timeoutMs = patientMs(2_500), method } = options;
  const { socketPath } = options;
  const tcp =
    socketPath === undefined
      ? connectTcp({ host, port, noDelay: true, ...(localAddress === undefined ? {} : { localAddress }) })
      : connectTcp({ path: socketPath });
  const stream = options.tls === undefined ? tcp : connectTls({ ...options.tls, socket: tcp });
  if (stream !== tcp) tcp.on('error', (error) => stream.destroy(error));

  const arrivals: Buffer[] = [];
  const whole: ResponseDraft[] = [];
  const changed = createSignal();
  let draft = new ResponseDraft();
  let state: 'open' | 'fin' | 'reset' = 'open';
  let destroyed = false;
  let fault: WireError | undefined;

  const reader = createMessageReader({
    onHead(head) {
      const status = parseStatus(head);
      draft.begin(status, head);
      return responseFraming(status, head, method);
    },
    onBody(bytes) {
      draft.chunks.push({ bytes, atMs: nowMs() });
    },
    onComplete(trailers) {
      if (draft.status === 0) return; // informational: the response proper is still to come
      draft.trailers = trailers;
      draft.complete = true;
      whole.push(draft);
      draft = new ResponseDraft();
    },
  });

  stream.on('data', (bytes: Buffer) => {
    arrivals.push(bytes);
    try {
      if (fault === undefined) reader.push(bytes);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      fault = error;
    }
    changed.fire();
  });
  stream.on('end', () => {
    state = 'fin';
    if (fault === undefined) reader.end();
    changed.fire();
  });
  stream.on('close', () => {
    if (state === 'open' && !destroyed) state = 'reset';
    changed.fire();
  });
  await established(stream, stream !== tcp);
  // From here on an error is the server breaking the connection; 'close' follows and records it.
  stream.on('error', () => undefined);

  /** False where the time is up first. */
  async function until(condition: () => boolean): Promise<boolean> {
    const deadline = new AbortController();
    const timeout = wait(timeoutMs, false, { signal: deadline.signal }).catch(() => false);
    try {
      while (!condition()) {
        if ((await Promise.race([changed.next(), timeout])) === false) return condition();
      }
      return true;
    } finally {
      deadline.abort();
    }
  }

  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (!stream.writable) return resolve();
        stream.write(bytes, () => resolve());
      }),
    async nextResponse() {
      await until(() => whole.length > 0 || state !== 'open' || fault !== undefined);
      // A whole response that came before malformed bytes is handed over first; they fail the call after it.
      if (fault !== undefined && whole.length === 0) throw describe(fault, arrivals);
      // FIN often comes with the last bytes: let it be seen before the state is reported.
      await new Promise((resolve) => setImmediate(resolve));
      const response = whole.shift() ?? draft;
      if (response === draft) draft = new ResponseDraft();
      response.closed = state;
      response.rawBytes = Buffer.concat(arrivals);
      return response;
    },
    async sees(text) {
      const arrived = (): boolean => Buffer.concat(arrivals).includes(text);
      await until(() => arrived() || state !== 'open');
      if (!arrived()) throw new Error(`${JSON.stringify(text)} did not come; the connection is ${state}`);
    },
    received: () => Buffer.concat(arrivals),
    async closed() {
      await until(() => state !== 'open');
      return state;
    },
    pause: () => {
      stream.pause();
    },
    resume: () => {
      stream.resume();
    },
    finish: () => {
      stream.end();
    },
    reset: () => {
      destroyed = true;
      tcp.resetAndDestroy();
    },
    destroy: () => {
      destroyed = true;
      stream.destroy();
    },
  };
}

class ResponseDraft implements RawResponse {
  statusLine = '';
  status = 0;
  headers: readonly HeaderField[] = [];
  trailers: readonly HeaderField[] = [];
  rawBytes: Buffer = Buffer.alloc(0);
  complete = false;
  closed: 'fin' | 'reset' | 'open' = 'open';
  readonly informational: InformationalResponse[] = [];
  readonly chunks: { readonly bytes: Buffer; readonly atMs: number }[] = [];

  begin(status: number, { startLine, headers }: MessageHead): void {
    if (isInformational(status)) {
      this.informational.push({ status, statusLine: startLine, headers });
      return;
    }
    this.status = status;
    this.statusLine = startLine;
    this.headers = headers;
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks.map(({ bytes }) => bytes));
  }

  header(name: string): string | undefined {
    return headerValue(this.headers, name);
  }

  json(): unknown {
    return JSON.parse(this.body.toString('utf8'));
  }
}

function parseStatus(head: MessageHead): number {
  const status = /^HTTP\/1\.1 ([1-5][0-9]{2}) /.exec(head.startLine)?.[1];
  if (status === undefined) throw new WireError(`a status line of ${JSON.stringify(head.startLine)}`);
  return Number(status);
}

const isInformational = (status: number): boolean => status < 200 && status !== 101;

function responseFraming(status: number, head: MessageHead, method: string | undefined): Framing {
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { kind: 'none' };
  return parseFraming(head.headers) ?? { kind: 'until-close' };
}

function established(stream: Socket, secure: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.once(secure ? 'secureConnect' : 'connect', () => {
      stream.off('error', reject);
      resolve();
    });
  });
}

/** Resolves all waits for the next change. */
function createSignal(): { fire(): void; next(): Promise<void> } {
  let wake: () => void = () => undefined;
  let next = new Promise<void>((resolve) => {
    wake = resolve;
  });
  return {
    fire() {
      const woken = wake;
      next = new Promise((resolve) => {
        wake = resolve;
      });
      woken();
    },
    next: () => next,
  };
}

function describe(fault: WireError, arrivals: readonly Buffer[]): WireError {
  const start = Buffer.concat(arrivals).toString('latin1').slice(0, 400);
  return new WireError(`the server sent ${fault.message}; all it sent begins: ${JSON.stringify(start)}`);
}
