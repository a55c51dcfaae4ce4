/** Embeddings for clients of Voyage AI, Jina AI and Mistral, whose wire is OpenAI's but for some names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAnswer, oddVector, startClientApis } from '../support/gateways/client-apis.ts';
import { startTranslated } from '../support/gateways/translated.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const paths = {
  voyage: '/voyage/v1/embeddings',
  jina: '/jina/v1/embeddings',
  mistral: '/mistral/v1/embeddings',
} as const;

const item = (index: number, vector = oddVector): string =>
  `{"object":"embedding","embedding":${vector},"index":${index}}`;

test("Voyage, Jina and Mistral clients get every field they read, and vectors keep the upstream's digits", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const [model, tokens] of [
    ['direct', 5],
    ['translated', 7],
  ] as const) {
    const both = [item(0), item(1)].join(',');
    for (const [path, answered] of [
      [paths.voyage, `{"object":"list","data":[${both}],"model":"${model}","usage":{"total_tokens":${tokens}}}`],
      [
        paths.jina,
        `{"model":"${model}","object":"list","usage":{"total_tokens":${tokens},"prompt_tokens":${tokens}},"data":[${both}]}`,
      ],
      [
        paths.mistral,
        `{"id":"ID","object":"list","data":[${both}],"model":"${model}","usage":{"prompt_tokens":${tokens},"completion_tokens":0,"total_tokens":${tokens}}}`,
      ],
    ] as const) {
      const answer = await rig.post(path, { model, input: ['a', 'b'], output_dtype: null });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.body.toString().replace(/"id":"[^"]+"/, '"id":"ID"'), answered);
      const { body } = await asked();
      assert.deepEqual(body.input ?? body.texts, ['a', 'b']);
      assert.deepEqual(
        Object.keys(body).filter((name) => body[name] === null),
        [],
      );
    }
  }
});

test("dimensions and input type are sent under the upstream's field names", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const [path, body] of [
    [paths.voyage, { input_type: 'query', output_dimension: 4, truncation: true }],
    [paths.jina, { task: 'retrieval.query', dimensions: 4, normalized: true }],
  ] as const) {
    const direct = await rig.post(path, { model: 'direct', input: 'a', ...body });
    assert.equal(direct.status, 200, direct.body.toString());
    assert.deepEqual((await asked()).body, { model: 'real', input: ['a'], dimensions: 4, encoding_format: 'float' });
    const answer = await rig.post(path, { model: 'translated', input: 'a', ...body });
    assert.equal(answer.header('x-postern-ignored'), path === paths.jina ? 'normalized' : 'truncation');
    const { input_type, output_dimension } = (await asked()).body;
    assert.deepEqual([input_type, output_dimension], ['search_query', 4]);
  }
  await rig.post(paths.mistral, { model: 'direct', input: 'a', output_dimension: 4, metadata: { a: 1 } });
  assert.deepEqual((await asked()).body, { model: 'real', input: ['a'], dimensions: 4, encoding_format: 'float' });
  assertAnswer(
    await rig.post(paths.jina, { model: 'direct', input: [{ text: 'a' }], encoding_type: 'float' }),
    /"embedding":\[0\.10, -8e-3/,
  );
  assert.deepEqual((await asked()).body.input, ['a']);
});

test('int8 and binary embeddings come only from upstreams that support them, as list or base64', async (t) => {
  const { rig, asked } = await startClientApis(t);
  const list = await rig.post(paths.voyage, { model: 'translated', input: ['a'], output_dtype: 'int8' });
  assertAnswer(list, /"embedding":\[1,-128,127,0\]/);
  assert.deepEqual((await asked()).body.embedding_types, ['int8']);
  const packed = { model: 'translated', input: ['a'], output_dtype: 'int8', encoding_format: 'base64' };
  assertAnswer(await rig.post(paths.voyage, packed), /"embedding":"AYB\/AA=="/);
  await asked();
  assertAnswer(
    await rig.post(paths.jina, { model: 'translated', input: ['a'], embedding_type: ['ubinary'] }),
    /"embedding":\[1,-128,127,0\]/,
  );
  assert.deepEqual((await asked()).body.embedding_types, ['ubinary']);
  const floats = await rig.post(paths.mistral, { model: 'direct', input: ['a'], encoding_format: 'base64' });
  assertAnswer(floats, /"embedding":"[A-Za-z0-9+/]{22}=="/);
});

test('an upstream with the same API gets every field unchanged', async (t) => {
  const made: Handler = (_request, reply) =>
    reply.json(200, { data: [{ index: 0, embedding: [0.5] }], usage: { total_tokens: 3 } });
  for (const [family, path, body, sent] of [
    [
      'voyage',
      paths.voyage,
      { input_type: 'document', truncation: false, output_dimension: 1 },
      { input_type: 'document', truncation: false, output_dimension: 1 },
    ],
    [
      'jina',
      paths.jina,
      { task: 'text-matching', late_chunking: true, normalized: false, truncate: true },
      { task: 'text-matching', late_chunking: true, normalized: false, truncate: true },
    ],
    ['jina', paths.jina, { task: 'separation' }, { task: 'separation' }],
    ['mistral', paths.mistral, { output_dimension: 1, metadata: { a: 1 } }, { output_dimension: 1 }],
  ] as const) {
    const { rig, upstream } = await startTranslated(t, made, { family, model: { operations: ['embeddings'] } });
    const answer = await rig.post(path, { model: 'm', input: ['a'], ...body });
    assert.equal(answer.status, 200, answer.body.toString());
    const asked = JSON.parse((await upstream.nextRequest()).body.toString());
    for (const [name, value] of Object.entries(sent)) assert.deepEqual(asked[name], value, `${family}: ${name}`);
  }
});

test("unsupported requests are refused by name in the client API's shape, without a call", async (t) => {
  const { rig, upstream } = await startClientApis(t);
  for (const [path, body, expected] of [
    [paths.voyage, { input: 7 }, /"input" must be/],
    [paths.voyage, {}, /"input" is missing/],
    [paths.voyage, { input: 'a', output_dtype: 'int8' }, /"output_dtype".*makes int8/],
    [paths.voyage, { input: 'a', output_dtype: 'int4' }, /"output_dtype".*one of float, int8/],
    [paths.voyage, { input: 'a', encoding_format: 'float' }, /"encoding_format"/],
    [paths.voyage, { input: 'a', truncation: false }, /"truncation"/],
    [paths.jina, { input: 'a', late_chunking: true }, /"late_chunking"/],
    [paths.jina, { input: 'a', embedding_type: ['float', 'binary'] }, /"embedding_type"/],
    [paths.jina, { input: [{ image: 'u' }] }, /input/],
    [paths.mistral, { input: 'a', output_dtype: 'binary' }, /"output_dtype".*makes binary/],
    [paths.mistral, { input: 'a', encoding_format: 'hex' }, /"encoding_format"/],
  ] as const) {
    const refused = await rig.post(path, { model: 'translated', ...body });
    // Cohere makes all kinds of numbers.
    const answer = refused.status === 200 ? await rig.post(path, { model: 'direct', ...body }) : refused;
    assert.equal(answer.status, 400, JSON.stringify(body));
    const { detail, message } = answer.json() as { detail?: string; message?: string };
    assert.match(path === paths.mistral ? (message ?? '') : (detail ?? ''), expected);
  }
  assert.equal(upstream.requests.filter(({ path }) => path !== '/v2/embed').length, 0);
});

test("chat and moderations are also under Mistral's prefix, with its error shape", async (t) => {
  const { rig, asked } = await startClientApis(t, (_request, reply) => reply.json(200, { choices: [] }), {
    models: [{ id: 'talker', operations: ['chat'], targets: [{ upstream: 'openai', model: 'real' }] }],
  });
  const messages = [{ role: 'user', content: 'x' }];
  assertAnswer(await rig.post('/mistral/v1/chat/completions', { model: 'talker', messages }), '{"choices":[]}');
  assert.deepEqual((await asked()).body, { model: 'real', messages });
  const refused = await rig.post('/mistral/v1/moderations', { model: 'nobody', input: 'x' });
  assert.deepEqual([refused.status, Object.keys(refused.json() as object)[0]], [404, 'object']);
});
