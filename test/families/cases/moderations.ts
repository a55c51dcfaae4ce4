/** Test cases of moderations at any upstream. */

import assert from 'node:assert/strict';
import OpenAI from 'openai';
import * as z from 'zod';
import { families } from '../../../src/families/index.ts';
import { openaiCategories } from '../../../src/families/wire-formats/moderations/moderation-categories.ts';
import { testKey } from '../../support/gateways/rig.ts';
import type { Setup } from '../family-setup.ts';
import { isViolent } from '../wire.ts';
import { assertRefused, longListFor } from './embeddings.ts';
import { checkHints } from './hints.ts';

const verdict = z.object({ flagged: z.boolean(), categories: z.looseObject({ violence: z.boolean() }) });
const answer = z.object({ id: z.string(), model: z.string(), results: z.array(verdict) });

const each = <T extends z.ZodType>(value: T) => z.record(z.enum(openaiCategories), value);
/** What a client with types relies on. */
const whole = z.object({
  id: z.string().regex(/^modr-./),
  model: z.string(),
  results: z.array(
    z.strictObject({
      flagged: z.boolean(),
      categories: each(z.boolean()),
      category_scores: each(z.number().min(0).max(1)),
      category_applied_input_types: each(z.array(z.literal('text'))),
      original: z.unknown(),
    }),
  ),
});

const texts = [
  'naïve café',
  'a violent 東京タワー',
  'Ωμέγα 🚀 👩‍👩‍👧',
  '\u0000\t\n"\\/ violent',
  '{"input":["x"]}',
  ' spaced ',
];

async function moderate(setup: Setup, input: unknown, more: object = {}) {
  const { status, text, json, header } = await setup.ask('/v1/moderations', { model: 'm', input, ...more });
  assert.equal(status, 200, text.slice(0, 500));
  const { results } = answer.parse(json);
  return { results, json, isTranslated: header('x-postern-translated') !== undefined };
}

function assertVerdicts(results: readonly z.output<typeof verdict>[], inputs: readonly string[]): void {
  assert.deepEqual(
    results.map(({ flagged, categories }) => [flagged, categories.violence]),
    inputs.map((input) => [isViolent(input), isViolent(input)]),
  );
}

export const moderationsCases: Readonly<Record<string, (setup: Setup) => Promise<void>>> = {
  async 'judges a text, a list of one and a list of five'(setup) {
    for (const input of ['a violent text', 'a kind text']) {
      assertVerdicts((await moderate(setup, input)).results, [input]);
      assertVerdicts((await moderate(setup, [input])).results, [input]);
    }
    const several = ['kind', 'violent', 'kind', 'violent', 'violent'];
    assertVerdicts((await moderate(setup, several)).results, several);
  },

  async 'judges texts in any script, with escapes and control characters, and survives a lone surrogate'(setup) {
    assertVerdicts((await moderate(setup, texts)).results, texts);
    // Half of a pair stands for no character; it must not break anything.
    const { status, text } = await setup.ask('/v1/moderations', '{"model":"m","input":["\\ud83d violent"]}');
    const isRefused = families.find(({ id }) => id === setup.fixture.family)?.refusesHalfCharacters === true;
    assert.equal(status, isRefused ? 400 : 200, text);
  },

  async 'judges a list of 2,048 texts (256 if each needs its own call) in input order'(setup) {
    assertVerdicts((await moderate(setup, ['kind', 'violent'])).results, ['kind', 'violent']);
    const many = Array.from(
      { length: longListFor(setup, 2) },
      (_, index) => `${index % 7 === 3 ? 'violent' : 'kind'} text ${index}`,
    );
    assertVerdicts((await moderate(setup, many)).results, many);
  },

  async "a translated answer has all of OpenAI's categories, with scores and applied input types"(setup) {
    const { json, isTranslated } = await moderate(setup, ['violent', 'kind']);
    if (!isTranslated) return;
    const [violent, kind] = whole.parse(json).results;
    assert.ok(violent !== undefined && kind !== undefined);
    assert.ok(violent.category_scores.violence > 0);
    assert.deepEqual(violent.category_applied_input_types.violence, ['text']);
    assert.ok(!Object.values(kind.categories).some(Boolean));
    for (const { original } of [violent, kind]) assert.ok(original !== undefined && original !== null);
  },

  async 'a list of content parts is judged as one input'(setup) {
    for (const [parts, expected] of [
      [['kind', 'a violent one', 'kind'], true],
      [['kind', 'kinder'], false],
    ] as const) {
      const { results } = await moderate(
        setup,
        parts.map((text) => ({ type: 'text', text })),
      );
      assert.deepEqual(
        results.map(({ flagged }) => flagged),
        [expected],
      );
    }
  },

  async 'an image is passed on unchanged or refused with 400, never dropped'(setup) {
    const image = { type: 'image_url', image_url: { url: 'https://images.test/1.png' } };
    const input = [{ type: 'text', text: 'kind' }, image];
    const { status, json, header } = await setup.ask('/v1/moderations', { model: 'm', input });
    if (status === 200 && header('x-postern-translated') === undefined) return;
    assertRefused(status, json, 'input[1]');
    assert.equal(setup.calls.length, 0);
  },

  async 'a list element that is neither text nor content part gets 400 when the request is translated'(setup) {
    // Where bytes pass, the upstream is the judge.
    if (!(await moderate(setup, 'kind')).isTranslated) return;
    for (const input of [
      ['a', null],
      ['a', 1],
      ['a', ['b']],
      ['a', { type: 'text', text: 'b' }],
      [{ type: 'text' }],
      [{ text: 'a' }],
      [{}],
    ]) {
      const { status, text } = await setup.ask('/v1/moderations', { model: 'm', input });
      assert.equal(status, 400, text);
    }
    assert.equal(setup.calls.length, 1);
  },

  async 'null parameters count as absent'(setup) {
    const { status, text, json, header } = await setup.ask('/v1/moderations', {
      model: 'm',
      input: 'violent',
      user: null,
      unheard_of: null,
    });
    if (header('x-postern-translated') === undefined && status !== 200) return;
    assert.equal(status, 200, text);
    assertVerdicts(answer.parse(json).results, ['violent']);
  },

  async 'optional fields of other services are sent upstream, or dropped and listed in x-postern-ignored'(setup) {
    await checkHints(setup, '/v1/moderations', { input: 'one' });
  },

  async 'an unknown field is sent upstream, or refused with 400 that names it'(setup) {
    const { status, json } = await setup.ask('/v1/moderations', { model: 'm', input: 'one', unheard_of: { a: [1] } });
    if (status === 200) assert.match(setup.calls.at(-1)?.text ?? '', /"unheard_of":\{"a":\[1\]\}/);
    else assertRefused(status, json, 'unheard_of');
  },

  async 'an empty list gets a success or a client error, never a server error'(setup) {
    const { status, text } = await setup.ask('/v1/moderations', { model: 'm', input: [] });
    assert.ok(status === 200 || (status >= 400 && status < 500), text);
  },

  async 'the official OpenAI client reads the verdicts'(setup) {
    const client = new OpenAI({ baseURL: `${setup.rig.url}/v1`, apiKey: testKey, maxRetries: 0 });
    const { results } = await client.moderations.create({ model: 'm', input: ['kind', 'violent'] });
    assert.deepEqual(
      results.map(({ flagged, categories, category_scores: scores }) => [
        flagged,
        categories.violence,
        scores.violence >= 0.5,
      ]),
      [
        [false, false, false],
        [true, true, true],
      ],
    );
  },
};
