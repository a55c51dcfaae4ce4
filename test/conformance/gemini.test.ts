/** Google's own methods as the clients of the Gemini API meet them: bytes, streams in both forms, usage, bounds, errors in its words. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const at = (verb: string, model = 'm'): string => `/v1beta/models/${model}:${verb}`;
const contents = [{ role: 'user', parts: [{ text: '2+2?' }] }];
const usageMetadata = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 9,
  thoughtsTokenCount: 23,
  toolUsePromptTokenCount: 10,
  totalTokenCount: 142,
};
const chunk = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] } }],
  ...more,
});
const answer = chunk('four', { usageMetadata, modelVersion: 'gemini-real', responseId: 'r1' });

async function startSetup(
  t: TestContext,
  script: Handler,
  { model = {}, key = {}, upstream = {} }: { model?: object; key?: object; upstream?: object } = {},
): Promise<{ rig: Rig; up: FakeUpstream }> {
  const up = await startFakeUpstream(script);
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'gemini', base_url: up.url, api_key: 'AIza-upstream-credential', ...upstream }],
    models: [
      {
        id: 'm',
        price: { input: 2, cached_input: 1, output: 10 },
        targets: [{ upstream: 'up', model: 'real' }],
        ...model,
      },
      { id: 'same', targets: [{ upstream: 'up' }] },
      { id: 'org/with:colon', targets: [{ upstream: 'up', model: 'models/real' }] },
      { id: 'tunedModels/mine', targets: [{ upstream: 'up' }] },
    ],
    keys: [{ id: 'test', secret: testKey, ...key }],
  });
  return { rig, up };
}

const answering: Handler = (_request, reply) => reply.json(200, answer);
const streaming =
  (...parts: readonly string[]): Handler =>
  (_request, reply) =>
    reply.bytes(200, [['content-type', 'text/event-stream']], parts.join(''));
const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`;

const errorIn = (response: RawResponse) => JSON.parse(response.body.toString()).error;

test("bodies pass byte for byte, and the path has the upstream's model name", async (t) => {
  const { rig, up } = await startSetup(t, answering);
  const body = ' {"contents":[{"parts":[{"text":"\\u00e9","n":1.0}]}],\n"x":1e3,"x":2, "model":null }';
  for (const [path, reached] of [
    [at('generateContent'), at('generateContent', 'real')],
    [at('generateContent', 'same'), at('generateContent', 'same')],
    ['/gemini/v1beta/models/m:generateContent', at('generateContent', 'real')],
    ['/gemini/v1/models/m:generateContent', at('generateContent', 'real')],
    ['/v1/models/m:generateContent', at('generateContent', 'real')],
    ['/v1/tunedModels/mine:generateContent', '/v1beta/tunedModels/mine:generateContent'],
    ['/v1beta/models/m%3AgenerateContent', at('generateContent', 'real')],
    ['/v1beta/models/m%3agenerateContent?key=AIza-not-forwarded&alt=sse', at('generateContent', 'real')],
    ['/v1beta/models/org/with:colon:generateContent', at('generateContent', 'real')],
    ['/v1beta/models/org%2Fwith%3Acolon:generateContent', at('generateContent', 'real')],
    ['/v1beta/tunedModels/mine:generateContent', '/v1beta/tunedModels/mine:generateContent'],
    [at('countTokens'), at('countTokens', 'real')],
    [at('streamGenerateContent'), `${at('streamGenerateContent', 'real')}?alt=sse`],
    [`${at('streamGenerateContent')}?alt=sse&x=1`, `${at('streamGenerateContent', 'real')}?alt=sse`],
  ] as const) {
    const response = await rig.post(path, body, { headers: [['x-goog-api-key', testKey]] });
    assert.equal(response.status, 200, path + response.body.toString());
    const seen = await up.nextRequest();
    assert.deepEqual([seen.path, seen.body.toString()], [reached, body]);
    assert.equal(seen.header('x-goog-api-key'), 'AIza-upstream-credential');
    assert.equal(response.body.toString(), JSON.stringify(answer));
  }
});

test('a model in the body must match the path, and is renamed for the upstream', async (t) => {
  const { rig, up } = await startSetup(t, (_request, reply) => reply.json(200, { embeddings: [] }));
  const one = (model: string, text: string): string =>
    `{ "model" : ${JSON.stringify(model)}, "content":{"parts":[{"text":"${text}"}]} }`;
  const batch = (...requests: readonly string[]): string => `{"requests":[ ${requests.join(' , ')} ]}`;
  for (const [model, body, sent] of [
    ['m', batch(one('models/m', '],"model":"x"'.replaceAll('"', '\\"')), one('m', 'b')), undefined],
    ['same', batch(one('models/same', 'a'), one('same', 'b'), '{"content":{}}'), 'same'],
    ['tunedModels/mine', batch(one('tunedModels/mine', 'a')), 'same'],
  ] as const) {
    const path = model.startsWith('tuned') ? `/v1beta/${model}:batchEmbedContents` : at('batchEmbedContents', model);
    const response = await rig.post(path, body);
    assert.equal(response.status, 200, response.body.toString());
    const wanted =
      sent === undefined ? body.replace('"models/m"', '"models/real"').replace('"m"', '"models/real"') : body;
    assert.equal((await up.nextRequest()).body.toString(), wanted);
  }
  await rig.post(at('embedContent'), one('models/m', 'a'));
  assert.equal((await up.nextRequest()).body.toString(), one('models/real', 'a'));
  await rig.post(at('countTokens'), { generateContentRequest: { model: 'models/m', contents } });
  assert.match((await up.nextRequest()).body.toString(), /"model":"models\/real"/);
  for (const [verb, body, param] of [
    ['batchEmbedContents', batch(one('models/m', 'a'), one('models/same', 'b')), 'requests[1].model'],
    ['batchEmbedContents', batch(one('models/m', 'a'), '{"model":7}'), 'requests[1].model'],
    ['batchEmbedContents', batch('{"model":"m","model":"same"}'), 'requests[0].model'],
    ['embedContent', one('models/same', 'a'), 'model'],
    ['generateContent', JSON.stringify({ model: 'same', contents }), 'model'],
    [
      'countTokens',
      JSON.stringify({ generateContentRequest: { model: 'x', contents } }),
      'generateContentRequest.model',
    ],
  ] as const) {
    const refused = await rig.post(at(verb), body);
    assert.equal(refused.status, 400, body);
    assert.equal(errorIn(refused).details[0].metadata.param, param);
  }
  assert.equal(up.requests.length, 5);
});

test('cached tokens are part of the prompt; reasoning and tool tokens are added', async (t) => {
  const { rig } = await startSetup(t, answering);
  await rig.post(at('generateContent'), { contents });
  const { bill, route } = await rig.exchange(1);
  assert.equal(route?.operation, 'generate');
  // 70 at 2, 40 at 1 and 32 at 10 dollars a million.
  assert.deepEqual(
    [bill?.inputTokens, bill?.cachedTokens, bill?.outputTokens, bill?.costNanos, bill?.isEstimated],
    [110, 40, 32, 500_000, false],
  );
});

const chunks = [
  chunk('fo', { usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 1, totalTokenCount: 101 } }),
  chunk('ur', { usageMetadata }),
  { candidates: [{ finishReason: 'STOP' }], usageMetadata: { trafficType: 'ON_DEMAND' } },
];

test('a stream passes as events or as a list, split at every byte', async (t) => {
  const text = chunks.map(event).join('');
  const bytes = Buffer.from(text);
  const { rig, up } = await startSetup(t, streaming(text));
  const asEvents = await rig.post(`${at('streamGenerateContent')}?alt=sse`, { contents });
  assert.equal(asEvents.body.toString(), text);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    up.respondWith((_request, reply) =>
      reply.bytes(200, [['content-type', 'text/event-stream']], [bytes.subarray(0, cut), bytes.subarray(cut)], {
        chunked: true,
      }),
    );
    const asList = await rig.post(at('streamGenerateContent'), { contents });
    assert.equal(asList.header('content-type'), 'application/json');
    assert.equal(asList.body.toString(), `[${chunks.map((one) => JSON.stringify(one)).join(',\n')}]\n`, `${cut}`);
  }
  for (const count of [1, 2, bytes.length]) {
    const { bill } = await rig.exchange(count);
    assert.deepEqual([bill?.inputTokens, bill?.outputTokens, bill?.isEstimated], [110, 32, false]);
  }
});

test('an error in mid-stream is passed on in both stream formats', async (t) => {
  const failed = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };
  const [first] = chunks;
  const text = event(first ?? {}) + JSON.stringify(failed, null, 2);
  const { rig, up } = await startSetup(t, streaming(text));
  assert.equal((await rig.post(`${at('streamGenerateContent')}?alt=sse`, { contents })).body.toString(), text);
  const asList = await rig.post(at('streamGenerateContent'), { contents });
  assert.deepEqual(JSON.parse(asList.body.toString()), [first, failed]);
  up.respondWith(streaming(`${event(first ?? {})}{"note":"neither an event nor an error"}`));
  const broken = await rig.post(at('streamGenerateContent'), { contents });
  assert.deepEqual([broken.complete, broken.body.toString()], [false, `[${JSON.stringify(first)}`]);
});

test('an empty stream is an empty list, and a broken one stays broken', async (t) => {
  const { rig, up } = await startSetup(t, streaming(''));
  assert.equal((await rig.post(at('streamGenerateContent'), { contents })).body.toString(), '[]\n');
  up.respondWith(async (_request, reply) => {
    await reply.head(200, [
      ['content-type', 'text/event-stream'],
      ['transfer-encoding', 'chunked'],
    ]);
    await reply.chunk(event(chunks[0] ?? {}));
    reply.cut();
  });
  const broken = await rig.post(at('streamGenerateContent'), { contents });
  assert.deepEqual([broken.complete, broken.body.toString()], [false, `[${JSON.stringify(chunks[0])}`]);
  assert.equal((await rig.exchange(2)).outcome, 'cut');
});

test("errors have Google's shape, the gateway's own and the upstream's", async (t) => {
  const limited = {
    error: {
      code: 429,
      message: 'Quota exceeded',
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '11.2s' }],
    },
  };
  const type = 'application/json; charset=UTF-8';
  const { rig, up } = await startSetup(t, (_request, reply) =>
    reply.bytes(429, [['content-type', type]], JSON.stringify(limited)),
  );
  const passed = await rig.post(at('generateContent'), { contents });
  assert.deepEqual([passed.status, passed.body.toString()], [429, JSON.stringify(limited)]);
  assert.equal(passed.header('content-type'), type);
  assert.equal(passed.header('retry-after'), '12');
  for (const [path, headers, status, word, reason] of [
    [at('generateContent', 'nobody'), [['x-goog-api-key', testKey]], 404, 'NOT_FOUND', 'MODEL_NOT_FOUND'],
    [at('generateContent'), [], 401, 'UNAUTHENTICATED', 'MISSING_API_KEY'],
    [`${at('generateContent')}?key=${testKey}`, [], 401, 'UNAUTHENTICATED', 'MISSING_API_KEY'],
    [at('predict'), [['x-goog-api-key', testKey]], 405, 'UNIMPLEMENTED', 'METHOD_NOT_ALLOWED'],
    ['/v1beta/corpora', [['x-goog-api-key', testKey]], 404, 'NOT_FOUND', 'ROUTE_NOT_FOUND'],
    [at('generateContent'), [['x-goog-api-key', testKey]], 400, 'INVALID_ARGUMENT', 'MISSING_REQUIRED_PARAMETER'],
  ] as const) {
    const asked = status === 400 ? {} : { contents };
    const refused = await rig.post(path, asked, { headers: [...headers, ['content-type', 'application/json']] });
    const { code, status: said, details } = errorIn(refused);
    assert.deepEqual([refused.status, code, said, details[0].reason], [status, status, word, reason]);
  }
  up.respondWith((_request, reply) =>
    reply.bytes(
      403,
      [['content-type', 'text/plain']],
      '{"error":{"code":403,"message":"The API has not been used in project 123","status":"PERMISSION_DENIED"}}',
    ),
  );
  const withheld = await rig.post(at('generateContent', 'same'), { contents });
  assert.deepEqual([withheld.status, errorIn(withheld).status], [403, 'PERMISSION_DENIED']);
  assert.equal(withheld.header('content-type'), 'application/json');
  assert.doesNotMatch(withheld.body.toString(), /123/);
});

test('the output limit is read in both spellings, and the larger counts', async (t) => {
  // Ten dollars a million: 100 tokens cost a tenth of a cent.
  const key = { budgets: [{ every: 'day', amount: '0.002' }] };
  const { rig } = await startSetup(t, answering, { key, model: { price: { input: 0, output: 10 } } });
  const ask = async (more: object) => (await rig.post(at('generateContent'), { contents, ...more })).status;
  assert.equal(await ask({ generationConfig: { maxOutputTokens: 150 } }), 200);
  for (const more of [
    {},
    { generationConfig: { maxOutputTokens: 0 } },
    { generationConfig: { maxOutputTokens: 2_000 } },
    { generationConfig: { maxOutputTokens: '2000' } },
    { generation_config: { max_output_tokens: 2_000 } },
    { generationConfig: { maxOutputTokens: 1, max_output_tokens: 2_000 } },
    { generationConfig: { maxOutputTokens: 1 }, generation_config: { maxOutputTokens: 2_000 } },
    { generationConfig: { maxOutputTokens: 150, candidateCount: 8 } },
    { generationConfig: { maxOutputTokens: 150, candidate_count: '8' } },
  ]) {
    assert.equal(await ask(more), 429, JSON.stringify(more));
  }
  assert.equal(await ask({ generationConfig: { maxOutputTokens: 150, candidateCount: 1 } }), 200);
});

test('references to content outside the body are refused by name under a budget, and pass otherwise', async (t) => {
  const key = { budgets: [{ every: 'day', amount: '1' }] };
  const bounded = await startSetup(t, answering, { key });
  const free = await startSetup(t, answering);
  const part = (one: object) => ({ contents: [{ parts: [one] }], generationConfig: { maxOutputTokens: 1 } });
  for (const [body, param] of [
    [part({ inlineData: { mimeType: 'image/png', data: 'AAAA' } }), 'inlineData'],
    [part({ inline_data: { mime_type: 'image/png', data: 'AAAA' } }), 'inline_data'],
    [part({ fileData: { fileUri: 'https://www.youtube.com/watch?v=x' } }), 'fileData'],
    [part({ file_data: { file_uri: 'https://pictures.example/a.png' } }), 'file_data'],
    [{ ...part({ text: 'x' }), tools: [{ googleSearch: {} }] }, 'tools'],
    [{ ...part({ text: 'x' }), tools: [{ functionDeclarations: [], codeExecution: {} }] }, 'tools'],
  ] as const) {
    const refused = await bounded.rig.post(at('generateContent'), body);
    assert.equal(refused.status, 400, JSON.stringify(body));
    assert.equal(errorIn(refused).details[0].metadata.param, param);
    assert.equal((await free.rig.post(at('generateContent'), body)).status, 200);
  }
  const own = { ...part({ text: 'x' }), tools: [{ functionDeclarations: [{ name: 'f' }] }] };
  assert.equal((await bounded.rig.post(at('generateContent'), own)).status, 200);
});

test("a request that names cached content or files stored in the operator's Google account is refused", async (t) => {
  const { rig, up } = await startSetup(t, answering);
  const uri = (fileUri: string) => ({ contents: [{ parts: [{ fileData: { fileUri } }] }] });
  for (const [verb, body] of [
    ['generateContent', { contents, cachedContent: 'cachedContents/1' }],
    ['streamGenerateContent', { contents, cached_content: 'cachedContents/1' }],
    ['countTokens', { generateContentRequest: { contents, cachedContent: 'cachedContents/1' } }],
    ['generateContent', uri('https://generativelanguage.googleapis.com/v1beta/files/abc')],
    ['generateContent', uri('https://GenerativeLanguage.GoogleAPIs.com./v1beta/files/abc')],
    ['generateContent', uri('https://a@storage.googleapis.com/b/c')],
    ['generateContent', uri('files/abc')],
    ['generateContent', uri('gs://bucket/object')],
    ['countTokens', { contents: [{ parts: [{ file_data: { file_uri: 'gs://bucket/object' } }] }] }],
    ['embedContent', { content: { parts: [{ file_data: { file_uri: 'files/abc' } }] } }],
    ['batchEmbedContents', { requests: [{ content: { parts: [{ fileData: { fileUri: 'files/abc' } }] } }] }],
    ['generateContent', { contents, tools: [{ retrieval: { vertexAiSearch: { datastore: 'projects/p' } } }] }],
    ['generateContent', { contents, tools: [{ file_search: { fileSearchStoreNames: ['fileSearchStores/x'] } }] }],
    ['generateContent', '{"contents":[{"parts":[{"fileData":{"\\u0066ileUri":"files/abc"}}]}]}'],
  ] as const) {
    const refused = await rig.post(at(verb), body);
    assert.deepEqual(
      [refused.status, errorIn(refused).details[0].reason],
      [404, 'OBJECT_NOT_FOUND'],
      JSON.stringify(body) + refused.body.toString(),
    );
  }
  assert.equal(up.requests.length, 0);
  const call = { functionCall: { name: 'open', args: { fileUri: 'files/mine', retrieval: { a: 1 } } } };
  const schema = { type: 'object', properties: { fileUri: { type: 'string' }, retrieval: { type: 'object' } } };
  const tools = [{ functionDeclarations: [{ name: 'open', parameters: schema }] }];
  const passed = await rig.post(at('generateContent'), { contents: [{ parts: [call] }], tools });
  assert.equal(passed.status, 200, passed.body.toString());
});

test('token counting is free, embeddings are billed by length, and a hidden model does not embed', async (t) => {
  const { rig } = await startSetup(t, (_request, reply) => reply.json(200, { totalTokens: 9 }), {
    model: { visible: false, price: { input: 1_000 } },
  });
  assert.equal((await rig.post(at('countTokens'), { contents })).status, 200);
  assert.equal((await rig.exchange(1)).bill?.costNanos, 0);
  const hidden = await rig.post(at('embedContent'), { content: { parts: [{ text: 'a' }] } });
  assert.deepEqual([hidden.status, errorIn(hidden).details[0].reason], [404, 'MODEL_NOT_FOUND']);
  await rig.post(at('batchEmbedContents', 'same'), { requests: [{ content: {} }, { content: {} }] });
  const { estimate, route } = await rig.exchange(3);
  assert.deepEqual([estimate?.items, route?.operation, route?.label], [2, 'embeddings', 'gemini']);
});
