/** Clients of Hugging Face's inference at their client API, on the paths that its own router has. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAnswer, assertRefusal, oddVector, startClientApis } from '../support/gateways/client-apis.ts';

const paths = (task: string, model: string): readonly string[] => [
  `/hf/models/${model}/pipeline/${task}`,
  `/hf/hf-inference/models/${model}/pipeline/${task}`,
  `/hf/pipeline/${task}/${model}`,
];

test("features are bare lists in the upstream's digits, with the model in path or body", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const [model, tokens] of [
    ['direct', 5],
    ['translated', 7],
  ] as const) {
    for (const path of [
      ...paths('feature-extraction', model),
      `/hf/models/${model}`,
      `/hf/hf-inference/models/${model}`,
    ]) {
      const answer = await rig.post(path, { inputs: ['a', 'b'], normalize: true, options: { wait_for_model: true } });
      assertAnswer(answer, `[${oddVector},${oddVector}]`);
      const { body } = await asked();
      assert.deepEqual([body.model, body.input ?? body.texts], ['real', ['a', 'b']], path);
      assert.equal((await rig.exchange(rig.settled.length)).usage?.promptTokens, tokens);
    }
  }
});

test('a model name with a slash is in the path as it is', async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const snapshot = await rig.compile({
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-secret' }],
    models: [{ id: 'BAAI/bge-m3', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
  });
  assert.deepEqual(rig.app.swap(snapshot), []);
  for (const path of paths('feature-extraction', 'BAAI/bge-m3')) {
    assertAnswer(await rig.post(path, { inputs: 'a' }), `[${oddVector}]`);
  }
});

test('sentence similarity takes one embeddings call, and text ranking returns a plain list', async (t) => {
  const { rig, asked } = await startClientApis(t, ({ path }, reply) =>
    path.endsWith('/rerank')
      ? reply.json(200, { results: [{ index: 0, relevance_score: 0.5 }] })
      : reply.json(200, {
          data: [
            { index: 0, embedding: [3, 4] },
            { index: 1, embedding: [0, 5] },
          ],
        }),
  );
  const inputs = { source_sentence: 'a', sentences: ['b'] };
  for (const path of [...paths('sentence-similarity', 'direct'), '/hf/models/direct']) {
    assertAnswer(await rig.post(path, { inputs, parameters: {} }), '[0.8]');
    assert.deepEqual((await asked()).body, { model: 'real', input: ['a', 'b'], encoding_format: 'float' });
  }
  for (const path of paths('text-ranking', 'ranker')) {
    const answer = await rig.post(path, { query: 'q', texts: ['a'], return_text: true });
    assertAnswer(answer, '[{"index":0,"score":0.5,"text":"a"}]');
    assert.deepEqual((await asked()).body, { model: 'real', query: 'q', documents: ['a'] });
  }
});

test("unsupported requests are refused in Hugging Face's shape", async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const path = '/hf/models/direct/pipeline/feature-extraction';
  for (const [body, expected] of [
    [{}, /"inputs" is missing/],
    [{ inputs: [1] }, /"inputs" must be a string or an array of strings/],
    [{ inputs: 'a', prompt_name: 'query' }, /"prompt_name"/],
    [{ inputs: 'a', truncate: false }, /"truncate".*"direct"/],
  ] as const) {
    const answer = await rig.post(path, body);
    assert.equal(answer.status, 400);
    assert.deepEqual(Object.keys(answer.json() as object), ['error']);
    assert.match(answer.body.toString().replaceAll('\\', ''), expected);
  }
  assertRefusal(await rig.post('/hf/models/hidden', { inputs: 'a' }), 404, {
    error: 'The model "hidden" does not exist; GET /v1/models lists the available ones.',
  });
  assert.equal((await rig.post(path, { inputs: 'a' }, { headers: [] })).status, 401);
  assert.equal(upstream.requests.length, 0);
});
