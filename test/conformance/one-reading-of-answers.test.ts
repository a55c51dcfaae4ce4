/** Whatever the wire's client accepts, that of `node:http` understands alike, however the bytes are cut; what may differ is listed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../chaos/support/random.ts';
import {
  answerExceptions,
  answeredMethods,
  compareAnswer,
  faultOfAnswerSplit,
  randomAnswer,
} from '../support/wire/answer-comparison.ts';
import { splitsOf } from '../support/wire/own-reading.ts';
import { wireAnswers } from '../support/wire/wire-answer-cases.ts';
import { randomSplit } from '../support/wire/wire-fuzz.ts';

const randomCount = 4_000;
/** Of a failure, to be seen again: `POSTERN_FUZZ_SEED=... npm test`. */
const seed = Number(process.env.POSTERN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

test('every listed response is parsed as by node:http, refused, or a known exception', async () => {
  const faults: string[] = [];
  const needed = new Set<string>();
  let taken = 0;
  for (const text of wireAnswers) {
    for (const method of answeredMethods) {
      const { isTaken, fault, exception } = await compareAnswer(method, text);
      if (isTaken) taken += 1;
      if (fault !== undefined) faults.push(fault);
      if (exception !== undefined) needed.add(exception);
    }
  }
  assert.deepEqual(faults, []);
  assert.deepEqual([...needed].sort(), answerExceptions.map(({ what }) => what).sort());
  assert.ok(taken > 400 && wireAnswers.length * answeredMethods.length - taken > 400, `${taken} were accepted`);
});

test('every listed response is parsed the same at any split, and byte by byte', () => {
  const faults: string[] = [];
  for (const text of wireAnswers) {
    for (const method of answeredMethods) {
      for (const segments of splitsOf(Buffer.from(text, 'latin1'))) {
        const fault = faultOfAnswerSplit(method, segments);
        if (fault !== undefined) faults.push(fault);
      }
    }
  }
  assert.deepEqual(faults.slice(0, 5), []);
});

test('random responses are parsed as by node:http, and the same at any split', async (t) => {
  const random = createRandom(seed);
  const faults: string[] = [];
  let taken = 0;
  for (let done = 0; done < randomCount; done += 1) {
    const { method, text } = randomAnswer(random);
    const { isTaken, fault } = await compareAnswer(method, text);
    if (isTaken) taken += 1;
    const ofSplit = faultOfAnswerSplit(method, randomSplit(Buffer.from(text, 'latin1'), random));
    faults.push(...[fault, ofSplit].filter((one) => one !== undefined));
  }
  t.diagnostic(`seed ${seed}: ${taken} answers were accepted`);
  assert.deepEqual(faults.slice(0, 5), [], `seed ${seed}`);
  assert.ok(taken > randomCount / 20, `only ${taken} were accepted`);
});
