/** Whatever the list, the maxima, the order in which answers come, and what is known already: the answer is that of one large call. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLists } from '../../src/batch/lists.ts';
import { listAskedOf, type Upstream } from '../support/lists/list-asked.ts';
import { embedding, type Kind, moderation, packed, reranking } from '../support/lists/one-call.ts';

const seed = Number(process.env.POSTERN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env.POSTERN_FUZZ_RUNS ?? 150);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const text = fc.oneof(
  fc.constantFrom('a', 'bb', 'ccc', 'ü', '😀', '"quoted"', 'a\\b', '\u2028', ' ', 'the same', 'the same too'),
  fc.string({ minLength: 1, maxLength: 30 }),
);
const tokens = fc.array(fc.nat({ max: 100_000 }), { minLength: 1, maxLength: 6 });
const items = fc.oneof(
  fc.array(text, { minLength: 1, maxLength: 40 }),
  fc.array(tokens, { minLength: 1, maxLength: 20 }),
);
const limits = fc.oneof(
  fc.record({ items: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ items: fc.integer({ min: 1, max: 12 }), bytes: fc.integer({ min: 200, max: 400 }) }),
  fc.record({ items: fc.constant(12), tokens: fc.integer({ min: 6, max: 60 }) }),
);
const behaviour = fc.record({
  delays: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 8 }),
  slots: fc.integer({ min: 1, max: 9 }),
});

/** Parts that fail go to another upstream, which takes as many items, or fewer, or more. */
const failing = fc.option(
  fc.record({
    calls: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
    other: fc.integer({ min: 1, max: 20 }),
  }),
  { nil: undefined },
);

const kinds: Readonly<Record<string, Kind>> = {
  embeddings: embedding,
  'embeddings in base64': packed,
  rerank: reranking,
  moderations: moderation,
};

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name}: a list split in any way gives the bytes and usage of one call`, async (t) => {
    t.diagnostic(`seed ${seed}`);
    const lists = fc.array(items, { minLength: 1, maxLength: 3 });
    const top = fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        lists,
        behaviour,
        limits,
        fc.boolean(),
        top,
        failing,
        async (all, how, most, isCached, best, fails) => {
          const taker = createLists({ redis: undefined, log });
          const upstream: Upstream = { ...how, most: most.items, ...(fails && { failing: fails }) };
          const judge = async (body: Buffer): Promise<void> => {
            const answered = await taker.answer(listAskedOf(kind, body, upstream, most, isCached).asked);
            assert.ok('parts' in answered);
            assert.equal(answered.bytes.toString(), kind.answer(body).toString());
          };
          const bodies = all.map((one) => kind.bodyFor(one, best));
          // At the same time, so that they share what they have in common; then once more, when it may be known, and beside what is not.
          await Promise.all(bodies.map(judge));
          for (const body of bodies) await judge(body);
          await judge(kind.bodyFor([...all.flat(), 'what nobody has asked for', ...all.flat()], best));
        },
      ),
      { seed, numRuns: runs },
    );
  });
}

/** What an upstream may do to an answer, by the digits of a number. */
type Mistake = (answer: Buffer, count: number, choice: number) => Buffer;

const elements = /\{"(?:object|index|flagged)".*?\}(?=, \{|\])/g;

function withElements(answer: Buffer, change: (elements: string[]) => string[]): Buffer {
  const text = answer.toString();
  const found = text.match(elements) ?? [];
  const start = text.indexOf(found[0] ?? '');
  const last = found.at(-1) ?? '';
  const end = text.lastIndexOf(last) + last.length;
  return Buffer.from(text.slice(0, start) + change(found).join(', ') + text.slice(end));
}

const mistakes: Readonly<Record<string, Mistake>> = {
  'omits one item': (answer, count, choice) => withElements(answer, (all) => all.toSpliced(choice % count, 1)),
  'repeats one item': (answer, count, choice) => withElements(answer, (all) => [...all, all[choice % count] ?? '']),
  'is truncated': (answer, _count, choice) => answer.subarray(0, choice % answer.length),
  'has extra bytes after its end': (answer) => Buffer.concat([answer, Buffer.from(' x')]),
};

/** A number that is none, one too few, a character that stands for nothing, and one byte of a float that is missing. */
const broken = (text: string): string[] => [
  `AADAfw${text.slice(6)}`,
  `${text.slice(0, 8)}==`,
  `*${text.slice(1)}`,
  `${text.slice(0, -1)}=`,
];

const indexed: Readonly<Record<string, Mistake>> = {
  'has two items with the same index': (answer, count, choice) =>
    count < 2
      ? answer.subarray(1)
      : withElements(answer, (all) => all.with(choice % count, all[(choice + 1) % count] ?? '')),
  'has an index beyond the list': (answer, count, choice) =>
    withElements(answer, (all) =>
      all.with(choice % count, (all[choice % count] ?? '').replace(/"index": \d+/, `"index": ${count + choice}`)),
    ),
  'has a value that is not a number': (answer, count, choice) =>
    withElements(answer, (all) =>
      all.with(
        choice % count,
        (all[choice % count] ?? '')
          .replace(/(?:0\.\d+)/, ['null', 'NaN', '"1"', '1..2', '-', '0x1'][choice % 6] ?? '')
          .replace(/(?<="embedding": ")[^"]+/, (text) => broken(text)[choice % 4] ?? ''),
      ),
    ),
};

for (const [name, kind] of Object.entries(kinds)) {
  for (const [what, mistake] of Object.entries({ ...mistakes, ...(kind === moderation ? {} : indexed) })) {
    test(`${name}: a response that ${what} is detected every time`, async (t) => {
      t.diagnostic(`seed ${seed}`);
      await fc.assert(
        fc.asyncProperty(items, fc.nat(), async (some, choice) => {
          const body = kind.bodyFor(some, undefined);
          const upstream: Upstream = {
            most: 7,
            delays: [0],
            slots: 8,
            mistake: (answer, count) => mistake(answer, count, choice),
          };
          const answered = await createLists({ redis: undefined, log }).answer(
            listAskedOf(kind, body, upstream, { items: 7 }, false).asked,
          );
          assert.ok('parts' in answered);
          assert.equal(answered.bytes.toString(), kind.answer(body).toString());
        }),
        { seed, numRuns: runs },
      );
    });
  }
}
