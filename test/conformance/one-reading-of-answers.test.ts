/** Whatever the wire's client accepts, that of `node:http` understands alike, however the bytes are cut; what may differ is listed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../chaos/support/random.ts';
import { pick } from '../chaos/support/request-draft.ts';
import {
  answerExceptions,
  differenceOfAnswers,
  readAnswerAsNodeDoes,
  readAnswerAsWeDo,
} from '../support/answer-reading.ts';
import { splitsOf } from '../support/own-reading.ts';
import { shown } from '../support/reading.ts';
import { wireAnswers } from '../support/wire-answer-cases.ts';
import { randomSplit, spoil } from '../support/wire-fuzz.ts';

const randomCount = 4_000;
/** Of a failure, to be seen again: `POSTERN_FUZZ_SEED=... npm test`. */
const seed = Number(process.env.POSTERN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const methods = ['GET', 'HEAD'] as const;

interface Comparison {
  readonly isTaken: boolean;
  readonly fault: string | undefined;
  readonly exception: string | undefined;
}

async function compare(method: string, text: string): Promise<Comparison> {
  const bytes = Buffer.from(text, 'latin1');
  const ours = readAnswerAsWeDo(method, [bytes]);
  const theirs = await readAnswerAsNodeDoes(method, bytes);
  const isTaken = !('why' in ours);
  const difference = differenceOfAnswers(ours, theirs);
  if (difference === undefined) return { isTaken, fault: undefined, exception: undefined };
  const exception = answerExceptions.find(({ fits }) => fits(theirs, text))?.what;
  return {
    isTaken,
    exception,
    fault: exception === undefined ? `${method}: ${difference}: ${shown(text)}` : undefined,
  };
}

/** How the reading changes where it comes in these segments. */
function faultOfSplit(method: string, segments: readonly Buffer[]): string | undefined {
  const bytes = Buffer.concat(segments);
  const [whole, split] = [[bytes], segments].map((way) => {
    const reading = readAnswerAsWeDo(method, way);
    return JSON.stringify('why' in reading ? 'refused' : reading);
  });
  return whole === split
    ? undefined
    : `${method}: ${whole} in one piece, ${split} of ${shown(bytes.toString('latin1'))}`;
}

test('every written answer is read as node:http reads it, refused, or one of the exceptions', async () => {
  const faults: string[] = [];
  const needed = new Set<string>();
  let taken = 0;
  for (const text of wireAnswers) {
    for (const method of methods) {
      const { isTaken, fault, exception } = await compare(method, text);
      if (isTaken) taken += 1;
      if (fault !== undefined) faults.push(fault);
      if (exception !== undefined) needed.add(exception);
    }
  }
  assert.deepEqual(faults, []);
  assert.deepEqual([...needed].sort(), answerExceptions.map(({ what }) => what).sort());
  assert.ok(taken > 400 && wireAnswers.length * methods.length - taken > 400, `${taken} were accepted`);
});

test('every written answer is read alike, wherever it is cut into two segments, and byte by byte', () => {
  const faults: string[] = [];
  for (const text of wireAnswers) {
    for (const method of methods) {
      for (const segments of splitsOf(Buffer.from(text, 'latin1'))) {
        const fault = faultOfSplit(method, segments);
        if (fault !== undefined) faults.push(fault);
      }
    }
  }
  assert.deepEqual(faults.slice(0, 5), []);
});

test('answers changed at random are read as node:http reads them, and alike however they are cut', async (t) => {
  const random = createRandom(seed);
  const faults: string[] = [];
  let taken = 0;
  for (let done = 0; done < randomCount; done += 1) {
    const method = pick(methods, random);
    let text = wireAnswers[Math.floor(random() * wireAnswers.length)] ?? '';
    for (let times = 1 + Math.floor(random() * 2); times > 0; times -= 1) text = spoil(text, random);
    const { isTaken, fault } = await compare(method, text);
    if (isTaken) taken += 1;
    const ofSplit = faultOfSplit(method, randomSplit(Buffer.from(text, 'latin1'), random));
    faults.push(...[fault, ofSplit].filter((one) => one !== undefined));
  }
  t.diagnostic(`seed ${seed}: ${taken} answers were accepted`);
  assert.deepEqual(faults.slice(0, 5), [], `seed ${seed}`);
  assert.ok(taken > randomCount / 20, `only ${taken} were accepted`);
});
