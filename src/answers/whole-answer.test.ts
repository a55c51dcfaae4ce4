import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Answer, AnswerSink } from '../core/outcome.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { Allowance, readWhole } from './whole-answer.ts';

/** An answer in these pieces. */
function answerOf(pieces: readonly Buffer[], headers: readonly string[] = []) {
  const seen = { isCancelled: false };
  const answer = {
    headers,
    cancel: () => {
      seen.isCancelled = true;
    },
    take(sink: AnswerSink) {
      for (const piece of pieces) if (!seen.isCancelled) sink.onChunk(piece);
      if (!seen.isCancelled) sink.onEnd([]);
    },
  } as unknown as Answer;
  return { answer, seen };
}

const piece = Buffer.alloc(400, 'x');

test('responses that share a size limit are read until their total reaches it', async () => {
  const allowance = new Allowance(1_000);
  assert.deepEqual(await readWhole(answerOf([piece, piece]).answer, allowance), {
    body: Buffer.concat([piece, piece]),
  });
  assert.equal(allowance.leftBytes, 200);
  const { answer, seen } = answerOf([piece]);
  const whole = await readWhole(answer, allowance);
  assert.ok('failure' in whole);
  assert.match(whole.failure.message ?? '', /over 1000 bytes/);
  assert.equal(seen.isCancelled, true);
});

test('a compressed response counts by its decompressed size against the limit, and is decompressed once', async () => {
  const read: number[] = [];
  const memory = {
    begin: async () => undefined,
    read: (bytes: number) => void read.push(bytes),
  } as unknown as AnswerMemory;
  const allowance = new Allowance(1_000_000, memory);
  const body = Buffer.from(Array.from({ length: 2_000 }, (_, n) => `${n * n} `).join(''));
  const encoded = gzipSync(body);
  const { answer } = answerOf([encoded], ['content-encoding', 'gzip']);
  assert.deepEqual(await readWhole(answer, allowance), { body });
  assert.equal(allowance.leftBytes, 1_000_000 - body.length);
  assert.deepEqual(read, [encoded.length, 16 * encoded.length]);
});
