/**
 * Measures how fast partial responses are checked and merged: 8 parts of 256 vectors of 3,072 numbers: `node bench/list-merge.ts`, some seconds.
 */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { WholeMadeAnswer } from '../src/answers/made-answer.ts';
import { vectors } from '../src/batch/codecs/vectors.ts';
import { foundIn } from '../src/batch/found.ts';
import { merge } from '../src/batch/list-run.ts';
import { atOnce } from '../src/lib/time-slices.ts';

const parts = 8;
const each = 256;
const width = 3_072;
const rounds = 7;

const vector = `[${Array.from({ length: width }, (_, index) => (Math.sin(index) / 8).toFixed(9)).join(',')}]`;
const base64 = `"${Buffer.from(Float32Array.from({ length: width }, (_, index) => Math.sin(index)).buffer).toString('base64')}"`;

function answerOf(embedding: string): Buffer {
  const data = Array.from(
    { length: each },
    (_, index) => `{"object":"embedding","index":${index},"embedding":${embedding}}`,
  );
  return Buffer.from(
    `{"object":"list","data":[${data.join(',')}],"model":"m","usage":{"prompt_tokens":${each},"total_tokens":${each}}}`,
  );
}

const part = (body: Buffer): WholeMadeAnswer => new WholeMadeAnswer(undefined, { body });

function measure(name: string, embedding: string, floats: boolean): void {
  const answers = Array.from({ length: parts }, () => answerOf(embedding));
  const weights = Array.from({ length: each }, () => 1);
  const bytes = answers.reduce((sum, answer) => sum + answer.length, 0);
  const judged: number[] = [];
  const merged: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startMs = performance.now();
    const found = answers.flatMap((answer) => {
      const read = atOnce(vectors.read(answer, { items: each, floats, best: each }));
      return foundIn(
        read,
        { kind: 'read', bytes: answer, answer: part(answer), exchange: undefined as never },
        weights,
      );
    });
    const middleMs = performance.now();
    const whole = merge(
      found,
      found.map((one, item) => ({ item, found: one })),
    );
    if (whole.length < bytes / 2) throw new Error('too little came out');
    judged.push(middleMs - startMs);
    merged.push(performance.now() - middleMs);
  }
  const speed = (times: readonly number[]): string =>
    `${Math.round(bytes / 1e6 / ((times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 1) / 1_000))} MB/s`;
  const both = judged.map((ms, round) => ms + (merged[round] ?? 0));
  console.log(
    `${name}: ${(bytes / 1e6).toFixed(0)} MB, judged at ${speed(judged)}, put together at ${speed(merged)}, both at ${speed(both)}`,
  );
}

measure('numbers', vector, false);
measure('base64', base64, true);
