/** A load generator on raw sockets: closed loop, or open loop with latencies counted from each request's due time. */

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { LoadTask, OwnResult } from './load.ts';

/** How long after the last second answers may still arrive. */
const graceMs = 5_000;

const task: LoadTask = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const rest = readFileSync(task.restFile);
/** Short requests are written as one string. */
const restText = rest.length < 16_384 ? rest.toString('latin1') : undefined;
let number = task.firstCounter;
/** One above the last that may be sent. */
const endNumber = 'requests' in task.length ? number + task.length.requests : Number.POSITIVE_INFINITY;

const latenciesUs: number[] = [];
const errors = { connect: 0, read: 0, status: 0, timeout: 0, unsent: 0 };
let receivedBytes = 0;
let inFlight = 0;
let stopped = false;
let finished = false;
const idle: Connection[] = [];
const due: number[] = [];
const startMs = performance.now();
let lastAnswerMs = startMs;

/** Finds the end of each answer, and reads no more of it than that takes. */
class Connection {
  readonly #socket: Socket;
  #dueMs = 0;
  #busy = false;
  #connected = false;
  #held: Buffer | undefined;
  #chunked = false;
  #bodyLeft = -1;

  constructor() {
    this.#socket = connect({ port: task.port, host: '127.0.0.1', noDelay: true });
    this.#socket.once('connect', () => {
      this.#connected = true;
      this.#rest();
    });
    this.#socket.on('data', (bytes: Buffer) => {
      receivedBytes += bytes.length;
      // A server that timed out waiting for a request reports it before it closes: no request was sent.
      if (!this.#busy) return;
      this.#take(this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]));
    });
    this.#socket.on('error', () => undefined); // counted at 'close'
    this.#socket.on('close', () => this.#replace());
  }

  send(dueMs: number): void {
    this.#dueMs = dueMs;
    this.#busy = true;
    this.#bodyLeft = -1;
    inFlight += 1;
    const opening = `${task.openings[number % task.openings.length]}${number}`;
    number += 1;
    if (number === endNumber) stopped = true;
    if (restText !== undefined) {
      this.#socket.write(opening + restText, 'latin1');
      return;
    }
    this.#socket.cork();
    this.#socket.write(opening, 'latin1');
    this.#socket.write(rest);
    this.#socket.uncork();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#held = undefined;
    let rest = bytes;
    if (this.#bodyLeft === -1) {
      const end = rest.indexOf('\r\n\r\n');
      if (end === -1) {
        this.#held = rest;
        return;
      }
      const head = rest.toString('latin1', 0, end);
      if (!head.startsWith('HTTP/1.1 2')) errors.status += 1;
      this.#chunked = /\r\ntransfer-encoding: *chunked/i.test(head);
      this.#bodyLeft = this.#chunked ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      rest = rest.subarray(end + 4);
    }
    const ended = this.#chunked ? this.#skipChunks(rest) : this.#skip(rest);
    if (ended) this.#answered();
  }

  #skip(bytes: Buffer): boolean {
    this.#bodyLeft -= bytes.length;
    return this.#bodyLeft <= 0;
  }

  /** `#bodyLeft` is what is left of the current chunk with its line end. */
  #skipChunks(bytes: Buffer): boolean {
    let at = Math.min(this.#bodyLeft, bytes.length);
    this.#bodyLeft -= at;
    while (at < bytes.length) {
      const end = bytes.indexOf('\r\n', at);
      const size = end === -1 ? -1 : Number.parseInt(bytes.toString('latin1', at, end), 16);
      if (end === -1 || (size === 0 && bytes.length < end + 4)) {
        this.#held = bytes.subarray(at);
        return false;
      }
      if (size === 0) return true;
      const next = end + 2 + size + 2;
      this.#bodyLeft = Math.max(0, next - bytes.length);
      at = Math.min(next, bytes.length);
    }
    return false;
  }

  #answered(): void {
    lastAnswerMs = performance.now();
    latenciesUs.push((lastAnswerMs - this.#dueMs) * 1_000);
    inFlight -= 1;
    this.#busy = false;
    this.#rest();
  }

  #rest(): void {
    // What was due before the end is sent after it, too: it is late, not gone.
    const dueMs = task.rate === undefined && !stopped ? performance.now() : due.shift();
    if (dueMs !== undefined) this.send(dueMs);
    else if (stopped) finishIfQuiet();
    else idle.push(this);
  }

  #replace(): void {
    connections.delete(this);
    const at = idle.indexOf(this);
    if (at !== -1) idle.splice(at, 1);
    if (!this.#connected) errors.connect += 1;
    if (this.#busy) {
      inFlight -= 1;
      errors.read += 1;
    }
    if (stopped) finishIfQuiet();
    else setTimeout(open, 10); // a server that refuses must not turn the loop into a storm
  }
}

const connections = new Set<Connection>();

function open(): void {
  if (!stopped) connections.add(new Connection());
}

/** Answers later than this still have a latency: due requests wait in line. */
function openLoop(rate: number): NodeJS.Timeout {
  let sent = 0;
  return setInterval(() => {
    const owed = Math.floor(((performance.now() - startMs) / 1_000) * rate);
    for (; sent < owed; sent += 1) {
      const dueMs = startMs + ((sent + 1) / rate) * 1_000; // the first is owed when its interval is over
      const connection = idle.pop();
      if (connection === undefined) due.push(dueMs);
      else connection.send(dueMs);
    }
  }, 1);
}

for (let count = 0; count < task.connections; count += 1) open();
const ticking = task.rate === undefined ? undefined : openLoop(task.rate);
if ('seconds' in task.length) setTimeout(stop, task.length.seconds * 1_000);

function stop(): void {
  stopped = true;
  clearInterval(ticking);
  finishIfQuiet();
  setTimeout(() => {
    errors.timeout += inFlight;
    finish();
  }, graceMs);
}

function finishIfQuiet(): void {
  if (inFlight === 0) finish();
}

function finish(): void {
  if (finished) return;
  finished = true;
  errors.unsent = due.length;
  latenciesUs.sort((a, b) => a - b);
  const at = (share: number): number => latenciesUs[Math.floor(latenciesUs.length * share)] ?? 0;
  const result: OwnResult = {
    requests: latenciesUs.length,
    seconds: (lastAnswerMs - startMs) / 1_000,
    bytes: receivedBytes,
    p50Us: at(0.5),
    p99Us: at(0.99),
    p999Us: at(0.999),
    longestUs: latenciesUs.at(-1) ?? 0,
    errors,
  };
  // Synchronous on a pipe, so that nothing is lost by leaving at once.
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}
