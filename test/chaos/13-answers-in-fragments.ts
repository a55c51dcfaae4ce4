/** Promise 13: wherever the network splits a response, the client gets the same bytes and the gateway the same usage. */

import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type HeaderField, lastChunk, toChunk, toHead } from '../support/clients/http-message.ts';
import { send } from '../support/clients/raw-client.ts';
import { type Pair, questionBytes, startPair } from '../support/gateways/pair.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { type ChaosRig, definePromise } from './promise.ts';
import { createViolations } from './support/readings/findings.ts';

interface Sample {
  readonly name: string;
  readonly type: string;
  readonly body: Buffer;
  /** The whole answer as it goes over the wire. */
  readonly wire: Buffer;
}

const counted = { promptTokens: 11, completionTokens: 13, totalTokens: 24, searchUnits: null, cachedTokens: null };
const usage = '"usage":{"prompt_tokens":11,"completion_tokens":13,"total_tokens":24}';
const words = 'é模😀\\u00e9\\"usage\\":{\\"prompt_tokens\\":99}';
const atTail = `{"object":"list","data":[{"text":"${words}","index":0}],${usage}}`;
const atHead = `{${usage},"object":"list","data":[{"text":"${words}","index":0}]}`;

function stream(lineEnd: string): string {
  const events = [
    ': keep-alive',
    `event: x${lineEnd}data: {"choices":[{"text":"${words}","index":0}],"usage":null}`,
    `data: {"choices":[],${usage}}`,
    'data: [DONE]',
  ];
  return events.map((event) => `${event}${lineEnd}${lineEnd}`).join('');
}

const samples: readonly Sample[] = [
  sample('JSON, usage at the tail', 'application/json', atTail),
  sample('JSON, usage at the head', 'application/json', atHead),
  sample('JSON in chunks', 'application/json', atTail, { chunkBytes: 17 }),
  sample('JSON in gzip', 'application/json', atTail, { encoding: 'gzip' }),
  sample('events', 'text/event-stream', stream('\n'), { chunkBytes: 40 }),
  sample('events with CRLF', 'text/event-stream; charset=utf-8', stream('\r\n'), { chunkBytes: 1 }),
];

function sample(
  name: string,
  type: string,
  text: string,
  { chunkBytes, encoding }: { readonly chunkBytes?: number; readonly encoding?: 'gzip' } = {},
): Sample {
  const body = encoding === 'gzip' ? gzipSync(text) : Buffer.from(text);
  const headers: HeaderField[] = [
    ['Content-Type', type],
    ...(encoding === undefined ? [] : [['Content-Encoding', encoding] as const]),
    chunkBytes === undefined ? ['Content-Length', String(body.length)] : ['Transfer-Encoding', 'chunked'],
  ];
  const framed = chunkBytes === undefined ? body : Buffer.concat([...chunksOf(body, chunkBytes), lastChunk]);
  return { name, type, body, wire: Buffer.concat([toHead('HTTP/1.1 200 Fine', headers), framed]) };
}

function* chunksOf(body: Buffer, bytes: number): Generator<Buffer> {
  for (let at = 0; at < body.length; at += bytes) yield toChunk(body.subarray(at, at + bytes));
}

interface Plan {
  readonly at: Sample;
  /** Where one fragment ends and the next begins. */
  readonly cuts: readonly number[];
}

interface Seen {
  readonly isSame: boolean;
  readonly usage: unknown;
}

type Check = (plan: Plan) => Promise<boolean>;

/** In the short form, every so many positions; the seed decides which. */
const shortStride = 23;
const clientsAtOnce = 8;
const settlingLimitMs = 10_000;

export default definePromise({
  no: 13,
  title: 'a response arrives in fragments, split at every place',
  async run(rig) {
    const pair = await startPair(rig.t);
    const fragments = new Fragments(pair);
    pair.upstream.respondWith(fragments.answer);
    const otherBytes = createViolations('answers with other bytes');
    const otherUsage = createViolations('answers of which another usage was observed');
    const check: Check = async (plan) => {
      const seen = await fragments.ask(plan);
      const description = `${plan.at.name}, split at ${plan.cuts.join(', ').slice(0, 100)}`;
      const isCounted = isDeepStrictEqual(seen.usage, counted);
      if (!seen.isSame) otherBytes.add(description);
      if (!isCounted) otherUsage.add(`${description}: ${JSON.stringify(seen.usage)}`);
      return seen.isSame && isCounted;
    };

    await checkEverySplit(rig, check);
    await checkAnyFragments(rig, check);
    if (fragments.splitArrivals < fragments.splitBodies / 2) {
      throw new Error(
        `of ${fragments.splitBodies} split bodies, ${fragments.splitArrivals} came in pieces: nothing was shown`,
      );
    }
    return [otherBytes.outOf(fragments.asked), otherUsage.outOf(fragments.asked)];
  },
});

/** Two fragments, split at every position, and all fragments of one byte. */
async function checkEverySplit({ scale, seed, progress }: ChaosRig, check: Check): Promise<void> {
  const stride = scale === 'long' ? 1 : shortStride;
  const splits = samples.flatMap((at) => {
    const every = Array.from({ length: at.wire.length - 1 }, (_, i) => i + 1);
    return [every, ...every.filter((cut) => (cut + seed) % stride === 0).map((cut) => [cut])].map((cuts) => ({
      at,
      cuts,
    }));
  });
  const total = splits.length;
  const work = async (): Promise<void> => {
    for (let split = splits.pop(); split !== undefined; split = splits.pop()) {
      progress(`${total - splits.length} of ${total} places`);
      await check(split);
    }
  };
  await Promise.all(Array.from({ length: clientsAtOnce }, work));
}

/** Any number of fragments of any size; a failure is narrowed down to the fewest splits that show it. */
async function checkAnyFragments({ scale, seed, progress }: ChaosRig, check: Check): Promise<void> {
  const numRuns = scale === 'long' ? 3_000 : 100;
  let runs = 0;
  const anySplits = fc
    .constantFrom(...samples)
    .chain((at) => fc.tuple(fc.constant(at), fc.uniqueArray(fc.nat({ max: at.wire.length - 1 }), { maxLength: 40 })));
  const property = fc.asyncProperty(anySplits, async ([at, positions]) => {
    runs += 1;
    progress(`${runs} of ${numRuns} random fragmentations`);
    const cuts = positions.filter((cut) => cut > 0).sort((a, b) => a - b);
    return check({ at, cuts });
  });
  await fc.check(property, { seed, numRuns });
}

/** Sends answers in fragments and compares what became of them. */
class Fragments {
  asked = 0;
  /** Of the answers that were split inside of their body, how many came on in more than one piece. */
  splitBodies = 0;
  splitArrivals = 0;
  readonly #pair: Pair;
  readonly #planned = new Map<number, Plan>();

  constructor(pair: Pair) {
    this.#pair = pair;
  }

  readonly answer: Handler = async ({ body }, reply) => {
    const { no }: { no: number } = JSON.parse(body.toString());
    const plan = this.#planned.get(no);
    if (plan === undefined) throw new Error(`nobody asked for answer ${no}`);
    let from = 0;
    for (const to of [...plan.cuts, plan.at.wire.length]) {
      await reply.raw(plan.at.wire.subarray(from, to));
      // The gateway is in this process: it reads what is there before the next fragment goes out.
      await turn();
      await turn();
      from = to;
    }
  };

  async ask(plan: Plan): Promise<Seen> {
    const { at, cuts } = plan;
    this.asked += 1;
    const no = this.asked;
    this.#planned.set(no, plan);
    const id = `fragments-${no}`;
    const { rig } = this.#pair;
    const answer = await send(rig.port, questionBytes(`{"model":"m","input":"x","no":${no}}`, [['X-Request-Id', id]]));
    this.#planned.delete(no);
    if (cuts.some((cut) => cut > at.wire.length - at.body.length / 2)) {
      this.splitBodies += 1;
      if (answer.chunks.length > 1) this.splitArrivals += 1;
    }
    const isSame =
      answer.complete &&
      answer.statusLine === 'HTTP/1.1 200 Fine' &&
      answer.header('content-type') === at.type &&
      answer.body.equals(at.body);
    return { isSame, usage: await this.#observed(id) };
  }

  async #observed(id: string): Promise<unknown> {
    const deadlineMs = performance.now() + settlingLimitMs;
    for (;;) {
      const exchange = this.#pair.rig.settled.findLast(({ clientRequestId }) => clientRequestId === id);
      if (exchange !== undefined) return exchange.usage;
      if (performance.now() > deadlineMs) throw new Error(`${id} was never settled`);
      await turn();
    }
  }
}
