/** Every field by which a model could be named to an upstream is authorised as a model, or refused. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { modelHeaders } from '../../src/core/model-fields.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { authorized, question, startPair, toDocument } from '../support/gateways/pair.ts';
import { type Rig, type RigDocument, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'hi' }] },
  '/v1/completions': { prompt: 'hi' },
  '/v1/responses': { input: 'hi', store: false },
  '/v1/edits': { input: 'hi', instruction: 'shout' },
  '/v1/embeddings': { input: 'hi' },
  '/v1/rerank': { query: 'hi', documents: ['a'] },
  '/v1/moderations': { input: 'hi' },
  '/v1/images/generations': { prompt: 'hi' },
  '/v1/audio/speech': { input: 'hi', voice: 'alloy' },
  '/v1/parse': {},
};
const operations = [
  ...['chat', 'completions', 'responses', 'edits', 'embeddings', 'rerank', 'moderations', 'images', 'speech', 'own'],
];

async function start(
  t: TestContext,
  more: { readonly model?: object; readonly other?: object; readonly key?: object } & RigDocument = {},
): Promise<{ readonly rig: Rig; readonly up: FakeUpstream }> {
  const up = await startFakeUpstream((_request, reply) =>
    reply.json(200, {
      object: 'x',
      choices: [],
      results: [{ index: 0, relevance_score: 1 }],
      usage: { prompt_tokens: 1_000, completion_tokens: 10 },
    }),
  );
  t.after(() => up.close());
  const { model, other, key, ...document } = more;
  const rig = await startRig(t, {
    upstreams: [
      { id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-up-0123456789' },
      { id: 'away', family: 'openai', base_url: up.url, api_key: 'sk-away-0123456789' },
    ],
    models: [
      { id: 'm', operations, targets: [{ upstream: 'up', model: 'real-m' }], ...model },
      { id: 'other', operations, targets: [{ upstream: 'up', model: 'real-other' }], ...other },
      { id: 'dear', operations, targets: [{ upstream: 'up', model: 'real-dear' }] },
      { id: 'far', operations, targets: [{ upstream: 'away', model: 'real-far' }] },
      { id: 'painter', operations: ['image_edits'], targets: [{ upstream: 'up', model: 'real-painter' }] },
      { id: 'closed-painter', operations: ['image_edits'], targets: [{ upstream: 'up' }] },
    ],
    routes: [
      { path: '/v1/parse', form: true },
      { path: '/v1/fixed', model: { id: 'm' }, form: true, query: ['model', 'page'] },
      { path: '/v1/headed', model: { header: 'x-parser' } },
      { path: '/v1/of/{model}/scan' },
      { path: '/v1/named', model: { field: 'parser' } },
    ],
    keys: [{ id: 'test', secret: testKey, models: ['m', 'other', 'far', 'painter'], ...key }],
    ...document,
  });
  return { rig, up };
}

for (const [path, body] of Object.entries(bodies)) {
  test(`${path}: returns 400 for a second model in the request, unless the key may use it there`, async (t) => {
    const { rig, up } = await start(t);
    for (const [name, value, param = name] of [
      ['models', ['dear']],
      ['models', 'dear'],
      ['models', ['real-other']],
      ['models', ['far']],
      ['models', ['other', 'nobody/knows']],
      ['models', [['other']]],
      ['models', 7],
      ['fallbacks', [{ model: 'dear' }]],
      ['fallbacks', [{ dear: ['other'] }]],
      ['fallbacks', [{ model: 'other', messages: [] }]],
      ['Models', ['dear'], 'models'],
      ['models', ['painter']],
      ['preset', 'cheap'],
      ['model_list', [{ model_name: 'm', litellm_params: { model: 'dear' } }]],
      ['extra_body', { model: 'dear' }, 'extra_body.model'],
      ['extra_body', { a: [{ Fallback_Models: ['dear'] }] }, 'extra_body.a[0].Fallback_Models'],
      ['tools', [{ type: 'advisor_20260301', model: 'dear' }], 'tools[0].model'],
      ['Tools', [{ type: 'advisor_20260301', model: 'dear' }], 'tools'],
      ['plugins', [{ id: 'auto', allowed_models: ['dear'] }], 'plugins[0].allowed_models'],
    ] as const) {
      const refused = await rig.post(path, { model: 'm', ...body, [name]: value });
      assertError(refused, 'unsupported_parameter', { param, of: JSON.stringify([name, value]) });
    }
    assert.equal(up.requests.length, 0);
    for (const [named, sent] of [
      [
        { models: null, fallbacks: [] },
        { models: null, fallbacks: [] },
      ],
      [{ models: ['m', 'other'] }, { models: ['real-m', 'real-other'] }],
      [{ fallbacks: [{ model: 'other' }, 'm'] }, { fallbacks: [{ model: 'real-other' }, 'real-m'] }],
    ]) {
      assert.equal((await rig.post(path, { ...named, model: 'm', ...body })).status, 200, JSON.stringify(named));
      assert.deepEqual(JSON.parse(String(up.requests.at(-1)?.body)), { ...sent, model: 'real-m', ...body });
    }
  });
}

test('a tool may name a model of another operation; "model" inside a schema is ignored', async (t) => {
  const { rig, up } = await start(t);
  const schema = { type: 'object', properties: { model: { type: 'string' }, models: { enum: ['dear'] } } };
  const tools = (model: string) => [
    { type: 'function', name: 'f', parameters: schema },
    { type: 'image_generation', model },
  ];
  assert.equal((await rig.post('/v1/responses', { tools: tools('painter'), model: 'm', input: 'x' })).status, 200);
  assert.deepEqual(JSON.parse(String(up.requests[0]?.body)), {
    tools: tools('real-painter'),
    model: 'real-m',
    input: 'x',
  });
});

test('a duplicate field is read both times, in any spelling', async (t) => {
  const { rig, up } = await start(t);
  const before = '{"model":"m","input":"x","tools":[{"type":"image_generation",';
  for (const [named, param] of [
    ['"model":"painter","model":"dear"}]', 'tools[0].model'],
    ['"model":"dear","model":"painter"}]', 'tools[0].model'],
    ['"\\u006dode\\u006c":"dear"}]', 'tools[0].model'],
    ['"MODE\\u004c":"dear"}]', 'tools[0].MODEL'],
    ['"model":"\\u0064ear"}]', 'tools[0].model'],
    ['"a":{"model":"dear"}}]', 'tools[0].a.model'],
  ] as const) {
    assertError(await rig.post('/v1/responses', `${before}${named}}`), 'unsupported_parameter', { param, of: named });
  }
  for (const doubled of ['}],"tools":[{"model":"dear"}]', '}],"TOOLS":[{"model":"dear"}]']) {
    assertError(await rig.post('/v1/responses', `${before}"a":1${doubled}}`), 'duplicate_parameter', {
      param: 'tools',
    });
  }
  assert.equal(up.requests.length, 0);
});

test('on custom routes a model in body, form or query is checked', async (t) => {
  const { rig, up } = await start(t);
  const headers: [string, string][] = [
    ['Authorization', `Bearer ${testKey}`],
    ['X-Parser', 'm'],
  ];
  const json: [string, string][] = [...headers, ['Content-Type', 'application/json']];
  for (const path of ['/v1/fixed', '/v1/headed', '/v1/of/m/scan', '/v1/named']) {
    const parser = path === '/v1/named' ? { parser: 'm' } : {};
    for (const model of ['dear', 'far', 'real-other', 'nobody']) {
      const refused = await rig.post(path, { ...parser, model }, { headers: json });
      assertError(refused, 'unsupported_parameter', { param: 'model', of: `${path} ${model}` });
    }
    const folded = await rig.post(path, { ...parser, Model: 'other' }, { headers: json });
    assertError(folded, 'unsupported_parameter', { param: 'model', of: path });
    const before = up.requests.length;
    assert.equal((await rig.post(path, { model: 'other', ...parser }, { headers: json })).status, 200);
    assert.equal(up.requests.length, before + 1);
    assert.match(String(up.requests.at(-1)?.body), /^\{"model":"real-other"[,}]/);
  }
  const form = (name: string, value: string): Buffer =>
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`);
  const typed: [string, string][] = [...headers, ['Content-Type', 'multipart/form-data; boundary=b']];
  const before = up.requests.length;
  for (const name of ['model', 'models[]', 'Model', 'extra_body[model]', 'tools[0][model]', 'fallbacks']) {
    const refused = await rig.post('/v1/fixed', form(name, 'dear'), { headers: typed });
    assertError(refused, 'unsupported_parameter', { param: name, of: name });
  }
  assertError(await rig.post('/v1/fixed?model=dear', {}, { headers: json }), 'unsupported_parameter', {
    param: 'model',
  });
  assert.equal(up.requests.length, before);
  assert.equal((await rig.post('/v1/fixed', form('model', 'other'), { headers: typed })).status, 200);
  assert.deepEqual(up.requests.at(-1)?.body, form('model', 'real-other'));
  assert.equal((await rig.post('/v1/fixed?page=2&model=other', {}, { headers: json })).status, 200);
  assert.equal(up.requests.at(-1)?.path, '/fixed?page=2&model=real-other');
});

test('under a budget the highest price of all named models is reserved, and an unpriced model is refused', async (t) => {
  const key = { budgets: [{ every: 'day', amount: 1 }] };
  const price = (input: number) => ({ price: { input, output: input } });
  const { rig } = await start(t, { model: price(1), other: price(50), key });
  const ask = (more: object) => rig.post('/v1/chat/completions', { model: 'm', messages: [], max_tokens: 10, ...more });
  assert.equal((await ask({})).status, 200);
  assert.deepEqual([rig.settled[0]?.bill?.costNanos, rig.settled[0]?.bill?.isEstimated], [1_010 * 1_000, false]);
  assert.equal((await ask({ models: ['other'] })).status, 200);
  assert.deepEqual([rig.settled[1]?.bill?.costNanos, rig.settled[1]?.bill?.isEstimated], [1_010 * 50_000, true]);
  assertError(await ask({ models: ['other'], max_tokens: 30_000 }), 'budget_exceeded');
  const unpriced = await start(t, { model: price(1), key });
  assertError(
    await unpriced.rig.post('/v1/chat/completions', { model: 'm', messages: [], max_tokens: 9, models: ['other'] }),
    'unsupported_parameter',
    { param: 'models' },
  );
});

test("a model with its own limits can only be named as the request's model", async (t) => {
  const { rig } = await start(t, { other: { limits: { requests_per_minute: 5 } } });
  const refused = await rig.post('/v1/embeddings', { model: 'm', input: 'x', models: ['other'] });
  assertError(refused, 'unsupported_parameter', { param: 'models' });
});

test('a forbidden model gets the response of an unknown one; row and log distinguish them', async (t) => {
  const revealing = await start(t, { server: { reveal_models: true } });
  for (const path of Object.keys(bodies)) {
    const { rig } = await start(t);
    const ask = async (model: string) => {
      const { status, body } = await rig.post(path, { model, ...bodies[path] });
      return { status, text: body.toString().replaceAll(model, '?') };
    };
    const known = await ask('dear');
    assert.equal(known.status, 404);
    assert.deepEqual(known, await ask('dare'));
    assert.deepEqual(
      rig.settled.map(({ errorCode }) => errorCode),
      ['model_not_allowed', 'model_not_found'],
    );
    assertError(await revealing.rig.post(path, { model: 'dear', ...bodies[path] }), 'model_not_allowed', {
      param: 'model',
    });
  }
  const { rig } = await start(t);
  const beside = async (model: string) =>
    (await rig.post('/v1/chat/completions', { model: 'm', messages: [], models: [model] })).body.toString();
  assert.equal(await beside('dear'), await beside('dare'));
  assert.equal(rig.settled[0]?.errorCode, 'model_not_allowed');
  // Operations of a model are not revealed to a key without access.
  assertError(await rig.post('/v1/chat/completions', { model: 'closed-painter', messages: [] }), 'model_not_found', {
    param: 'model',
  });
});

test('no client header names a model to an upstream, and none can be listed for forwarding', async (t) => {
  const names = ['x-model', 'x-litellm-model', ...modelHeaders.map(({ name }) => name)];
  const { rig, upstream } = await startPair(t, undefined, { upstream: { forward_headers: ['x-tenant'] } });
  const headers = [...authorized(), ...['x-tenant', ...names].map((name): [string, string] => [name, 'another'])];
  assert.equal((await rig.post('/v1/embeddings', question, { headers })).status, 200);
  const sent = new Set((await upstream.nextRequest()).headers.map(([name]) => name.toLowerCase()));
  assert.deepEqual(
    ['x-tenant', ...names].filter((name) => sent.has(name)),
    ['x-tenant'],
  );
  for (const name of names) {
    const listed = toDocument(upstream.url, { forward_headers: ['x-tenant', name] });
    await assert.rejects(rig.compile(listed), /another model than the one that was judged/, name);
  }
});
