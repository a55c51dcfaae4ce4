/** The codecs against `JSON.parse`: cut anywhere or changed anywhere, an answer is taken only where both read the same in it. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Codec } from '../../src/batch/codecs/codec.ts';
import { ranks } from '../../src/batch/codecs/ranks.ts';
import { vectors } from '../../src/batch/codecs/vectors.ts';
import { verdicts } from '../../src/batch/codecs/verdicts.ts';
import { Unfit } from '../../src/core/translation.ts';
import { atOnce } from '../../src/lib/time-slices.ts';
import { embedding, type Kind, moderation, reranking } from '../support/lists/one-call.ts';

const seed = Number(process.env.POSTERN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env.POSTERN_FUZZ_RUNS ?? 2_000);

const texts = ['a', 'ü😀', '"q"\\'];
const subjects: Readonly<Record<string, { readonly kind: Kind; readonly codec: Codec; readonly list: string }>> = {
  embeddings: { kind: embedding, codec: vectors, list: 'data' },
  rerank: { kind: reranking, codec: ranks, list: 'results' },
  moderations: { kind: moderation, codec: verdicts, list: 'results' },
};

const asked = { items: texts.length, floats: false, best: texts.length };

/** Each result as it was read, by its item; undefined where it is not taken. */
function readBy(codec: Codec, bytes: Buffer): readonly (readonly [number, Buffer])[] | undefined {
  try {
    return atOnce(codec.read(bytes, asked)).results.map(({ item, result }) => [item, result.bytes]);
  } catch (error) {
    assert.ok(error instanceof Unfit, `${String(error)} of ${bytes.toString()}`);
    return undefined;
  }
}

/** What is taken is JSON, and each result is the element that a client would find at its number. */
function assertHonest(codec: Codec, list: string, bytes: Buffer): boolean {
  const read = readBy(codec, bytes);
  if (read === undefined) return false;
  const whole = JSON.parse(bytes.toString());
  const elements: readonly unknown[] = whole[list] ?? whole.data;
  assert.equal(read.length, elements.length);
  for (const [item, slice] of read) {
    const element = JSON.parse(slice.toString());
    const index = elements.findIndex((one, at) => (codec === verdicts ? at : (Object(one).index ?? at)) === item);
    assert.deepEqual(element, elements[index], bytes.toString());
  }
  return true;
}

for (const [name, { kind, codec, list }] of Object.entries(subjects)) {
  const answer = kind.answer(kind.bodyFor(texts, undefined));

  test(`${name}: a response truncated at any byte is rejected`, () => {
    assert.ok(assertHonest(codec, list, answer));
    for (let end = 0; end < answer.length; end += 1) {
      assert.equal(readBy(codec, answer.subarray(0, end)), undefined, answer.toString('utf8', 0, end));
    }
  });

  test(`${name}: items accepted from an altered response equal what JSON.parse reads`, (t) => {
    t.diagnostic(`seed ${seed}`);
    const junk = fc.oneof(
      fc.constantFrom(
        ...['', ',', ']', '}', '{', '[', '"', '0', '-', '.', 'e9', 'null', ' ', '\\', ':', '1', '\u0000', '[]', '{}'],
        ...[
          '"index": 1, ',
          '"index": 0',
          '"score": 1, ',
          '"embedding": [1], ',
          `"${list}": [], `,
          '"\\u0069ndex": 2, ',
        ],
      ),
      fc.string({ maxLength: 3 }),
    );
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 4 }), junk), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(edits, (all) => {
        let text = answer.toString();
        for (const [at, gone, put] of all) {
          const index = at % (text.length + 1);
          text = text.slice(0, index) + put + text.slice(index + gone);
        }
        assertHonest(codec, list, Buffer.from(text));
      }),
      { seed, numRuns: runs },
    );
  });

  test(`${name}: any bytes are accepted or rejected without an exception`, (t) => {
    t.diagnostic(`seed ${seed}`);
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((some) => Buffer.from(some)),
      fc.json().map((text) => Buffer.from(text)),
      fc.json().map((text) => Buffer.from(`{"${list}":${text}}`)),
      fc.constantFrom(...['[', '{"a":'].map((open) => Buffer.from(open.repeat(100_000)))),
    );
    fc.assert(
      fc.property(bytes, (some) => void readBy(codec, some)),
      { seed, numRuns: runs },
    );
  });

  if (codec === verdicts) continue;
  test(`${name}: a result with a duplicate index is rejected`, () => {
    const twice = answer.toString().replace('"index": 1', '"index": 1, "index": 1');
    assert.notEqual(twice, answer.toString());
    assert.equal(readBy(codec, Buffer.from(twice)), undefined);
  });
}
