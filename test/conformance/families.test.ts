import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { type Family, isMadeHere, offersOf, standardOptions } from '../../src/core/family.ts';
import { type Operation, pathOf } from '../../src/core/operations/index.ts';
import { families } from '../../src/families/index.ts';
import { chatCases, withChat } from '../families/cases/chat.ts';
import { completionsCases } from '../families/cases/completions.ts';
import { editsCases } from '../families/cases/edits.ts';
import { embeddingsCases } from '../families/cases/embeddings.ts';
import { errorCases } from '../families/cases/errors.ts';
import { formCases, imageEditsCases, transcriptionsCases } from '../families/cases/forms.ts';
import { imagesCases, speechCases } from '../families/cases/media.ts';
import { moderationsCases } from '../families/cases/moderations.ts';
import { rerankCases } from '../families/cases/rerank.ts';
import { openSetup, type Setup, toText } from '../families/family-setup.ts';
import type { FamilyFixture, Pair, WireCall } from '../families/fixture.ts';
import { offeredIn } from '../families/offered.ts';
import type { Scope } from '../support/gateways/rig.ts';

type Cases = Readonly<Record<string, (setup: Setup) => Promise<void>>>;

const casesOf: Readonly<Partial<Record<Operation, Cases>>> = {
  completions: completionsCases,
  edits: editsCases,
  rerank: rerankCases,
  moderations: moderationsCases,
  embeddings: embeddingsCases,
  chat: chatCases,
  images: imagesCases,
  speech: speechCases,
  image_edits: imageEditsCases,
  image_variations: formCases('image_variations'),
  transcriptions: { ...formCases('transcriptions'), ...transcriptionsCases },
  translations: formCases('translations'),
};

/** Made in this process, so there is no wire to record; its own tests are beside it. */
const overTheWire = families.filter((family) => !isMadeHere(offersOf(family, standardOptions(family))));
/** All before the first test: one that is missing fails the file. */
const withFixtures = await Promise.all(
  overTheWire.map(async (family) => ({ family, fixture: await fixtureOf(family) })),
);

for (const { family, fixture } of withFixtures) {
  describe(`family ${family.id}`, () => {
    const offered = offeredIn(offersOf(family, standardOptions(family)));

    const closings: (() => unknown)[] = [];
    const whole: Scope = { after: (close) => closings.push(close) };
    after(async () => {
      for (const close of closings.toReversed()) await close();
    });

    test('the family has a recorded pair for every operation that it offers', () => {
      const recorded = new Set(
        fixture.pairs.map(({ route }) => (route.startsWith('/v1/engines/') ? 'engines' : route)),
      );
      const own = offered.filter((operation) => operation !== 'chat');
      const paths = own.map((operation) => pathOf(operation, 'm'));
      const wanted = offered.includes('embeddings') ? [...paths, 'engines'] : paths;
      assert.equal(fixture.chat !== undefined, offered.includes('chat'), 'where its chat is');
      assert.deepEqual(
        wanted.filter((path) => !recorded.has(path)),
        [],
      );
    });

    const setups = new Map<string, Promise<Setup>>();
    for (const pair of fixture.pairs) {
      test(`recorded exchange: ${pair.name}`, async (t) => {
        const { upstream, target } = pair;
        // A gateway that has seen an error may do otherwise with the next call.
        if (!isGood(pair)) return replay(await openSetup(t, fixture, { upstream, target }), pair);
        const key = JSON.stringify([upstream, target]);
        const setup = setups.get(key) ?? openSetup(whole, fixture, { upstream, target });
        setups.set(key, setup);
        await replay(await setup, pair);
      });
    }

    for (const operation of offered) {
      // None of these leaves anything behind that the next one could notice.
      let shared: Promise<Setup> | undefined;
      for (const [name, check] of [...Object.entries(casesOf[operation] ?? {}), ...Object.entries(errorCases)]) {
        test(`${operation}: ${name}`, async () => {
          shared ??= openFor(whole, fixture, operation);
          const setup = await shared;
          setup.answerWith();
          await check(setup, operation);
        });
      }
    }
  });
}

/** A family without one fails here. */
async function fixtureOf({ id }: Family): Promise<FamilyFixture> {
  const file = new URL(`../families/${id}.ts`, import.meta.url);
  assert.ok(
    existsSync(file),
    `family ${id} has no fixture, test/families/${id}.ts: copy one beside it, or see what "npm run new:family example" writes; test/families/fixture.ts says what each field is`,
  );
  const { default: fixture }: { default: FamilyFixture } = await import(file.href);
  assert.equal(fixture.family, id);
  return fixture;
}

function openFor(t: Scope, fixture: FamilyFixture, operation: Operation): Promise<Setup> {
  const model = fixture.models?.[operation];
  return openSetup(t, withChat(fixture), {
    // What is tried again is no matter of a family, and each pause before it takes its time.
    model: { operations: [operation], retry: { same_target: 0 } },
    target: model === undefined ? {} : { model },
  });
}

const isGood = ({ wire, answer = {} }: Pair): boolean =>
  [answer, ...wire.map(({ reply }) => reply)].every(({ status }) => status === undefined || status === 200);

async function replay(setup: Setup, { route, ask, headers, wire, answer = {} }: Pair): Promise<void> {
  assert.ok('body' in answer || wire.length === 1, 'one reply passes, or the answer is said');
  const body = 'body' in answer ? answer.body : wire[0]?.reply.body;
  const open = [...wire];
  const made = new Map<unknown, WireCall>();
  setup.answerWith((call) => {
    // Calls of one request are simultaneous, and may arrive in any order.
    const index = open.findIndex((one) => one.path === call.path && isSame(call, one.body));
    const [next] = open.splice(Math.max(0, index), 1);
    if (next === undefined) return { status: 500, body: 'one call too many' };
    made.set(next, call);
    return next.reply;
  });
  const { status, text, json, header } = await setup.ask(route, ask, headers);
  for (const [index, entry] of wire.entries()) {
    const { path, body: sent, headers: wanted = {} } = entry;
    const call = made.get(entry);
    assert.ok(call !== undefined, `call ${index + 1} was not made; the answer: ${status} ${text}`);
    assert.equal(call.path, path);
    if (typeof sent === 'string') assert.equal(call.text, sent);
    else assert.deepEqual(call.body, sent);
    for (const [name, value] of Object.entries(wanted)) assert.equal(call.header(name) ?? null, value, name);
  }
  assert.equal(setup.calls.length, wire.length);
  assert.equal(status, answer.status ?? 200, text);
  for (const [name, value] of Object.entries(answer.headers ?? {})) assert.equal(header(name) ?? null, value, name);
  // What holds the ID of the exchange is another each time.
  const isMade = header('x-postern-translated') !== undefined;
  const expected = toText(isMade ? withId(body) : body).replaceAll('{exchange}', header('x-request-id') ?? '');
  if (typeof body === 'string') assert.equal(text, expected);
  else assert.deepEqual(json, JSON.parse(expected));
}

const vectors = z.looseObject({ object: z.literal('list'), data: z.array(z.unknown()), id: z.undefined().optional() });
const writtenVectors = '{"object":"list","data":';

/** Embeddings made here have an ID of the gateway's if the pair has none. */
function withId(body: unknown): unknown {
  if (typeof body === 'string') {
    return body.startsWith(writtenVectors) ? `{"id":"embd-{exchange}",${body.slice(1)}` : body;
  }
  return vectors.safeParse(body).success ? { ...Object(body), id: 'embd-{exchange}' } : body;
}

function isSame(call: WireCall, body: unknown): boolean {
  return typeof body === 'string' ? call.text === body : isDeepStrictEqual(call.body, body);
}
