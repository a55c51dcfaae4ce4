/** Cohere's clients at their client API: both versions of `embed`, over upstreams that speak as OpenAI does and over Cohere itself. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAnswer, assertRefusal, embedder, oddVector, startClientApis } from '../support/gateways/client-apis.ts';
import type { Rig } from '../support/gateways/rig.ts';

const counted = (tokens: number, version = '1') =>
  `"meta":{"api_version":{"version":"${version}"},"billed_units":{"input_tokens":${tokens}}}`;

test("embed v1 without embedding_types returns a plain list of vectors, with the upstream's digits", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const [model, tokens, asksAt] of [
    ['direct', 5, '/v1/embed'],
    ['translated', 7, '/v1/v1/embed'],
  ] as const) {
    const answer = await rig.post(asksAt, { model, texts: ['a', 'b'], input_type: 'search_query' });
    const id = answer.header('x-request-id');
    assertAnswer(
      answer,
      `{"id":"${id}","texts":["a","b"],"embeddings":[${oddVector},${oddVector}],${counted(tokens)},"response_type":"embeddings_floats"}`,
    );
    const { path, body } = await asked();
    const wanted =
      model === 'direct'
        ? { model: 'real', input: ['a', 'b'], encoding_format: 'float' }
        : { model: 'real', input_type: 'search_query', texts: ['a', 'b'], embedding_types: ['float'] };
    assert.deepEqual([path, body], [model === 'direct' ? '/embeddings' : '/v2/embed', wanted]);
    assert.equal(answer.header('x-postern-translated'), model === 'direct' ? undefined : 'cohere');
    assert.equal(answer.header('x-postern-space'), 'real');
    const { usage, route, modelId } = await rig.exchange(rig.settled.length);
    assert.deepEqual([usage?.promptTokens, route?.operation, modelId], [tokens, 'embeddings', model]);
  }
});

test("embed v2 returns vectors under their type's name, on every spelling of the path", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const path of ['/v2/embed', '/v1/v2/embed', '/cohere/v2/embed', '/v2/embed/']) {
    for (const [model, tokens] of [
      ['direct', 5],
      ['translated', 7],
    ] as const) {
      const answer = await rig.post(path, {
        model,
        inputs: [
          {
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
        ],
        input_type: 'search_document',
        output_dimension: 4,
        images: null,
        truncate: null,
        max_tokens: null,
        embedding_types: null,
        priority: 3,
      });
      assertAnswer(
        answer,
        `{"id":"${answer.header('x-request-id')}","texts":["a\\nb"],"embeddings":{"float":[${oddVector}]},${counted(tokens, '2')},"response_type":"embeddings_by_type"}`,
      );
      const { body } = await asked();
      assert.deepEqual(
        [body.input ?? body.texts, body.dimensions ?? body.output_dimension],
        [['a\nb'], 4],
        JSON.stringify(body),
      );
    }
  }
});

test('embed v1 with embedding_types returns vectors by type, and base64 holds the same numbers', async (t) => {
  const { rig } = await startClientApis(t);
  const answer = await rig.post('/cohere/v1/embed', {
    model: 'direct',
    texts: ['a'],
    embedding_types: ['float', 'base64'],
  });
  const base64 = Buffer.from(new Float32Array([0.1, -8e-3, 1, 0.12345678901234568]).buffer).toString('base64');
  assertAnswer(answer, new RegExp(`"embeddings":\\{"float":\\[.*\\],"base64":\\["${RegExp.escape(base64)}"\\]\\}`));
});

test('integer embeddings come only from upstreams that support them', async (t) => {
  const { rig, upstream, asked } = await startClientApis(t);
  for (const kind of ['int8', 'uint8', 'binary', 'ubinary']) {
    const body = { texts: ['a'], input_type: 'clustering', embedding_types: [kind] };
    const answer = await rig.post('/v2/embed', { model: 'translated', ...body });
    assertAnswer(answer, new RegExp(`"embeddings":\\{"${kind}":\\[\\[1,-128,127,0\\]\\]\\}`));
    assert.deepEqual((await asked()).body.embedding_types, [kind]);
    const before = upstream.requests.length;
    const refused = await rig.post('/v2/embed', { model: 'direct', ...body });
    assertRefusal(refused, 400, {
      message: `The field "embedding_types" cannot be served: not every upstream of the model "direct" makes ${kind}; leave it out, or ask the operator for a model that can.`,
      id: refused.header('x-request-id'),
    });
    assert.equal(upstream.requests.length, before);
  }
});

test('unsupported requests are refused by name before any call', async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const texts = ['a'];
  const rows: readonly (readonly [body: unknown, status: number, expected: RegExp])[] = [
    [{ model: 'direct', images: ['data:image/png;base64,AA=='] }, 400, /"images".*"direct"/],
    [{ model: 'direct', inputs: [{ content: [{ type: 'image_url' }] }] }, 400, /"inputs\[0\]\.content"/],
    [{ model: 'direct', texts, truncate: 'START' }, 400, /"truncate".*"direct"/],
    [{ model: 'direct', texts, truncate: 'NONE' }, 400, /"truncate"/],
    [{ model: 'direct', texts, max_tokens: 7 }, 400, /"max_tokens".*"direct"/],
    [{ model: 'direct', texts, embedding_types: ['int4'] }, 400, /"embedding_types"/],
    [{ model: 'direct', texts, embedding_types: ['int8', 'float'] }, 400, /"embedding_types".*by itself/],
    [{ model: 'direct' }, 400, /"texts" is missing/],
    [{ model: 'direct', texts: null }, 400, /"texts" is missing/],
    [{ model: 'direct', texts, inputs: [] }, 400, /"inputs"/],
    [{ model: 'direct', texts: 'a' }, 400, /"texts" must be an array of strings; a string came/],
    [{ model: 'direct', texts: ['a', 7] }, 400, /"texts" must be an array of strings/],
    [{ model: 7, texts }, 400, /"model" must be a string/],
    [{ texts }, 400, /"model" is missing/],
    [{ model: 'nobody', texts }, 404, /"nobody" does not exist/],
    [{ model: 'hidden', texts }, 404, /"hidden" does not exist/],
    [{ model: 'words', texts }, 400, /does not serve embeddings/],
    ['{"model":"direct","texts":["a"],"Texts":["b"]}', 400, /"texts" stands twice/],
    ['{"model":', 400, /not valid JSON/],
    ['[]', 400, /must be a JSON object/],
  ];
  for (const [body, status, expected] of rows) {
    const answer = await rig.post('/v2/embed', body);
    const shown = `${JSON.stringify(body)}: ${answer.body}`;
    assert.equal(answer.status, status, shown);
    const said = answer.json() as { message: string };
    assert.deepEqual(Object.keys(said), ['message', 'id'], shown);
    assert.match(said.message, expected, shown);
  }
  const nobody = await rig.post('/v2/embed', { model: 'direct', texts }, { headers: [] });
  assert.deepEqual([nobody.status, nobody.header('www-authenticate')], [401, 'Bearer']);
  assert.match(nobody.body.toString(), /^\{"message":"No API key/);
  const wrongMethod = await rig.get('/v2/embed');
  assert.deepEqual([wrongMethod.status, wrongMethod.header('allow')], [405, 'POST']);
  assert.equal(upstream.requests.length, 0);
});

test('images and several types are passed to Cohere upstreams, and refused elsewhere', async (t) => {
  const said = '{"embeddings":{"int8":[[1]]},"meta":{"billed_units":{"input_tokens":9}}}\n';
  const { rig, upstream } = await startClientApis(t, (_request, reply) =>
    reply.bytes(200, [['content-type', 'application/json']], said),
  );
  const picture = '"images":["data:image/png;base64,AA=="],"input_type":"image","embedding_types":["int8","float"]';
  const mixed = '"inputs":[{"content":[{"type":"image_url","image_url":{"url":"u"}}]}], "x":1.0';
  const types = '"texts":["a","b"],"input_type":"search_query","embedding_types":["float", "ubinary"]';
  const rows = [
    [picture, 1, /texts alone are embedded here/],
    [mixed, 1, /texts alone are embedded here/],
    [types, 2, /ask for each by itself/],
  ] as const;
  for (const [fields, items, refusal] of rows) {
    for (const path of ['/v2/embed', '/cohere/v2/embed', '/v1/embed', '/cohere/v1/embed']) {
      const version = path.replace('/cohere', '');
      assertAnswer(await rig.post(path, `{ "model":"translated",${fields}}`), said);
      const sent = await upstream.nextRequest();
      assert.deepEqual([sent.path, sent.body.toString()], [version, `{ "model":"real",${fields}}`]);
      const { usage, estimate, attempts } = await rig.exchange(rig.settled.length);
      assert.deepEqual([usage?.promptTokens, estimate?.items, attempts], [9, items, 1]);
    }
    const refused = await rig.post('/v2/embed', `{"model":"direct",${fields}}`);
    assert.equal(refused.status, 400);
    assert.match(refused.body.toString(), refusal);
  }
});

test("Cohere's own fields reach a Cohere upstream", async (t) => {
  const { rig, asked } = await startClientApis(t);
  const body = { texts: ['a'], input_type: 'classification', truncate: 'START', max_tokens: 9 };
  await rig.post('/v2/embed', { model: 'translated', ...body });
  const { body: sent } = await asked();
  assert.deepEqual([sent.input_type, sent.truncate, sent.max_tokens], ['classification', 'START', 9]);
});

test("an upstream's error has Cohere's shape and its own status", async (t) => {
  const { rig } = await startClientApis(t, (request, reply) =>
    request.path === '/v2/embed'
      ? reply.json(429, { message: 'slower' })
      : reply.json(422, { error: { message: 'too long', type: 't', param: null, code: null } }),
  );
  const direct = await rig.post('/v2/embed', { model: 'direct', texts: ['a'] });
  assertRefusal(direct, 422, { message: 'too long', id: direct.header('x-request-id') });
  const translated = await rig.post('/v1/embed', { model: 'translated', texts: ['a'] });
  assertRefusal(translated, 429, { message: 'slower', id: translated.header('x-request-id') });
});

test('an invalid response becomes an upstream error', async (t) => {
  const { rig } = await startClientApis(t, (_request, reply) => reply.json(200, { data: [] }));
  const answer = await rig.post('/v1/embed', { model: 'direct', texts: ['a'] });
  assert.equal(answer.status, 502);
  assert.match(
    answer.body.toString(),
    /^\{"message":"The upstream's answer does not fit the request \(0 vectors for 1/,
  );
});

test('checks a key, and lists models by page and endpoint', async (t) => {
  const { rig } = await startClientApis(t);
  assertAnswer(await rig.post('/v1/check-api-key', ''), '{"valid":true}');
  assertAnswer(await rig.post('/cohere/v1/check-api-key', '{}'), '{"valid":true}');
  assertAnswer(await rig.post('/v1/v1/check-api-key', ''), '{"valid":true}');
  const refused = await rig.post('/v1/check-api-key', '', { headers: [['Authorization', 'Bearer nobody-knows-this']] });
  assert.equal(refused.status, 401);
  const listed = (await rig.get('/cohere/v1/models')).json() as { models: { name: string; endpoints: string[] }[] };
  assert.deepEqual(
    listed.models.map(({ name, endpoints }) => [name, endpoints]),
    [
      ['direct', ['embed']],
      ['translated', ['embed']],
      ['words', []],
      ['ranker', ['rerank']],
    ],
  );
  assert.deepEqual((await rig.get('/cohere/v1/models/ranker')).json(), {
    name: 'ranker',
    endpoints: ['rerank'],
    finetuned: false,
    is_deprecated: false,
  });
  assert.equal((await rig.get('/cohere/v1/models/hidden')).status, 404);
  const list = async (query: string) => {
    const answer = await rig.get(`/cohere/v1/models?${query}`);
    const { models, next_page_token: next } = answer.json() as { models: { name: string }[]; next_page_token?: string };
    return { names: models.map(({ name }) => name), next };
  };
  assert.deepEqual(await list('endpoint=rerank&x=1'), { names: ['ranker'], next: undefined });
  const first = await list('page_size=1&endpoint=embed');
  assert.deepEqual(first.names, ['direct']);
  const second = await list(`page_size=1&endpoint=embed&page_token=${first.next}`);
  assert.deepEqual(second, { names: ['translated'], next: undefined });
  for (const query of ['page_size=0', 'page_size=a', 'endpoint=x', 'default_only=true', 'page_token=AAAA']) {
    const answer = await rig.get(`/cohere/v1/models?${query}`);
    assert.equal(answer.status, 400, query);
    assert.match(answer.body.toString(), /^\{"message":"The query parameter/, query);
  }
  const standard = await startClientApis(t, embedder, { default_model: { embeddings: 'translated' } });
  const chosen = (await standard.rig.get('/cohere/v1/models?endpoint=embed&default_only=true')).json();
  assert.deepEqual(
    (chosen as { models: { name: string }[] }).models.map(({ name }) => name),
    ['translated'],
  );
});

test('tokenizes only with known vocabularies', async (t) => {
  const models = [
    { id: 'known', targets: [{ upstream: 'openai', model: 'text-embedding-3-small' }] },
    { id: 'newer', targets: [{ upstream: 'openai', model: 'gpt-4o-mini' }] },
    { id: 'other', targets: [{ upstream: 'openai', model: 'command-a' }] },
    {
      id: 'mixed',
      space: 'x',
      targets: [{ upstream: 'openai', model: 'text-embedding-3-small' }, { upstream: 'cohere' }],
    },
    { id: 'hidden', visible: false, targets: [{ upstream: 'openai', model: 'gpt-4' }] },
  ];
  const { rig, upstream } = await startClientApis(t, embedder, { models });
  const meta = '"meta":{"api_version":{"version":"1"}}';
  for (const path of ['/v1/tokenize', '/v1/v1/tokenize', '/cohere/v1/tokenize']) {
    const text = 'Hello world \u{1F680}';
    const answer = await rig.post(path, { model: 'known', text });
    const strings = '"token_strings":["Hello"," world"," \ufffd","\ufffd","\ufffd"]';
    assertAnswer(answer, `{"tokens":[9906,1917,11410,248,222],${strings},${meta}}`);
  }
  assertAnswer(await rig.post('/v1/tokenize', { model: 'newer', text: 'Hello' }), /"tokens":\[13225\]/);
  const back = { model: 'known', tokens: [9906, 1917, 11410, 248, 222] };
  assertAnswer(await rig.post('/v1/detokenize', back), `{"text":"Hello world \u{1F680}",${meta}}`);
  assertAnswer(await rig.post('/v1/v1/detokenize', { model: 'known', tokens: [] }), `{"text":"",${meta}}`);
  const rows: readonly (readonly [path: string, body: object, status: number, expected: RegExp])[] = [
    ['/v1/tokenize', { model: 'other', text: 'a' }, 400, /not available for the model \\"other\\"/],
    ['/v1/tokenize', { model: 'mixed', text: 'a' }, 400, /not available/],
    ['/v1/tokenize', { model: 'hidden', text: 'a' }, 404, /does not exist/],
    ['/v1/tokenize', { text: 'a' }, 400, /\\"model\\" is missing/],
    ['/v1/tokenize', { model: 'known' }, 400, /\\"text\\" is missing/],
    ['/v1/tokenize', { model: 'known', text: '' }, 400, /\\"text\\" must be/],
    ['/v1/tokenize', { model: 'known', text: 'a'.repeat(65_537) }, 400, /\\"text\\" must be/],
    ['/v1/tokenize', { model: 'known', text: 'ab'.repeat(5_000) }, 400, /\\"text\\" must be/],
    ['/v1/detokenize', { model: 'known', tokens: ['a'] }, 400, /\\"tokens\\" must be/],
    ['/v1/detokenize', { model: 'known', tokens: [1e9] }, 400, /\\"tokens\\" must be/],
    ['/v1/detokenize', { model: 'known' }, 400, /\\"tokens\\" is missing/],
  ];
  for (const [path, body, status, expected] of rows) {
    const answer = await rig.post(path, body);
    assert.equal(answer.status, status, answer.body.toString());
    assert.match(answer.body.toString(), expected);
  }
  assert.equal((await rig.post('/v1/tokenize', { model: 'known', text: 'a' }, { headers: [] })).status, 401);
  assert.equal(upstream.requests.length, 0);
});

/** Each family's name for it, and its values for a query and a document. */
const purposes: Readonly<Record<string, readonly [name: string, query: string, document: string]>> = {
  cohere: ['input_type', 'search_query', 'search_document'],
  voyage: ['input_type', 'query', 'document'],
  jina: ['task', 'retrieval.query', 'retrieval.passage'],
  nvidia: ['input_type', 'query', 'passage'],
};

async function serveBy(rig: Rig, upstream: object, target: object = {}): Promise<void> {
  const snapshot = await rig.compile({
    upstreams: [{ id: 'up', api_key: 'sk-upstream-secret-0123456789', ...upstream }],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up', model: 'real', ...target }] }],
  });
  assert.deepEqual(rig.app.swap(snapshot), []);
}

test("the input type is sent in the family's words, and overrides the operator's default", async (t) => {
  for (const [family, [name, query, document]] of Object.entries(purposes)) {
    const { rig, upstream, asked } = await startClientApis(t);
    await serveBy(rig, { family, base_url: upstream.url }, { defaults: { [name]: 'as-set' } });
    const wordFor = async (more: object) => {
      const answer = await rig.post('/v1/embed', { model: 'm', texts: ['a'], ...more });
      assert.equal(answer.status, 200, `${family}: ${answer.body}`);
      return (await asked()).body[name];
    };
    assert.equal(await wordFor({ input_type: 'search_query' }), query, family);
    assert.equal(await wordFor({ input_type: 'search_document' }), document, family);
    assert.equal(await wordFor({}), 'as-set', family);
  }
});

test('fields a family lacks are dropped and reported', async (t) => {
  const { rig, upstream } = await startClientApis(t);
  await serveBy(rig, { family: 'voyage', base_url: upstream.url });
  const answer = await rig.post('/v1/embed', { model: 'm', texts: ['a'], truncate: 'END' });
  assert.equal(answer.status, 200, answer.body.toString());
  assert.equal(answer.header('x-postern-ignored'), 'truncate');
});
