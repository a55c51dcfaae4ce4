/** Clients of Text Embeddings Inference at their client API, with the model in the path, in the body, or the standard one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAnswer, assertRefusal, embedder, oddVector, startClientApis } from '../support/gateways/client-apis.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

test("embed returns bare lists in the upstream's digits, with the model in path or header", async (t) => {
  const { rig, asked } = await startClientApis(t, embedder, { default_model: { embeddings: 'translated' } });
  const rows = [
    ['/tei/direct/embed', {}, 'real', 5],
    ['/tei/translated/embed', { model: 'nobody' }, 'real', 7],
    ['/tei/embed', { model: 'direct' }, 'real', 5],
    ['/embed', {}, 'real', 7],
    ['/embed', { model: null, dimensions: null, truncate: null, normalize: null, prompt_name: null }, 'real', 7],
  ] as const;
  for (const [path, more, model, tokens] of rows) {
    const answer = await rig.post(path, { inputs: ['a', 'b'], truncate: true, normalize: false, ...more });
    assertAnswer(answer, `[${oddVector},${oddVector}]`);
    assert.equal(answer.header('x-compute-tokens'), String(tokens));
    const { body } = await asked();
    assert.deepEqual([body.model, body.input ?? body.texts], [model, ['a', 'b']], path);
    assert.equal((await rig.exchange(rig.settled.length)).usage?.promptTokens, tokens);
  }
  assertAnswer(await rig.post('/tei/direct/embed', { inputs: 'a', dimensions: 4 }), `[${oddVector}]`);
});

const pair = { source_sentence: 'a', sentences: ['b', 'c'] };

test('similarity is the cosine of embeddings from one call, for vectors of any length', async (t) => {
  const { rig, asked } = await startClientApis(t, (_request, reply) =>
    reply.json(200, {
      data: [
        { index: 2, embedding: [0, 5] },
        { index: 0, embedding: [3, 4] },
        { index: 1, embedding: [6, 8] },
      ],
      usage: { prompt_tokens: 9, total_tokens: 9 },
    }),
  );
  for (const path of ['/tei/direct/similarity', '/tei/direct']) {
    const answer = await rig.post(path, { inputs: pair, parameters: { truncate: null } });
    assertAnswer(answer, '[1,0.8]');
    assert.equal(answer.header('x-compute-tokens'), '9');
    assert.deepEqual((await asked()).body, { model: 'real', input: ['a', 'b', 'c'], encoding_format: 'float' });
    assert.equal((await rig.exchange(rig.settled.length)).usage?.promptTokens, 9);
  }
  const uneven = await startClientApis(t, (_request, reply) =>
    reply.json(200, { data: [1, 2, 3].map((length, index) => ({ index, embedding: Array(length).fill(1) })) }),
  );
  assert.equal((await uneven.rig.post('/tei/direct', { inputs: pair })).status, 502);
});

test('the root path of a model embeds', async (t) => {
  const { rig } = await startClientApis(t, embedder, { default_model: { embeddings: 'direct' } });
  for (const path of ['/tei/direct', '/tei/translated/', '/tei']) {
    assertAnswer(await rig.post(path, { inputs: ['a', 'b'] }), `[${oddVector},${oddVector}]`);
  }
});

const judges = {
  models: [{ id: 'judge', operations: ['moderations'], targets: [{ upstream: 'openai', model: 'real' }] }],
};

test('predict returns moderation categories as labels, highest score first, in their digits', async (t) => {
  const { rig, asked } = await startClientApis(
    t,
    (request, reply) => {
      const { input } = JSON.parse(request.body.toString()) as { input: string[] };
      const result = '{"flagged":false,"categories":{},"category_scores":{"a":0.10,"b":9e-1,"c":null}}';
      reply.bytes(200, [['content-type', 'application/json']], `{"id":"m","results":[${input.map(() => result)}]}`);
    },
    judges,
  );
  const labels = '[{"label":"b","score":9e-1},{"label":"a","score":0.10}]';
  assertAnswer(await rig.post('/tei/judge/predict', { inputs: 'x', truncate: true }), labels);
  assert.deepEqual((await asked()).body, { model: 'real', input: ['x'] });
  assertAnswer(await rig.post('/tei/judge/predict', { inputs: [['x'], ['y']] }), `[${labels},${labels}]`);
  assert.deepEqual((await asked()).body, { model: 'real', input: ['x', 'y'] });
  assertAnswer(await rig.post('/predict', { model: 'judge', inputs: [] }), '[]');
  const refused: readonly (readonly [body: object, expected: RegExp])[] = [
    [{ inputs: ['a', 'b'] }, /inputs.* cannot be served.*a pair/],
    [{ inputs: [['a', 'b']] }, /inputs.* cannot be served.*a pair/],
    [{ inputs: 'a', raw_scores: true }, /raw_scores/],
    [{ inputs: 'a', truncate: false }, /truncate/],
  ];
  for (const [body, expected] of refused) {
    const answer = await rig.post('/tei/judge/predict', body);
    assert.equal(answer.status, 400);
    assert.match(answer.body.toString(), expected);
  }
});

test('with encoding_format base64, embed returns one string per text', async (t) => {
  const { rig } = await startClientApis(t);
  const base64 = Buffer.from(new Float32Array([0.1, -8e-3, 1, 0.12345678901234568]).buffer).toString('base64');
  const answer = await rig.post('/tei/translated/embed', { inputs: ['a'], encoding_format: 'base64' });
  assertAnswer(answer, `["${base64}"]`);
});

test("unsupported requests are refused in TEI's shape", async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const rows: readonly (readonly [path: string, body: unknown, status: number, expected: RegExp])[] = [
    ['/tei/direct/embed', { inputs: [1, 2] }, 400, /"inputs" must be a string or an array of strings/],
    ['/tei/direct/embed', { inputs: [['a']] }, 400, /"inputs"/],
    ['/tei/direct/embed', {}, 400, /"inputs" is missing/],
    ['/tei/direct/embed', { inputs: 'a', prompt_name: 'query' }, 400, /"prompt_name"/],
    ['/tei/direct/embed', { inputs: 'a', truncate: false }, 400, /"truncate".*"direct"/],
    ['/tei/direct/embed', { inputs: 'a', encoding_format: 'int8' }, 400, /"encoding_format"/],
    ['/tei/direct/embed_all', { inputs: 'a' }, 400, /each token/],
    ['/embed_all', { inputs: 'a' }, 400, /"model" is missing/],
    ['/embed_sparse', { inputs: 'a', model: 'direct' }, 400, /each token/],
    ['/embed', { inputs: 'a' }, 400, /"model" is missing/],
    ['/tei/hidden/embed', { inputs: 'a' }, 404, /"hidden" does not exist/],
    ['/tei/ranker/embed', { inputs: 'a' }, 400, /does not serve embeddings/],
    ['/tei/nowhere', { inputs: 'a' }, 404, /"nowhere" does not exist/],
    ['/tei/direct/similarity', { inputs: 'a' }, 400, /"inputs" must be an object/],
    ['/tei/direct/similarity', { inputs: { sentences: ['a'] } }, 400, /"inputs.source_sentence" must be a string/],
    ['/tei/direct/similarity', { inputs: { source_sentence: 'a', sentences: [] } }, 400, /"inputs.sentences" must be/],
    ['/tei/direct/similarity', { inputs: { source_sentence: 'a', sentences: [1] } }, 400, /"inputs.sentences" must be/],
    ['/tei/direct', { inputs: pair, parameters: { truncate: false } }, 400, /"truncate".*"direct"/],
    ['/tei/direct', { inputs: pair, parameters: { prompt_name: 'query' } }, 400, /"prompt_name"/],
    ['/tei/direct/predict', { inputs: 'a' }, 400, /does not serve moderations/],
    ['/tei/direct/rerank', { query: 'q' }, 400, /"documents" is missing/],
  ];
  for (const [path, body, status, expected] of rows) {
    const answer = await rig.post(path, body);
    const shown = `${path} ${JSON.stringify(body)}: ${answer.body}`;
    assert.equal(answer.status, status, shown);
    const said = answer.json() as { error: string; error_type: string };
    assert.deepEqual([Object.keys(said), said.error_type], [['error', 'error_type'], 'Validation'], shown);
    assert.match(said.error, expected, shown);
  }
  assert.equal(upstream.requests.length, 0);
  for (const [status, type] of [
    [429, 'Overloaded'],
    [503, 'Unhealthy'],
    [500, 'Backend'],
  ] as const) {
    const failing = await startClientApis(t, (_request, reply) => reply.json(status, { error: { message: 'no' } }));
    const answer = await failing.rig.post('/tei/direct/embed', { inputs: 'a' });
    assertRefusal(answer, status, { error: 'no', error_type: type });
  }
  assert.equal((await rig.post('/tei/direct/embed', { inputs: 'a' }, { headers: [] })).status, 401);
});

test('rerank under the prefix takes texts and returns a bare list', async (t) => {
  const { rig, asked } = await startClientApis(t, (_request, reply) =>
    reply.json(200, { results: [{ index: 0, relevance_score: 0.5 }] }),
  );
  for (const [path, model] of [
    ['/tei/ranker/rerank', undefined],
    ['/tei/rerank', 'ranker'],
  ]) {
    const answer = await rig.post(path ?? '', { model, query: 'q', texts: ['a'], return_text: true });
    assertAnswer(answer, '[{"index":0,"score":0.5,"text":"a"}]');
    assert.deepEqual((await asked()).body, { model: 'real', query: 'q', documents: ['a'] });
  }
  assertRefusal(await rig.post('/tei/nobody/rerank', { query: 'q', texts: ['a'] }), 404, {
    error: 'The model "nobody" does not exist; GET /v1/models lists the available ones.',
    error_type: 'Validation',
  });
});

test('info describes the requested model, to keys that may see it', async (t) => {
  const { rig } = await startClientApis(t, embedder, { default_model: { embeddings: 'direct' } });
  const info = async (path: string) => (await rig.get(path)).json() as Record<string, unknown>;
  const standard = await info('/info');
  const required = ['model_dtype', 'max_concurrent_requests', 'max_input_length', 'max_batch_tokens', 'version'];
  for (const name of required) assert.ok(name in standard, name);
  assert.deepEqual([standard.model_id, standard.model_type], ['direct', { embedding: { pooling: 'mean' } }]);
  assert.deepEqual((await info('/tei/ranker/info')).served_model_name, 'ranker');
  assert.equal((await rig.get('/tei/hidden/info')).status, 404);
  assert.equal((await rig.get('/info', { headers: [] })).status, 401);
  const none = await startClientApis(t);
  assert.equal((await none.rig.get('/tei/info')).status, 400);
});

test('truncate: false and prompt_name pass unchanged to a TEI upstream', async (t) => {
  const up = await startFakeUpstream();
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'tei', family: 'tei', base_url: up.url }],
    models: [{ id: 'm', operations: ['embeddings', 'moderations'], targets: [{ upstream: 'tei' }] }],
  });
  up.respondWith((_request, reply) => reply.json(200, [[0.5]], [['X-Compute-Tokens', '7']]));
  const whole = { inputs: ['a', 'b'], truncate: false };
  for (const [path, sentTo, body] of [
    ['/tei/m/embed', '/embed', whole],
    ['/tei/m', '/embed', whole],
    ['/tei/m/embed', '/embed', { inputs: ['a', 'b'], prompt_name: 'query' }],
    ['/tei/m/predict', '/predict', { inputs: [['a'], ['b']], truncate: false }],
  ] as const) {
    assertAnswer(await rig.post(path, body), '[[0.5]]');
    const sent = await up.nextRequest();
    assert.deepEqual([sent.path, sent.body.toString()], [sentTo, JSON.stringify(body)]);
    const { usage, estimate } = await rig.exchange(rig.settled.length);
    assert.deepEqual([usage?.promptTokens, estimate?.items], [7, 2]);
  }
  up.respondWith((_request, reply) => reply.json(200, { data: [{ index: 0, embedding: [0.5] }] }));
  assertAnswer(await rig.post('/tei/m/embed', { inputs: 'a', truncate: true, prompt_name: null }), '[[0.5]]');
  assert.equal((await up.nextRequest()).path, '/v1/embeddings');
});

test('sparse embeddings are billed by the token count in the header, and a second model in the body is refused', async (t) => {
  const up = await startFakeUpstream();
  t.after(() => up.close());
  const served = { operations: ['embeddings'], price: { input: 100_000 }, targets: [{ upstream: 'tei' }] };
  const rig = await startRig(t, {
    upstreams: [{ id: 'tei', family: 'tei', base_url: up.url }],
    models: [
      { id: 'sparse', ...served },
      { id: 'secret', ...served },
    ],
    keys: [{ id: 'test', secret: testKey, models: ['sparse'] }],
  });
  up.respondWith((_request, reply) => reply.json(200, [[{ index: 1, value: 0.5 }]], [['X-Compute-Tokens', '7']]));
  const answer = await rig.post('/tei/sparse/embed_sparse', { inputs: ['a'] });
  assert.deepEqual([answer.status, answer.body.toString()], [200, '[[{"index":1,"value":0.5}]]']);
  const { usage, bill } = await rig.exchange(1);
  assert.deepEqual([usage?.promptTokens, bill?.isEstimated, bill?.costNanos], [7, false, 700_000_000]);
  for (const [path, body, status] of [
    ['/tei/secret/embed_sparse', { inputs: ['a'] }, 404],
    ['/embed_all', { inputs: ['a'], model: 'secret' }, 404],
    ['/embed_all', { inputs: ['a'], model: 'sparse', models: ['secret'] }, 400],
    ['/embed_all', { inputs: ['a'], model: 'sparse', options: { model_id: 'secret' } }, 400],
  ] as const) {
    assert.equal((await rig.post(path, body)).status, status, path);
  }
  assert.equal(up.requests.length, 1);
});
