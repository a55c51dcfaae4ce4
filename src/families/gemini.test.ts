import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { openSetup } from '../../test/families/family-setup.ts';
import gemini from '../../test/families/gemini.ts';
import { vectorOf } from '../../test/families/wire.ts';
import { loaded } from '../../test/support/gateways/configuration.ts';
import family from './gemini.ts';
import { families } from './index.ts';

const answer = z.object({ data: z.array(z.object({ embedding: z.array(z.number()) })) });

test('Gemini embeddings of long inputs are split into several calls of at most 4 MiB', async (t) => {
  const setup = await openSetup(t, gemini);
  // Half of the characters take twice the bytes in JSON.
  const texts = Array.from({ length: 100 }, (_, index) => `${index}${'x'.repeat(20_000)}${'"'.repeat(20_000)}`);
  const { status, text, json } = await setup.ask('/v1/embeddings', { model: 'm', input: texts });
  assert.equal(status, 200, text.slice(0, 500));
  assert.deepEqual(
    answer.parse(json).data.map(({ embedding }) => embedding),
    texts.map((one) => vectorOf(one)),
  );
  assert.equal(setup.calls.length, 2);
});

test('the base URL of a Gemini upstream may end in a version, also that of the OpenAI-compatible API', async (t) => {
  for (const end of ['', '/', '/v1beta', '/v1beta/', '/v1', '/v1beta/openai/']) {
    const text = `upstreams: [{ id: a, family: gemini, base_url: "https://g.test/x${end}" }]`;
    const { snapshot } = await loaded(t, text, { families: [family] });
    assert.equal(snapshot.upstreams.get('a')?.pathPrefix, '/x', end);
  }
});

test("a bridge to Gemini's OpenAI-compatible API sends the key as bearer token, not as x-goog-api-key", async (t) => {
  const key = 'sk-service-0123456789';
  const setup = await openSetup(t, gemini, { target: { bridge: 'chat' }, model: { operations: ['completions'] } });
  setup.answerWith(() => ({
    body: { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] },
  }));
  const { status, text } = await setup.ask('/v1/completions', { model: 'm', prompt: 'p' });
  assert.equal(status, 200, text);
  const [call] = setup.calls;
  assert.equal(call?.path, '/v1beta/openai/chat/completions');
  assert.deepEqual([call?.header('authorization'), call?.header('x-goog-api-key')], [`Bearer ${key}`, undefined]);
  setup.answerWith(() => ({ status: 400, body: { error: { message: `what is ${key}?` } } }));
  assert.doesNotMatch((await setup.ask('/v1/completions', { model: 'm', prompt: 'p' })).text, new RegExp(key));
});

test('a Gemini key is one credential with one cooldown, whichever header sends it', async (t) => {
  const text = `upstreams: [{ id: a, family: gemini, credentials: [{ api_key: first-key, weight: 3 }, { api_key: second-key }] }]
models:
  - { id: e, operations: [embeddings], space: s, targets: [{ upstream: a }] }
  - { id: c, operations: [completions], targets: [{ upstream: a, bridge: chat }] }`;
  const { snapshot } = await loaded(t, text, { families });
  const [own, bridged] = ['e', 'c'].map((id) => snapshot.models.resolve(id)?.model.targets[0].upstream);
  assert.equal(own, snapshot.upstreams.get('a'));
  assert.equal(bridged?.id, 'a');
  assert.deepEqual(
    bridged?.credentials.map(({ id, weight, fingerprint }) => ({ id, weight, fingerprint })),
    own?.credentials.map(({ id, weight, fingerprint }) => ({ id, weight, fingerprint })),
  );
  assert.deepEqual(
    [own, bridged].map((one) => one?.credentials[0].headers),
    [
      ['x-goog-api-key', 'first-key'],
      ['authorization', 'Bearer first-key'],
    ],
  );
});

test('a Gemini model name with path characters is sent percent-encoded within its path segment', async (t) => {
  for (const model of ['models/../../v1/files', 'a?b#c', 'x:generateContent']) {
    const setup = await openSetup(t, gemini, { target: { model } });
    const { status } = await setup.ask('/v1/embeddings', { model: 'm', input: 'a' });
    assert.equal(status, 404);
    assert.match(setup.calls[0]?.path ?? '', /^\/v1beta\/models\/[^/?#:]+:embedContent$/);
  }
});
