/** Promise 12: readers that stop within large responses do not fill the gateway's memory, and get the complete response when they resume. */

import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createMessageReader, parseFraming, toChunk } from '../support/clients/http-message.ts';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, definePromise, type Figure, type Scale } from './promise.ts';
import { runLoad } from './support/clients/load.ts';
import { createViolations } from './support/readings/findings.ts';

interface Size {
  readonly readers: number;
  readonly answerBytes: number;
  /** Whole answers that the process has passed before it is measured. */
  readonly warming: number;
}

/** Of each answer the kernel holds some megabytes: few readers need longer ones, or a gateway that held the rest would not show. */
const sizes: Readonly<Record<Scale, Size>> = {
  long: { readers: 200, answerBytes: 10_000_000, warming: 20 },
  short: { readers: 8, answerBytes: 40_000_000, warming: 2 },
};

const growthLimitMb = 150;
const pieceBytes = 256 * 1024;
/** Nothing has moved for so long: the readers have stopped all of it. */
const stillMs = 500;
const sampleIntervalMs = 50;
const readLimitMs = 240_000;

export default definePromise({
  no: 12,
  title: 'readers stop in the middle of large answers',
  async run({ t, scale, progress }) {
    const { readers, answerBytes, warming } = sizes[scale];
    const answer = createAnswer(answerBytes);
    const sent = { bytes: 0 };
    const upstream = await startUpstream(answer, sent);
    t.after(() => upstream.close());
    const gateway = await startGatewayProcess({ config: toDocument(upstream.url) });
    t.after(() => gateway.stop());
    const read = (no: number, stalls: boolean): Reader => new Reader(gateway, answer, no, stalls);

    // What a process that has served for a while holds anyway is not the stalled readers' doing.
    progress('warming up');
    const requests = [toBytes(gateway, 'small')];
    await runLoad(t, { port: gateway.port, requests, connections: 50, maxRequests: 1_000, maxMs: 10_000 });
    for (let no = 0; no < warming; no += 1) {
      const outcome = await read(no, false).outcome;
      if (outcome !== 'whole') throw new Error(`a reader that did not stop got ${outcome}`);
    }
    await wait(stillMs);

    const memory = await watchMemory(gateway);
    sent.bytes = 0;
    const stalled = Array.from({ length: readers }, (_, no) => read(no, true));
    await Promise.all(stalled.map(({ begun }) => begun));
    for (let before = -1; before !== sent.bytes; ) {
      before = sent.bytes;
      progress(`${readers} readers stopped; the upstream could send ${toMb(sent.bytes)} MB`);
      await wait(stillMs);
    }
    const underWayMb = toMb(sent.bytes);
    const stalledMb = memory.growthMb();

    for (const reader of stalled) reader.resume();
    const outcomes = await Promise.all(stalled.map(({ outcome }) => outcome));
    await memory.stop();

    const wrong = createViolations('answers that did not arrive whole in the end');
    for (const [no, outcome] of outcomes.entries()) if (outcome !== 'whole') wrong.add(`reader ${no}: ${outcome}`);
    const stalledFigure = growth('growth of the resident set while all readers stand still', stalledMb);
    const scene = `${readers} x ${toMb(answerBytes)} MB, of which the upstream could send ${underWayMb} MB`;
    return [
      { ...stalledFigure, measured: `${stalledFigure.measured}; ${scene}` },
      growth('the same at its peak, when all of them go on at once', memory.growthMb()),
      wrong.outOf(readers),
    ];
  },
});

const growth = (name: string, mb: number): Figure => atMost(name, mb, growthLimitMb, 'MB');

/** It begins as JSON does; no two pages of it are alike. */
function createAnswer(bytes: number): Buffer {
  const answer = Buffer.alloc(bytes, 'vector digits 0.123456789,');
  answer.write('{"object":"list","data":["');
  for (let at = 4096; at + 4 <= bytes; at += 4096) answer.writeUInt32BE(at, at);
  return answer;
}

/** Half of the answers have a length, half come in chunks; `sent` counts what the kernel took of them. */
function startUpstream(answer: Buffer, sent: { bytes: number }): Promise<FakeUpstream> {
  return startFakeUpstream(async ({ body }, reply) => {
    if (body.includes('small')) {
      await reply.json(200, { object: 'list', data: [{}] });
      return;
    }
    const isChunked = body.includes('chunked');
    await reply.head(200, [
      ['Content-Type', 'application/json'],
      isChunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(answer.length)],
    ]);
    for (let at = 0; at < answer.length && reply.open; at += pieceBytes) {
      const piece = answer.subarray(at, at + pieceBytes);
      await reply.raw(isChunked ? toChunk(piece) : piece);
      sent.bytes += piece.length;
    }
    if (isChunked) await reply.lastChunk();
  });
}

/** Reads an answer and compares every byte; a stalling reader pauses after the first bytes until it is resumed. */
class Reader {
  /** `whole`, or what came instead. */
  readonly outcome: Promise<string>;
  /** Its first bytes are there, or it has ended. */
  readonly begun: Promise<unknown>;
  readonly #settled = Promise.withResolvers<string>();
  readonly #socket: Socket;

  constructor(gateway: GatewayProcess, answer: Buffer, no: number, stalls: boolean) {
    this.outcome = this.#settled.promise;
    this.#socket = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true });
    let at = 0;
    let isSame = true;
    const reader = createMessageReader({
      onHead: (head) => {
        if (!head.startLine.startsWith('HTTP/1.1 200 ')) this.#settle(head.startLine);
        return parseFraming(head.headers) ?? { kind: 'none' };
      },
      onBody(bytes) {
        isSame &&= answer.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0;
        at += bytes.length;
      },
      onComplete: () => this.#settle(isSame && at === answer.length ? 'whole' : `other bytes, ${at} of them`),
    });
    this.#socket.on('data', (bytes: Buffer) => reader.push(bytes));
    const first = Promise.withResolvers<void>();
    this.begun = Promise.race([first.promise, this.outcome]);
    this.#socket.once('data', () => {
      if (stalls) this.#socket.pause();
      first.resolve();
    });
    this.#socket.on('error', (error) => this.#settle(error.message));
    this.#socket.on('close', () => this.#settle(`the end after ${at} bytes`));
    this.#socket.setTimeout(readLimitMs, () => this.#settle(`silence after ${at} bytes`));
    this.#socket.write(toBytes(gateway, no % 2 === 0 ? 'chunked' : 'length'));
  }

  resume(): void {
    this.#socket.resume();
  }

  #settle(outcome: string): void {
    this.#settled.resolve(outcome);
    this.#socket.destroy();
  }
}

function toBytes({ key }: GatewayProcess, input: string): Buffer {
  return toRequestBytes({
    path: '/v1/embeddings',
    headers: [['Authorization', `Bearer ${key}`]],
    body: { model: 'm', input },
  });
}

interface MemoryWatch {
  /** The most so far, over what it was when the watch began. */
  growthMb(): number;
  stop(): Promise<void>;
}

async function watchMemory(gateway: GatewayProcess): Promise<MemoryWatch> {
  const beforeBytes = await gateway.rssBytes();
  let peakBytes = beforeBytes;
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      peakBytes = Math.max(peakBytes, await gateway.rssBytes());
      await wait(sampleIntervalMs);
    }
  })();
  return {
    growthMb: () => toMb(peakBytes - beforeBytes),
    async stop() {
      stopped = true;
      await watching;
    },
  };
}

function toMb(bytes: number): number {
  return Math.round(bytes / 1e6);
}
