import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Client, Source } from '../../test/support/upstreams/answer-source.ts';
import type { Exchange } from '../core/exchange.ts';
import { NeedleSearch } from '../lib/secrets/needle-search.ts';
import { spellingsInErrors, spellingsInSuccesses } from '../lib/secrets/secret-spellings.ts';
import { WatchedAnswer } from './watched-answer.ts';

const secret = 'sk-"Qz7x"/Vw3k\\Jp9m+Ht2c==Rb6nXy8dFg4s';
/** It begins like the one before, and like itself. */
const other = 'sk-"Qz7sk-"Qz7x0123456789sk-"Qz7x';

const inSuccesses = new NeedleSearch([secret, other].flatMap(spellingsInSuccesses));
const inErrors = new NeedleSearch([secret, other].flatMap(spellingsInErrors));

function open(needles = inSuccesses) {
  const source = new Source();
  const client = new Client();
  const exchange = { repeatedCredential: false };
  const answer = new WatchedAnswer(source, needles, exchange as Exchange);
  answer.take(client);
  return { source, client, exchange, answer };
}

/** How much of the text passes, and whether it was cut. */
function pass(pieces: readonly (string | Buffer)[], needles = inSuccesses) {
  const { source, client, exchange } = open(needles);
  source.send(...pieces);
  if (!source.isCancelled) source.end();
  assert.equal(client.failure !== undefined, exchange.repeatedCredential);
  assert.equal(client.failure !== undefined, source.isCancelled);
  return { text: client.text, isCut: exchange.repeatedCredential };
}

const before = '{"text":"a key: ';
const behind = ' and so on","usage":{"prompt_tokens":1}}';

for (const [where, needles, spellings] of [
  ['a successful', inSuccesses, spellingsInSuccesses(secret)],
  ['an error', inErrors, spellingsInErrors(secret)],
] as const) {
  test(`${where} response is truncated where a secret begins, in every encoding and split into any chunks`, () => {
    for (const spelling of spellings) {
      const text = before + spelling + behind;
      for (let first = before.length; first <= before.length + spelling.length; first += 1) {
        const second = Math.min(text.length, first + 1 + (first % 11));
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        assert.deepEqual(pass(pieces, needles), { text: before, isCut: true }, `${spelling} split at ${first}`);
      }
      assert.deepEqual(pass([...text], needles), { text: before, isCut: true }, `${spelling}, byte by byte`);
      assert.deepEqual(pass([text], needles), { text: before, isCut: true }, `${spelling} in one piece`);
    }
  });
}

test('a response with a base64-encoded secret is truncated at the secret, at any offset and in both alphabets', () => {
  for (const alphabet of ['base64', 'base64url'] as const) {
    for (let shift = 0; shift < 3; shift += 1) {
      const text = Buffer.from('x'.repeat(30 + shift) + secret + behind).toString(alphabet);
      // The character at the edge shares bits with the one before.
      const begins = Math.ceil(((30 + shift) * 8) / 6);
      for (let first = begins - 2; first < begins + 50; first += 1) {
        const { text: passed, isCut } = pass([text.slice(0, first), text.slice(first)]);
        assert.ok(isCut, `${alphabet}, ${shift} behind a third byte, split at ${first}`);
        assert.equal(passed, text.slice(0, begins));
      }
    }
  }
});

const tricky = fc.constantFrom(
  ...[secret, other].flatMap((text) => [text.slice(0, 9), text.slice(0, -1), text.slice(1), text]),
  's',
  'sk-',
  'plain ',
  '\n\n',
);

test('any response passes up to its first secret, split into any chunks, and nothing after the secret', () => {
  fc.assert(
    fc.property(
      fc.array(tricky, { maxLength: 8 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 20 })),
      (parts, sizes) => {
        const text = parts.join('');
        const pieces: string[] = [];
        for (let at = 0; at < text.length; ) {
          const size = sizes.next().value;
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        const starts = [secret, other].map((one) => text.indexOf(one)).filter((start) => start !== -1);
        const { text: passed, isCut } = pass(pieces);
        assert.equal(isCut, starts.length > 0);
        if (!isCut) assert.equal(passed, text);
        const safe = text.slice(0, Math.min(...starts, text.length));
        assert.ok(safe.startsWith(passed), passed);
        // Another possible beginning right before a removed secret is removed as well.
        assert.equal(inSuccesses.beginningAtEnd(Buffer.from(safe.slice(passed.length))), safe.length - passed.length);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('response chunks pass unchanged and uncopied, and only a possible start of a secret is held back', () => {
  const { source, answer } = open();
  const seen: Buffer[] = [];
  const chunks = [
    Buffer.from('data: {"text":"a"}\n\n'),
    Buffer.from('sk-"Qz'),
    Buffer.from('8 is none'),
    Buffer.from('s'),
  ];
  answer.take({
    onChunk: (chunk) => seen.push(chunk) > 0,
    onEnd: () => undefined,
    onBroken: () => assert.fail('it is whole'),
  });
  const [first, second, third, fourth] = chunks;
  for (const chunk of chunks) source.sink?.onChunk(chunk);
  assert.deepEqual(seen.map(String), [first, second, third].map(String));
  assert.ok(seen.every((chunk, index) => chunk.buffer === chunks[index]?.buffer));
  source.end();
  assert.equal(String(seen.at(-1)), String(fourth));
});

test('a stream event that ends like the start of a secret is passed on at once, not held back', () => {
  const { source, client } = open(inErrors);
  for (const said of ['s', 'sk-', secret.slice(0, 12), Buffer.from(secret).toString('base64').slice(0, 9)]) {
    const event = `data: ${JSON.stringify({ text: said })}\n\n`;
    client.text = '';
    source.send(event);
    assert.equal(client.text, event);
  }
});

test('a secret in the trailers of a response breaks the response before its end', () => {
  const { source, client, exchange } = open();
  source.send('{}');
  source.end(['X-Debug', `key=${secret}`]);
  assert.deepEqual([client.text, client.endings, exchange.repeatedCredential], ['{}', 1, true]);
  assert.equal(client.failure?.code, 'upstream_protocol_error');
});

test('a broken response does not pass on a partial secret at its end, unless that is only a few letters', () => {
  const failure = { code: 'upstream_unreachable', message: 'm', cause: 'c' } as const;
  for (const [end, passes] of [
    [secret.slice(0, -1), false],
    [secret.slice(0, 6), false],
    ['sk-', true],
    ['s', true],
  ] as const) {
    const { source, client, exchange } = open();
    source.send(before, end);
    source.sink?.onBroken(failure);
    assert.equal(client.text, passes ? before + end : before);
    assert.deepEqual([client.failure, exchange.repeatedCredential], [failure, false]);
  }
});

test('everything that the upstream sends after a truncation is dropped', () => {
  const { source, client } = open();
  source.send(before + secret, behind, secret);
  source.end();
  source.sink?.onBroken({ code: 'upstream_unreachable', message: 'm', cause: 'c' });
  assert.deepEqual([client.text, client.endings], [before, 1]);
});

test('backpressure from the client reaches the upstream', () => {
  const { source, client } = open();
  client.isOpen = false;
  assert.deepEqual(source.send('plain', 'sk-"Q', 'x plain', 'sk-'), [false, true, false, true]);
});
