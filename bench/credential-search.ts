/**
 * Measures the cost of searching a response for the upstream's credentials, compared with copying it: `node bench/credential-search.ts`, a few
 * seconds.
 */

import { WatchedAnswer } from '../src/answers/watched-answer.ts';
import type { Exchange } from '../src/core/exchange.ts';
import type { Answer, AnswerSink } from '../src/core/outcome.ts';
import { NeedleSearch } from '../src/lib/secrets/needle-search.ts';
import { spellingsInSuccesses } from '../src/lib/secrets/secret-spellings.ts';
import { type Payload, payloads } from './payloads.ts';

const rounds = 101;
const chunkBytes = 64 * 1024;
const letters = 'Qz7xVw3kJp9mHt2cRb6nXy8dFg4sLe5vTu1aWo0iKj';

/** No two are alike, and none is a part of another. */
const credential = (number: number, length: number): string =>
  `sk-${number}-${Array.from({ length }, (_, at) => letters[(at * (number + 5) + at * at) % letters.length]).join('')}`.slice(
    0,
    length,
  );

const credentials: readonly [title: string, secrets: string[]][] = [
  ['1 of 24 bytes', [credential(0, 24)]],
  ['1 of 51 bytes', [credential(0, 51)]],
  ['1 of 164 bytes', [credential(0, 164)]],
  ['10 of 51 bytes', Array.from({ length: 10 }, (_, number) => credential(number, 51))],
];

function chunksOf({ answer, eventEnds }: Payload): Buffer[] {
  const ends =
    eventEnds ?? Array.from({ length: Math.ceil(answer.length / chunkBytes) }, (_, i) => (i + 1) * chunkBytes);
  return ends.map((end, index) => Buffer.from(answer.subarray(ends[index - 1] ?? 0, end)));
}

/** Hands all of it over at once. */
class Source implements Answer {
  readonly status = 200;
  readonly statusText = 'OK';
  readonly headers = [];
  readonly sentAtMs = 0;
  readonly firstByteAtMs = 0;
  readonly ended = true;
  readonly broken = undefined;
  readonly waiting: readonly Buffer[];

  constructor(chunks: readonly Buffer[]) {
    this.waiting = chunks;
  }

  take(sink: AnswerSink): void {
    for (const chunk of this.waiting) sink.onChunk(chunk);
    sink.onEnd([]);
  }

  resume(): void {}

  cancel(): void {
    throw new Error('a credential was found where there is none');
  }
}

class Counter implements AnswerSink {
  bytes = 0;

  onChunk(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    return true;
  }

  onEnd(): void {}

  onBroken(): void {
    throw new Error('nothing breaks off here');
  }
}

/** The fastest round, in microseconds: what others did to the machine meanwhile only adds. */
function fastestUs(run: () => void): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const start = process.hrtime.bigint();
    run();
    fastest = Math.min(fastest, Number(process.hrtime.bigint() - start) / 1000);
  }
  return fastest;
}

const exchange: Pick<Exchange, 'repeatedCredential'> = { repeatedCredential: false };
const columns = ['answer', 'bytes', 'chunks', 'copied', ...credentials.map(([title]) => title)];
const print = (cells: readonly string[]): void =>
  console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(14) : cell.padStart(16))).join(''));

console.log(`Microseconds for one answer, node ${process.version}, the fastest of ${rounds} rounds\n`);
print(columns);
for (const name of ['embed-100', 'embed-base64', 'embed-1', 'sse-200']) {
  const payload = payloads.find((row) => row.name === name);
  if (payload === undefined) throw new TypeError(`no payload is called ${name}`);
  const source = new Source(chunksOf(payload));
  const plain = fastestUs(() => source.take(new Counter()));
  const copied = fastestUs(() => {
    for (const chunk of source.waiting) Buffer.from(chunk);
  });
  const searched = credentials.map(([, secrets]) => {
    const needles = new NeedleSearch(secrets.flatMap(spellingsInSuccesses));
    return fastestUs(() => new WatchedAnswer(source, needles, exchange as Exchange).take(new Counter())) - plain;
  });
  const cells = [copied, ...searched].map((us) => us.toFixed(1));
  print([name, String(payload.answer.length), String(source.waiting.length), ...cells]);
}
