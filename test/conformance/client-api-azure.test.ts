/** Clients of Azure OpenAI: the deployment in the path is the model, the version in the query is judged and goes no further. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { isOpenai } from '../../src/core/label.ts';
import { routes } from '../../src/routes/index.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { formType, formWith, toForm } from '../support/clients/forms.ts';
import { assertAnswer, oddVector, startClientApis } from '../support/gateways/client-apis.ts';
import { testKey } from '../support/gateways/rig.ts';

const byApiKey: [string, string][] = [['api-key', testKey]];

test("the path names the model, the body's model is ignored, and no other byte changes", async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const rows = [
    ['{ "input":["a"], "model": "other", "user":1e1 }', '{ "input":["a"], "model": "real", "user":1e1 }'],
    ['{ "input":["a"] }', '{"model":"real", "input":["a"] }'],
  ] as const;
  for (const [sent, wanted] of rows) {
    const path = '/openai/deployments/direct/embeddings?api-version=2024-10-21';
    const answer = await rig.post(path, sent, { headers: byApiKey });
    assertAnswer(answer, new RegExp(RegExp.escape(oddVector)));
    const { path: asked, body } = await upstream.nextRequest();
    assert.deepEqual([asked, body.toString()], ['/embeddings', wanted]);
  }
  const translated = await rig.post('/openai/deployments/translated/embeddings?api-version=preview', '{"input":"a"}');
  assertAnswer(translated, new RegExp(RegExp.escape(oddVector)));
  assert.equal(translated.header('x-postern-translated'), 'cohere');
});

test('the model in the path overrides that of a form', async (t) => {
  const { rig, upstream } = await startClientApis(t, (_request, reply) => reply.json(200, { text: 'hello' }), {
    models: [{ id: 'ears', operations: ['transcriptions'], targets: [{ upstream: 'openai', model: 'real' }] }],
  });
  const sound = { name: 'file', value: 'ID3', filename: 'a.mp3' };
  for (const model of ['other', 'ears']) {
    const path = '/openai/deployments/ears/audio/transcriptions?api-version=2024-10-21';
    const answer = await rig.post(path, formWith({ model }, sound), {
      headers: [...byApiKey, ['content-type', formType]],
    });
    assert.equal(answer.status, 200, answer.body.toString());
    const { path: asked, body } = await upstream.nextRequest();
    assert.deepEqual(
      [asked, body.toString()],
      ['/audio/transcriptions', formWith({ model: 'real' }, sound).toString()],
    );
  }
});

test('a form may omit the model, and gets it if the upstream needs it', async (t) => {
  const { rig, upstream } = await startClientApis(t, (_request, reply) => reply.json(200, { text: 'hello' }), {
    models: [{ id: 'ears', operations: ['transcriptions'], targets: [{ upstream: 'openai', model: 'real' }] }],
  });
  const sound = { name: 'file', value: 'ID3', filename: 'a.mp3' };
  const asked = formWith({ language: 'en' }, sound);
  const post = (path: string, form: Buffer) =>
    rig.post(path, form, { headers: [...byApiKey, ['content-type', formType]] });
  const path = '/openai/deployments/ears/audio/transcriptions?api-version=2024-10-21';
  const wanted = toForm([{ name: 'model', value: 'real' }, sound, { name: 'language', value: 'en' }]).toString();
  for (const lead of ['', '\r\n']) {
    const answer = await post(path, Buffer.concat([Buffer.from(lead), asked]));
    assert.equal(answer.status, 200, answer.body.toString());
    const { body } = await upstream.nextRequest();
    assert.equal(body.toString(), lead + wanted);
  }
  assertError(await post('/openai/v1/audio/transcriptions', asked), 'missing_required_parameter', { param: 'model' });
  const folded = formWith({ Model: 'ears' }, sound);
  assertError(await post(path, folded), 'invalid_type', { param: 'model' });
  const twice = toForm([sound, { name: 'model', value: 'a' }, { name: 'model', value: 'b' }]);
  assertError(await post(path, twice), 'duplicate_parameter', { param: 'model' });
});

test("paths without a deployment use the body's model", async (t) => {
  const { rig } = await startClientApis(t);
  for (const path of ['/openai/v1/embeddings', '/openai/embeddings?api-version=2025-01-01-preview']) {
    assertAnswer(await rig.post(path, { model: 'direct', input: 'a' }), new RegExp(RegExp.escape(oddVector)));
  }
  const listed = (await rig.get('/openai/models?api-version=2024-10-21')).json() as { data: { id: string }[] };
  assert.deepEqual(
    listed.data.map(({ id }) => id),
    ['direct', 'translated', 'words', 'ranker'],
  );
  assert.equal((await rig.get('/openai/v1/models/direct')).status, 200);
});

test('every OpenAI operation has an Azure path, except legacy ones', () => {
  for (const { path, label, clientApiPaths = {} } of routes.filter(({ entry }) => entry === undefined)) {
    const rest = path.slice('/v1/'.length);
    assert.equal(`/openai/deployments/{model}/${rest}` in clientApiPaths, isOpenai(label), path);
  }
});

test('an invalid version or deployment is refused', async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const post = (path: string, body: unknown = { input: 'a' }) => rig.post(`/openai/deployments/${path}`, body);
  for (const query of ['api-version=', 'api-version=a%20b', 'api-version=1&api-version=2', 'api-version=%00']) {
    assertError(await post(`direct/embeddings?${query}`), 'unsupported_parameter', { param: 'api-version' });
  }
  assertError(await post('nobody/embeddings'), 'model_not_found', { param: 'model' });
  assertError(await post('hidden/embeddings'), 'model_not_found', { param: 'model' });
  assertError(await post('words/embeddings'), 'operation_not_supported', { param: 'model' });
  assertError(await post('direct/embeddings', {}), 'missing_required_parameter', { param: 'input' });
  assertError(await post('direct/nowhere'), 'route_not_found');
  assert.equal(upstream.requests.length, 0);
});
