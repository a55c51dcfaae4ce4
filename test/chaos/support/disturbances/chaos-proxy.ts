/** A TCP proxy on loopback that cuts, resets, stalls, throttles and delays, at any byte and in either direction. */

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** What happens to the bytes of one direction; with nothing said, they pass. */
interface Flow {
  /**
   * The end, at once or after `afterBytes`: `cut` is FIN and `reset` is RST, to both sides; with `stall` nothing more passes, and both sides stay
   * open.
   */
  readonly ends?: 'cut' | 'reset' | 'stall';
  /** So many bytes of this direction pass first, since the connection began; 0 waits for the first, and lets none pass. */
  readonly afterBytes?: number;
  readonly bytesPerSecond?: number;
  /** Every byte arrives so much later. */
  readonly delayMs?: number;
}

interface Conduct {
  readonly toServer?: Flow;
  readonly toClient?: Flow;
}

/** One for all connections, or one for each by its number; the first is 1. */
export type ProxyScript = Conduct | ((connectionNo: number) => Conduct);

export interface ChaosProxy {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** From now on, for connections still to come; with `open: true` also for those that are there. */
  behave(script: ProxyScript, options?: { readonly open?: boolean }): void;
  /** Breaks what is open and refuses what comes. */
  goDown(): Promise<void>;
  /** Takes connections again, on the same port. */
  comeUp(): Promise<void>;
  connections(): { readonly open: number; readonly accepted: number };
  /** Bytes handed on, all connections together. */
  passed(): { readonly toServer: number; readonly toClient: number };
}

/** What the slower side has not taken; the faster one is held up beyond it. */
const heldLimitBytes = 256 * 1024;
/** A throttled direction passes this often. */
const throttleIntervalMs = 10;

/** Passes everything on until it is changed; ends with the test. */
export async function startChaosProxy(
  t: TestContext,
  targetPort: number,
  script: ProxyScript = {},
): Promise<ChaosProxy> {
  const pairs = new Set<ProxiedConnection>();
  const passed = { toServer: 0, toClient: 0 };
  let current = script;
  let accepted = 0;

  const conductOf = (no: number): Conduct => (typeof current === 'function' ? current(no) : current);
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    accepted += 1;
    const pair = new ProxiedConnection(accepted, client, targetPort, passed);
    pairs.add(pair);
    void pair.ended.then(() => pairs.delete(pair));
    pair.behave(conductOf(pair.no));
  });
  const port = await listenOn(server, 0);

  async function goDown(): Promise<void> {
    const closed = server.listening ? new Promise((resolve) => server.close(resolve)) : undefined;
    for (const pair of pairs) pair.break('reset');
    await closed;
  }
  t.after(goDown);

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    behave(next, { open = false } = {}) {
      current = next;
      if (open) for (const pair of pairs) pair.behave(conductOf(pair.no));
    },
    goDown,
    async comeUp() {
      if (!server.listening) await listenOn(server, port);
    },
    connections: () => ({ open: pairs.size, accepted }),
    passed: () => ({ ...passed }),
  };
}

async function listenOn(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return address.port;
}

type Passed = { toServer: number; toClient: number };

class ProxiedConnection {
  readonly no: number;
  readonly ended: Promise<void>;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #toServer: Direction;
  readonly #toClient: Direction;

  constructor(no: number, client: Socket, targetPort: number, passed: Passed) {
    this.no = no;
    this.#client = client;
    this.#server = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const end = (how: 'cut' | 'reset'): void => this.break(how);
    this.#toServer = new Direction(client, this.#server, end, (bytes) => {
      passed.toServer += bytes;
    });
    this.#toClient = new Direction(this.#server, client, end, (bytes) => {
      passed.toClient += bytes;
    });
    for (const socket of [client, this.#server]) {
      // A side that breaks breaks the other; one that ends in order has ended its direction already.
      socket.on('error', () => this.break('reset'));
      socket.on('close', (failed) => {
        if (failed) this.break('reset');
      });
    }
    this.ended = Promise.all([client, this.#server].map(closed)).then(() => undefined);
  }

  behave({ toServer = {}, toClient = {} }: Conduct): void {
    this.#toServer.behave(toServer);
    this.#toClient.behave(toClient);
  }

  break(how: 'cut' | 'reset'): void {
    this.#toServer.stop();
    this.#toClient.stop();
    for (const socket of [this.#client, this.#server]) {
      if (how === 'reset') socket.resetAndDestroy();
      else socket.destroySoon();
    }
  }
}

/** Passes one side's bytes to the other, as its flow is configured. */
class Direction {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #break: (how: 'cut' | 'reset') => void;
  readonly #count: (bytes: number) => void;
  readonly #held: { bytes: Buffer; readonly arrivedMs: number }[] = [];
  #heldBytes = 0;
  #passedBytes = 0;
  #flow: Flow = {};
  #timer: NodeJS.Timeout | undefined;
  #nextPassMs = 0;
  #waitsForDrain = false;
  #fromEnded = false;
  #stopped = false;

  constructor(from: Socket, to: Socket, breakBoth: (how: 'cut' | 'reset') => void, count: (bytes: number) => void) {
    this.#from = from;
    this.#to = to;
    this.#break = breakBoth;
    this.#count = count;
    from.on('data', (bytes: Buffer) => {
      this.#held.push({ bytes, arrivedMs: performance.now() });
      this.#heldBytes += bytes.length;
      if (this.#heldBytes > heldLimitBytes) from.pause();
      this.#pump();
    });
    from.on('end', () => {
      this.#fromEnded = true;
      this.#pump();
    });
    to.on('end', () => this.#pump());
    to.on('drain', () => {
      this.#waitsForDrain = false;
      this.#pump();
    });
  }

  behave(flow: Flow): void {
    this.#flow = flow;
    this.#pump();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #pump(): void {
    clearTimeout(this.#timer);
    while (!this.#stopped && !this.#waitsForDrain) {
      const [first] = this.#held;
      const { ends, afterBytes } = this.#flow;
      const left = ends === undefined ? Number.POSITIVE_INFINITY : (afterBytes ?? 0) - this.#passedBytes;
      const isDue = afterBytes !== 0 || first !== undefined || this.#fromEnded;
      if (left <= 0 && isDue) {
        if (ends === 'cut' || ends === 'reset') this.#break(ends);
        else if (this.#fromEnded && this.#to.readableEnded) this.#break('cut');
        return;
      }
      if (first === undefined) {
        if (this.#fromEnded) this.#to.end();
        return;
      }
      const waitMs = Math.max(first.arrivedMs + (this.#flow.delayMs ?? 0), this.#nextPassMs) - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#pump(), waitMs);
        return;
      }
      this.#pass(first, left);
    }
  }

  #pass(first: { bytes: Buffer }, left: number): void {
    const { bytesPerSecond } = this.#flow;
    const share =
      bytesPerSecond === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(1, Math.floor((bytesPerSecond * throttleIntervalMs) / 1000));
    const piece = first.bytes.subarray(0, Math.min(left, share));
    if (piece.length === first.bytes.length) this.#held.shift();
    else first.bytes = first.bytes.subarray(piece.length);
    this.#heldBytes -= piece.length;
    this.#passedBytes += piece.length;
    this.#count(piece.length);
    if (bytesPerSecond !== undefined) this.#nextPassMs = performance.now() + (piece.length / bytesPerSecond) * 1000;
    if (!this.#to.write(piece)) this.#waitsForDrain = true;
    if (this.#heldBytes <= heldLimitBytes && this.#from.isPaused()) this.#from.resume();
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}
