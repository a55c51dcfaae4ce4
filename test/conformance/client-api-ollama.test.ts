/** Ollama's clients at their client API: both forms of embeddings, and the pages that they read first. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { assertAnswer, assertRefusal, embedder, oddVector, startClientApis } from '../support/gateways/client-apis.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

test("embed keeps the upstream's order and digits, with durations as integers", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const path of ['/api/embed', '/ollama/api/embed']) {
    for (const [model, tokens] of [
      ['direct', 5],
      ['translated', 7],
    ] as const) {
      const answer = await rig.post(path, {
        model,
        input: ['a', 'b'],
        truncate: true,
        dimensions: 4,
        keep_alive: '5m',
        options: { num_ctx: null, seed: 7 },
      });
      assertAnswer(
        answer,
        new RegExp(
          `^\\{"model":"${model}","embeddings":\\[${RegExp.escape(oddVector)},${RegExp.escape(oddVector)}\\],"total_duration":\\d+,"load_duration":0,"prompt_eval_count":${tokens}\\}$`,
        ),
      );
      const { body } = await asked();
      assert.deepEqual(
        [body.input ?? body.texts, body.dimensions ?? body.output_dimension, 'options' in body],
        [['a', 'b'], 4, false],
      );
    }
  }
});

test('accepts a single text and the older endpoint, and estimates missing usage', async (t) => {
  const { rig, asked } = await startClientApis(t, (_request, reply) =>
    reply.json(200, { data: [{ embedding: [1, 2] }], usage: null }),
  );
  const one = (await rig.post('/api/embed', { model: 'direct', input: 'four words in here' })).json();
  const { embeddings, prompt_eval_count: count } = one as { embeddings: number[][]; prompt_eval_count: number };
  assert.deepEqual(embeddings, [[1, 2]]);
  assert.ok(Number.isSafeInteger(count) && count > 0);
  assert.equal((await asked()).body.input, 'four words in here');
  const older = await rig.post('/api/embeddings', { model: 'direct', prompt: 'a', options: null, keep_alive: -1 });
  assertAnswer(older, '{"embedding":[1,2]}');
  assert.equal((await asked()).body.input, 'a');
});

test('an empty input returns an empty list, without a call', async (t) => {
  const { rig, upstream } = await startClientApis(t);
  for (const input of [{}, { input: '' }, { input: [] }, { input: null }]) {
    const answer = await rig.post('/api/embed', { model: 'direct', ...input });
    assertAnswer(answer, /^\{"model":"direct","embeddings":\[\],.*"prompt_eval_count":0\}$/);
  }
  assertAnswer(await rig.post('/api/embeddings', { model: 'translated', prompt: '' }), '{"embedding":[]}');
  const refused = await rig.post('/api/embed', { model: 'nobody' });
  assert.equal(refused.status, 404);
  assert.equal(upstream.requests.length, 0);
  const { outcome, attempts, bill } = await rig.exchange(1);
  assert.deepEqual([outcome, attempts, bill?.inputTokens ?? 0], ['ok', 0, 0]);
});

test('a name with :latest is the same model, unless declared separately', async (t) => {
  const { rig, asked } = await startClientApis(t, embedder, {
    models: [
      { id: 'plain', operations: ['embeddings'], targets: [{ upstream: 'openai', model: 'of-plain' }] },
      { id: 'tagged:latest', operations: ['embeddings'], targets: [{ upstream: 'openai', model: 'of-tagged' }] },
      { id: '*', operations: ['embeddings'], targets: [{ upstream: 'openai' }] },
    ],
  });
  for (const [model, upstreamName] of [
    ['plain', 'of-plain'],
    ['plain:latest', 'of-plain'],
    ['tagged', 'of-tagged'],
    ['tagged:latest', 'of-tagged'],
    ['other:latest', 'other:latest'],
    ['plain:small', 'plain:small'],
  ]) {
    const answer = await rig.post('/api/embed', { model, input: 'a' });
    assertAnswer(answer, new RegExp(`^\\{"model":"${model}"`));
    assert.equal((await asked()).body.model, upstreamName, `${model}`);
  }
  // Elsewhere a name is what it is.
  await rig.post('/v1/embeddings', { model: 'plain:latest', input: 'a' });
  assert.equal((await asked()).body.model, 'plain:latest');
});

test("an upstream with Ollama's own format gets the client's truncate, options and keep_alive", async (t) => {
  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, { embeddings: [[1, 2]] }));
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'own', family: 'ollama', base_url: upstream.url, options: { api: 'native' } }],
    models: [{ id: 'native', operations: ['embeddings'], targets: [{ upstream: 'own', model: 'real' }] }],
  });
  const more = { truncate: false, options: { num_ctx: 512 }, keep_alive: '5m' };
  const answer = await rig.post('/api/embed', { model: 'native', input: 'a', ...more });
  assertAnswer(answer, /"embeddings":\[\[1,2\]\]/);
  assert.equal(answer.header('x-postern-ignored'), undefined);
  const { path, body } = await upstream.nextRequest();
  assert.equal(path, '/api/embed');
  assert.deepEqual(JSON.parse(body.toString()), { model: 'real', input: ['a'], ...more });
});

test("unsupported requests are refused in Ollama's shape", async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const rows: readonly (readonly [path: string, body: unknown, status: number, expected: RegExp])[] = [
    ['/api/embed', { model: 'direct', input: 'a', truncate: false }, 400, /"truncate".*"direct"/],
    ['/api/embed', { model: 'direct', input: [1, 2] }, 400, /"input" must be a string or an array of strings/],
    ['/api/embed', { model: 'direct', input: ['a', 7] }, 400, /"input"/],
    ['/api/embed', { model: 'direct', input: 'a', dimensions: '8' }, 400, /"dimensions" must be a number/],
    ['/api/embed', { model: 'direct', input: 'a', options: [] }, 400, /"options" must be an object/],
    ['/api/embed', { input: 'a' }, 400, /"model" is missing/],
    ['/api/embed', { model: 'hidden', input: 'a' }, 404, /"hidden" does not exist/],
    ['/api/embed', { model: 'ranker', input: 'a' }, 400, /does not serve embeddings/],
    ['/api/embeddings', { model: 'direct', prompt: ['a'] }, 400, /"prompt" must be a string/],
    ['/api/pull', { model: 'direct' }, 404, /No route/],
    ['/ollama/api/copy', {}, 404, /No route/],
    ['/api/show', {}, 400, /"model" is missing/],
    ['/api/show', { model: 'hidden' }, 404, /does not exist/],
    ['/api/show', '{', 400, /not valid JSON/],
  ];
  for (const [path, body, status, expected] of rows) {
    const answer = await rig.post(path, body);
    const shown = `${path} ${JSON.stringify(body)}: ${answer.body}`;
    assert.equal(answer.status, status, shown);
    const said = answer.json() as { error: string };
    assert.deepEqual(Object.keys(said), ['error'], shown);
    assert.match(said.error, expected, shown);
  }
  assert.equal(upstream.requests.length, 0);
  const failing = await startClientApis(t, (_request, reply) => reply.json(500, { error: { message: 'down' } }));
  assertRefusal(await failing.rig.post('/api/embed', { model: 'direct', input: 'a' }), 500, { error: 'down' });
});

const narrowKey = 'narrow-key-with-enough-characters';

test('model lists show what the key may see, and nothing without a key', async (t) => {
  const { rig } = await startClientApis(t, embedder, {
    keys: [
      { id: 'test', secret: testKey },
      { id: 'narrow', secret: narrowKey, models: ['direct'] },
    ],
  });
  const namesFor = async (key: string) => {
    const answer = await rig.get('/api/tags', { headers: [['Authorization', `Bearer ${key}`]] });
    return (answer.json() as { models: { name: string; model: string }[] }).models.map(({ model }) => model);
  };
  assert.deepEqual(await namesFor(testKey), ['direct:latest', 'translated:latest', 'words:latest']);
  assert.deepEqual(await namesFor(narrowKey), ['direct:latest']);
  const listed = (await rig.get('/ollama/api/tags')).json() as { models: Record<string, unknown>[] };
  const [first] = listed.models;
  assert.deepEqual(Object.keys(first ?? {}), [
    'name',
    'model',
    'modified_at',
    'size',
    'digest',
    'details',
    'capabilities',
  ]);
  assert.ok(!Number.isNaN(Date.parse(String(first?.modified_at))));
  assert.deepEqual(first?.capabilities, ['embedding']);
  for (const body of [{ model: 'words' }, { name: 'words:latest' }]) {
    const shown = (await rig.post('/api/show', body)).json() as { capabilities: string[]; model_info: object };
    assert.deepEqual(shown.capabilities, ['completion']);
    assert.ok('general.architecture' in shown.model_info);
  }
  const narrowly: [string, string][] = [['Authorization', `Bearer ${narrowKey}`]];
  assert.equal((await rig.post('/api/show', { model: 'words' }, { headers: narrowly })).status, 404);
  assertAnswer(await rig.get('/api/version'), /^\{"version":"\d+\.\d+\.\d+"\}$/);
  assertAnswer(await rig.get('/api/ps'), '{"models":[]}');
  for (const path of ['/api/tags', '/api/version', '/api/ps']) {
    const refused = await rig.get(path, { headers: [] });
    assert.equal(refused.status, 401, path);
    assert.equal(typeof (refused.json() as { error: unknown }).error, 'string');
    assert.equal((await rig.post(path, {})).status, 405, path);
  }
});

test('a request body is read as JSON with any Content-Type, and sent upstream as application/json', async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const authorization: [string, string] = ['Authorization', `Bearer ${testKey}`];
  for (const type of [undefined, 'application/x-www-form-urlencoded', 'text/plain']) {
    const headers = type === undefined ? [authorization] : [authorization, ['Content-Type', type] as [string, string]];
    const answer = await rig.post('/api/embed', '{"model":"direct","input":"a"}', { headers });
    assertAnswer(answer, /embeddings/);
    const sent = (await upstream.nextRequest()).headers.filter(([name]) => name.toLowerCase() === 'content-type');
    assert.deepEqual(
      sent.map(([, value]) => value),
      ['application/json'],
    );
    assert.equal((await rig.post('/ollama/api/show', '{"model":"direct"}', { headers })).status, 200);
    assert.equal((await rig.post('/api/embed', 'model=direct', { headers })).status, 400);
  }
  // Elsewhere the header gives the type.
  const form: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
  const elsewhere = await rig.post('/v2/embed', '{"model":"direct","texts":["a"]}', { headers: [authorization, form] });
  assert.equal(elsewhere.status, 415);
});

test('/api/tags lists the capability "completion" for chat models, too', async (t) => {
  const { rig } = await startClientApis(t, embedder, {
    models: [
      { id: 'both', operations: ['completions', 'chat'], targets: [{ upstream: 'openai' }] },
      { id: 'talks', operations: ['chat'], targets: [{ upstream: 'openai' }] },
    ],
  });
  const listed = (await rig.get('/api/tags')).json() as { models: { capabilities: string[] }[] };
  assert.deepEqual(
    listed.models.map(({ capabilities }) => capabilities),
    [
      ['completion', 'tools'],
      ['completion', 'tools'],
    ],
  );
});

test('the root path confirms an Ollama server without a key, and shows nothing else', async (t) => {
  const { rig, upstream } = await startClientApis(t);
  for (const path of ['/', '/ollama', '/ollama/']) {
    const answer = await rig.get(path, { headers: [] });
    assert.deepEqual([answer.status, answer.body.toString()], [200, 'Ollama is running'], path);
    assert.equal(answer.header('content-type'), 'text/plain; charset=utf-8');
    const head = await rig.get(path, { method: 'HEAD', headers: [] });
    assert.deepEqual([head.status, head.body.length, head.header('content-length')], [200, 0, '17']);
    assert.equal((await rig.post(path, {})).status, 405);
  }
  assert.equal(upstream.requests.length, 0);
});

test("OpenAI's API is also at Ollama's base URL, with Ollama's model names and OpenAI's errors", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const base of ['/ollama/v1', '/api/v1']) {
    for (const model of ['direct', 'direct:latest']) {
      assertAnswer(await rig.post(`${base}/embeddings`, { model, input: 'a' }), /"object":"list"/);
      assert.equal((await asked()).body.model, 'real');
    }
    assert.equal((await rig.get(`${base}/models/direct`)).status, 200);
    for (const [path, code] of [
      ['embeddings', 'model_not_found'],
      ['embeddingz', 'route_not_found'],
    ] as const) {
      assertError(await rig.post(`${base}/${path}`, { model: 'nobody', input: 'a' }), code, {
        ...(code === 'model_not_found' && { param: 'model' }),
      });
    }
  }
});
