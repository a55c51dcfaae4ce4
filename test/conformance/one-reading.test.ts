/** Whatever the wire's reader accepts, the parser of `node:http` understands alike, however the bytes are cut; what may differ is listed. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRandom } from '../chaos/support/random.ts';
import { createNodeReader, type NodeReader } from '../support/wire/node-reading.ts';
import { readAsWeDo, splitsOf } from '../support/wire/own-reading.ts';
import { compareWithNode, faultOfSplit, nodeExceptions } from '../support/wire/wire-comparison.ts';
import { randomSplit, randomStream } from '../support/wire/wire-fuzz.ts';
import { wireRequests } from '../support/wire/wire-requests.ts';

const streamCount = 6_000;
const sideBySide = 20;
/** Of a failure, to be seen again: `POSTERN_FUZZ_SEED=... npm test`. */
const seed = Number(process.env.POSTERN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

function startReader(t: TestContext): NodeReader {
  const reader = createNodeReader();
  t.after(() => reader.close());
  return reader;
}

test('every listed request is parsed as by node:http, refused, or a known exception', async (t) => {
  const reader = startReader(t);
  const faults: string[] = [];
  const needed = new Set<string>();
  const ends = { clean: 0, cut: 0, last: 0, refused: 0 };
  for (const { name, bytes } of wireRequests) {
    const { ours, fault, exception } = await compareWithNode(reader, bytes);
    ends[ours.end] += 1;
    if (fault !== undefined) faults.push(`${name}: ${fault}`);
    if (exception !== undefined) needed.add(exception.what);
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(
    nodeExceptions.filter(({ what }) => !needed.has(what)),
    [],
    'an exception that nothing needs',
  );
  assert.ok(ends.clean + ends.last > 250 && ends.refused > 250, `too much alike: ${JSON.stringify(ends)}`);
});

test('every listed request is parsed the same at any split, and byte by byte', () => {
  const faults: string[] = [];
  for (const { name, bytes } of wireRequests) {
    const whole = readAsWeDo([bytes]);
    for (const segments of splitsOf(bytes)) {
      const fault = faultOfSplit(whole, segments);
      if (fault === undefined) continue;
      faults.push(`${name}: ${fault}`);
      break;
    }
  }
  assert.deepEqual(faults, []);
});

test('random requests are parsed as by node:http, and the same at any split', async (t) => {
  const reader = startReader(t);
  const random = createRandom(seed);
  const faults: string[] = [];
  let read = 0;
  const readOne = async (): Promise<void> => {
    const bytes = randomStream(random);
    const split = randomSplit(bytes, random);
    const { ours, fault } = await compareWithNode(reader, bytes);
    read += ours.requests.length;
    faults.push(...[fault, faultOfSplit(ours, split)].filter((one) => one !== undefined));
  };
  for (let done = 0; done < streamCount; done += sideBySide)
    await Promise.all(Array.from({ length: sideBySide }, readOne));
  t.diagnostic(`seed ${seed}: ${read} requests were accepted`);
  assert.deepEqual(faults.slice(0, 5), [], `seed ${seed}`);
  assert.ok(read > streamCount / 2, `only ${read} were accepted`);
});
