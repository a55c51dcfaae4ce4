import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertFaults, faultsOf, loaded } from '../../../../test/support/gateways/configuration.ts';
import { openaiRoutes } from '../../../../test/support/gateways/openai-routes.ts';
import { defineFamily, type Family } from '../../../core/family.ts';
import { isJsonObject, writeJson } from '../../../lib/json/json-text.ts';

const translation = {
  ask() {
    throw new TypeError('nobody asks');
  },
};

const talker = defineFamily({
  id: 'talker',
  title: 'A service that speaks chat, and one operation in its own way',
  baseUrl: 'https://h.test',
  chat: '/chat',
  bridges: ({ tone = 'calm' }) => ({
    chat: { openai: { completions: { path: `/chat/${tone}/{tone}`, translation, translatedBy: 'chat' } } },
    guard: { openai: { moderations: { path: '/chat', translation } } },
  }),
  options: { tone: { description: 'How it speaks.', default: 'loud' } },
  offers: { openai: { rerank: { path: '/rerank', translation }, embeddings: { path: '/embed' } } },
});

const mute = defineFamily({
  id: 'mute',
  title: 'A service of bytes',
  baseUrl: 'https://h.test',
  offers: { openai: { embeddings: { path: '/embed', perilOfTokenIds: 'it falls silent' } } },
});
const families: readonly Family[] = [talker, mute];

const textOf = (target: string, model = '', upstream = 'family: talker'): string =>
  `upstreams: [{ id: a, ${upstream} }]\nmodels: [{ id: m, targets: [{ upstream: a${target} }]${model} }]`;

async function targetOf(t: TestContext, ...texts: Parameters<typeof textOf>) {
  const { snapshot, warnings } = await loaded(t, textOf(...texts), { families });
  const [model] = snapshot.models.all;
  assert.ok(model);
  return { target: model.targets[0], model, warnings };
}

test("a target without settings offers what its upstream offers, with the family's defaults", async (t) => {
  const { target, model, warnings } = await targetOf(t, '');
  assert.equal(target.offers, target.upstream.offers);
  assert.deepEqual([target.unsupported, target.tokenIds, Object.keys(target.defaults)], [undefined, 'decode', []]);
  assert.deepEqual(model.operations, ['rerank', 'embeddings']);
  assert.equal(target.upstream.answerLimitBytes, 64 * 1024 * 1024);
  assert.equal(
    warnings.some((warning) => warning.includes('defaults')),
    false,
  );
});

test('warns of token_ids: pass for an upstream that answers unknown token IDs with more than an error', async (t) => {
  const warningsOf = async (family: string, tokenIds: string) =>
    (await targetOf(t, `, token_ids: ${tokenIds}`, '', `family: ${family}`)).warnings.filter((text) =>
      text.includes('token_ids'),
    );
  assert.deepEqual(await warningsOf('mute', 'pass'), [
    "models[0].targets[0].token_ids: pass lets clients send any number for a token ID, and it falls silent; leave it out, unless every client knows the model's own vocabulary",
  ]);
  assert.deepEqual(await warningsOf('mute', 'decode'), []);
  assert.deepEqual(await warningsOf('talker', 'pass'), []);
});

test("a bridge replaces the family's operations, and its paths are filled with the upstream's options", async (t) => {
  const { target, model } = await targetOf(t, ', bridge: chat');
  assert.deepEqual([...target.offers.keys()], ['openai completions']);
  assert.equal(target.offers.get('openai completions')?.path, '/chat/loud/loud');
  assert.deepEqual(model.operations, ['completions']);
  const guard = await targetOf(t, ', bridge: guard', '', 'family: talker, options: { tone: soft }');
  assert.deepEqual(guard.model.operations, ['moderations']);
});

test('an unknown bridge setting is a fault that names it', async (t) => {
  for (const [bridge, family, error] of [
    ['chta', 'talker', /unknown bridge "chta"; did you mean chat\?/],
    ['zzz', 'talker', /unknown bridge "zzz"; known are chat, guard/],
    ['__proto__', 'talker', /unknown bridge "__proto__"; known are/],
    ['constructor', 'talker', /unknown bridge "constructor"; known are/],
    ['chat', 'mute', /family mute speaks no chat, so there is nothing to bridge to; leave this out/],
  ] as const) {
    const [fault, ...others] = await faultsOf(t, textOf(`, bridge: "${bridge}"`, '', `family: ${family}`), {
      families,
    });
    assert.deepEqual([fault?.path, others], ['models[0].targets[0].bridge', []]);
    assert.match(String(fault?.message), error);
  }
});

test('default parameters of a target are stored as they will be sent, without nulls', async (t) => {
  const { target } = await targetOf(t, ', defaults: { a: 1.5, b: [x, null], c: { d: true }, e: null, constructor: 2 }');
  assert.ok(isJsonObject(target.defaults));
  assert.equal(writeJson(target.defaults).toString(), '{"a":1.5,"b":["x",null],"c":{"d":true},"constructor":2}');
  assert.ok(Object.isFrozen(target.defaults));
});

/** Required fields of the routes. */
const required = new Set(openaiRoutes.flatMap((route) => Object.keys(route.required)));

test('a default for a mandatory request field is refused with its path and an alternative', async (t) => {
  for (const [name, error] of [
    ['model', /can have no default: leave it out, and write the upstream's name for the model in the target's model/],
    ['stream', /can have no default: leave it out; the client says whether/],
    ...['Input', 'messages', ...required].map(
      (one) => [one, /can have no default: leave it out; it is what the client asks/] as const,
    ),
  ] as const) {
    const faults = await faultsOf(t, textOf(`, defaults: { a: 1, ${name}: x }`), { families });
    assert.deepEqual(
      faults.map(({ path, line }) => [path, line]),
      [[`models[0].targets[0].defaults.${name}`, 2]],
    );
    assert.match(String(faults[0]?.message), error);
  }
  const { target } = await targetOf(t, ', defaults: { model: null, input_type: x }');
  assert.deepEqual(Object.keys(target.defaults), ['input_type']);
});

test('warns of default parameters that no request can receive', async (t) => {
  const about = async (...texts: Parameters<typeof textOf>) =>
    (await targetOf(t, ...texts)).warnings.filter((warning) => warning.includes('defaults'));
  const warned = ['models[0].targets[0].defaults has no effect, as the bytes of a request pass as they came'];
  assert.deepEqual(await about(', defaults: { a: 1 }'), []);
  assert.deepEqual(await about(', defaults: { a: 1 }', ', operations: [rerank]'), []);
  assert.deepEqual(await about(', defaults: { a: 1 }', ', operations: [embeddings]'), warned);
  assert.deepEqual(await about(', defaults: { a: 1 }', '', 'family: mute'), warned);
  assert.deepEqual(await about(', defaults: {}', '', 'family: mute'), []);
  assert.deepEqual(await about(', defaults: { a: null }', '', 'family: mute'), []);
  assert.deepEqual(await about(', defaults: { a: 1 }, bridge: chat'), []);
});

test('token_ids, unsupported, answer_limit and defaults of a target accept only valid values', async (t) => {
  const { target } = await targetOf(
    t,
    ', token_ids: o200k_base, unsupported: drop',
    '',
    'family: talker, answer_limit: 1KiB',
  );
  assert.deepEqual(
    [target.tokenIds, target.unsupported, target.upstream.answerLimitBytes],
    ['o200k_base', 'drop', 1024],
  );
  const row = (target: string, path: string, error: RegExp) => ({
    text: textOf(target, '', 'family: openai'),
    line: 2,
    path,
    error,
  });
  await assertFaults(t, [
    row(', unsupported: ignore', 'models[0].targets[0].unsupported', /wanted: one of refuse, drop/),
    row(', token_ids: gpt2', 'models[0].targets[0].token_ids', /wanted: .*decode.*pass/),
    row(', defaults: [a]', 'models[0].targets[0].defaults', /wanted: a mapping of parameters to values/),
    row(', bridge: 1', 'models[0].targets[0].bridge', /wanted: the name of a bridge/),
    ...['1023', '2GiB', '"much"', '-1'].map((limit) => ({
      text: `upstreams: [{ id: a, family: openai, answer_limit: ${limit} }]`,
      line: 1,
      path: 'upstreams[0].answer_limit',
      error: /wanted: /,
    })),
  ]);
});
