/** The thread that sends the load on raw reused connections, one request at a time each. */

import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from '../../../../src/lib/thrown.ts';
import {
  createMessageReader,
  type Framing,
  type MessageHead,
  type MessageReader,
  parseFraming,
} from '../../../support/clients/http-message.ts';
import { createRandom } from '../random.ts';
import { latencyOf } from '../readings/latency.ts';
import { counterIndex, type LoadMessage, type LoadReport, type LoadWorkerData } from './load.ts';

const { task, windowMs, counters }: LoadWorkerData = workerData;
const { port, pauseMs = 0, maxRequests = Number.POSITIVE_INFINITY, answerTimeoutMs = 10_000, abandon } = task;

const requests = task.requests.map((bytes) => Buffer.from(bytes));
const random = createRandom(abandon?.seed ?? 0);
const keptFailures = 20;
const shownBodyBytes = 300;
/** A server that refuses must not turn the loop into a storm. */
const reconnectPauseMs = 10;
const tickMs = 1;

const startedMs = performance.now();
const clients = new Set<Client>();
const idle = new Set<Client>();
const dueMs: number[] = [];
const latenciesMs: number[] = [];
const statuses: Record<string, number> = {};
const failures: string[] = [];
let sent = 0;
let due = 0;
let inFlight = 0;
let abandoned = 0;
let refused = 0;
let stopping = false;

class Client {
  readonly #socket: Socket;
  readonly #reader: MessageReader;
  #connected = false;
  #busy = false;
  #answersOnConnection = 0;
  #dueMs = 0;
  #sentMs = 0;
  #leaving: NodeJS.Timeout | undefined;
  #status = 0;
  #closes = false;
  #bodyStart: Buffer[] = [];
  #failure = '';

  constructor() {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#reader = createMessageReader({
      onHead: (head) => this.#readHead(head),
      onBody: (bytes) => {
        if (this.#status >= 300) this.#bodyStart.push(Buffer.from(bytes.subarray(0, shownBodyBytes)));
      },
      onComplete: () => this.#complete(),
    });
    this.#socket.once('connect', () => {
      this.#connected = true;
      this.#rest();
    });
    this.#socket.on('data', (bytes: Buffer) => this.#take(bytes));
    // An answer may last until the connection ends.
    this.#socket.on('end', () => this.#reader.end());
    this.#socket.on('error', (error) => this.#explain(error.message));
    this.#socket.on('close', () => this.#close());
  }

  send(requestDueMs: number): void {
    const bytes = requests[sent % requests.length];
    if (bytes === undefined) throw new Error('there is no request to send');
    sent += 1;
    inFlight += 1;
    this.#busy = true;
    this.#status = 0;
    this.#dueMs = requestDueMs;
    this.#sentMs = performance.now();
    this.#socket.write(bytes);
    if (abandon !== undefined && random() < abandon.share) {
      this.#leaving = setTimeout(() => this.#leave(), random() * abandon.withinMs);
    }
  }

  giveUpIfLate(nowMs: number): void {
    if (!this.#busy || nowMs - this.#sentMs < answerTimeoutMs) return;
    this.#explain(`no whole answer within ${answerTimeoutMs} ms`);
    this.#socket.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.#explain(`a malformed answer: ${reasonOf(error)}`);
      this.#socket.destroy();
    }
  }

  #readHead(head: MessageHead): Framing {
    this.#status = Number(head.startLine.split(' ', 2)[1]);
    this.#closes = head.headers.some(([name, value]) => /^connection$/i.test(name) && /^close$/i.test(value));
    if (this.#status < 200 || this.#status === 204 || this.#status === 304) return { kind: 'none' };
    return parseFraming(head.headers) ?? { kind: 'until-close' };
  }

  #complete(): void {
    if (this.#status < 200 || !this.#busy) return; // informational: the answer is still to come
    latenciesMs.push(performance.now() - this.#dueMs);
    statuses[this.#status] = (statuses[this.#status] ?? 0) + 1;
    Atomics.add(counters, counterIndex.answered, 1);
    if (this.#status >= 300) keepFailure(`${this.#status} ${Buffer.concat(this.#bodyStart).toString()}`);
    this.#bodyStart = [];
    this.#answersOnConnection += 1;
    this.#settle();
    if (this.#closes) this.#socket.end();
    else if (pauseMs > 0 && task.ratePerSecond === undefined) setTimeout(() => this.#rest(), pauseMs);
    else this.#rest();
  }

  #rest(): void {
    if (this.#socket.destroyed || !mayStillSend()) {
      finishIfQuiet();
      return;
    }
    const next = task.ratePerSecond === undefined ? performance.now() : dueMs.shift();
    if (next === undefined) idle.add(this);
    else this.send(next);
  }

  #leave(): void {
    abandoned += 1;
    this.#settle();
    this.#socket.destroy();
  }

  #explain(reason: string): void {
    this.#failure ||= reason;
  }

  #settle(): void {
    clearTimeout(this.#leaving);
    this.#busy = false;
    inFlight -= 1;
  }

  #close(): void {
    clients.delete(this);
    idle.delete(this);
    if (!this.#connected) {
      refused += 1;
      keepFailure(this.#failure || 'no connection');
    }
    if (this.#busy) {
      const seen = this.#status === 0 ? 'before an answer' : `in an answer of ${this.#status}`;
      keepFailure(
        `${this.#failure || 'closed'}, ${seen}, request ${this.#answersOnConnection + 1} on its connection, ` +
          `${Math.round(performance.now() - this.#sentMs)} ms after it was sent`,
      );
      this.#settle();
      Atomics.add(counters, counterIndex.broken, 1);
    }
    if (mayStillSend()) setTimeout(open, reconnectPauseMs);
    else finishIfQuiet();
  }
}

function mayStillSend(): boolean {
  return !stopping && sent < maxRequests;
}

function open(): void {
  if (mayStillSend()) clients.add(new Client());
}

function keepFailure(line: string): void {
  if (failures.length < keptFailures) failures.push(line);
}

/** What is late is sent as soon as a connection is free; its latency counts from when it was due. */
function sendWhatIsDue(ratePerSecond: number): void {
  const owed = Math.min(maxRequests, 1 + Math.floor(((performance.now() - startedMs) / 1000) * ratePerSecond));
  for (; due < owed; due += 1) {
    const requestDueMs = startedMs + (due / ratePerSecond) * 1000;
    const [client] = idle;
    if (client === undefined) {
      dueMs.push(requestDueMs);
      continue;
    }
    idle.delete(client);
    client.send(requestDueMs);
  }
}

function finishIfQuiet(): void {
  if (!mayStillSend() && inFlight === 0) finish();
}

function post(message: LoadMessage): void {
  parentPort?.postMessage(message);
}

let answeredBefore = 0;
let failedBefore = 0;
/** What came since it was last called. */
function reportWindow(): void {
  const answered = latenciesMs.length;
  const good = Object.entries(statuses).reduce(
    (sum, [status, count]) => (status.startsWith('2') ? sum + count : sum),
    0,
  );
  const failed = answered - good + Atomics.load(counters, counterIndex.broken);
  const { p99Ms } = latencyOf(latenciesMs.slice(answeredBefore));
  post({ kind: 'window', window: { answered: answered - answeredBefore, failed: failed - failedBefore, p99Ms } });
  answeredBefore = answered;
  failedBefore = failed;
}

let finished = false;
function finish(): void {
  if (finished) return;
  finished = true;
  const report: LoadReport = {
    sent,
    answered: latenciesMs.length,
    broken: Atomics.load(counters, counterIndex.broken),
    refused,
    abandoned,
    unsent: dueMs.length,
    statuses,
    failures,
    durationMs: performance.now() - startedMs,
    latency: latencyOf(latenciesMs),
  };
  post({ kind: 'report', report });
  for (const timer of timers) clearInterval(timer);
  for (const client of clients) client.destroy();
  parentPort?.close();
}

function stop(): void {
  stopping = true;
  finishIfQuiet();
}

const { ratePerSecond } = task;
const timers = [
  setTimeout(stop, task.maxMs),
  ...(windowMs === undefined ? [] : [setInterval(reportWindow, windowMs)]),
  setInterval(() => {
    const nowMs = performance.now();
    for (const client of clients) client.giveUpIfLate(nowMs);
  }, 50),
  ...(ratePerSecond === undefined ? [] : [setInterval(() => !stopping && sendWhatIsDue(ratePerSecond), tickMs)]),
];
parentPort?.on('message', stop);
for (let count = 0; count < task.connections; count += 1) open();
