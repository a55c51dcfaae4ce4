/** Ollama's `chat` and `generate` where the upstreams speak them too: bytes pass both ways, and what they count is billed. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { lastChunk, toChunk, toHead } from '../support/clients/http-message.ts';
import { assertAnswer, assertRefusal } from '../support/gateways/client-apis.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const counts = '"total_duration":5,"prompt_eval_count":26,"prompt_eval_duration":1,"eval_count":290,"eval_duration":2';
const whole = `{ "model":"real","message":{"role":"assistant","content":"a \\"eval_count\\": 7"},"done":true,${counts}}`;
const lines = [
  '{"model":"real","message":{"role":"assistant","content":"H\\u00e9"},"done":false}\n',
  '{"model":"real","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"eval_count":9}}}]},"done":false}\n',
  `{"model":"real","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",${counts}}\n`,
];

const answering: Handler = (request, reply) =>
  request.body.includes('"stream":false')
    ? reply.bytes(200, [['content-type', 'application/json; charset=utf-8']], whole)
    : reply.bytes(200, [['content-type', 'application/x-ndjson']], lines.join(''));

async function startSetup(
  t: TestContext,
  script: Handler = answering,
  key: object = {},
): Promise<{ rig: Rig; up: FakeUpstream }> {
  const up = await startFakeUpstream(script);
  t.after(() => up.close());
  const price = { input: 1, output: 10 };
  const serves = { operations: ['completions', 'chat'], price, max_output: 1_000, context: 8_192 };
  const ollama = { upstream: 'ollama', model: 'real:1b' };
  const openai = { upstream: 'openai', model: 'real', priority: 1 };
  const rig = await startRig(t, {
    upstreams: [
      { id: 'ollama', family: 'ollama', base_url: up.url, api_key: 'sk-upstream-secret-0123456789' },
      { id: 'openai', family: 'openai', base_url: `${up.url}/other`, api_key: 'sk-upstream-secret-0123456789' },
    ],
    models: [
      { id: 'm', ...serves, targets: [ollama] },
      { id: 'mixed', ...serves, targets: [openai, ollama] },
      { id: 'foreign', ...serves, targets: [openai] },
    ],
    keys: [{ id: 'test', secret: testKey, ...key }],
  });
  return { rig, up };
}

test('chat and generate pass byte for byte with the model renamed', async (t) => {
  const { rig, up } = await startSetup(t);
  const rows = [
    ['/api/chat', '"messages":[{"role":"user","content":"\\u00e9","images":[]}],"think":"low","format":{"a":1.0}'],
    ['/ollama/api/chat', '"messages":[]'],
    [
      '/api/generate',
      '"prompt":"x","system":"s","template":"t","images":["AA=="],"format":"json","think":true,"raw":true',
    ],
  ] as const;
  for (const [path, fields] of rows) {
    for (const [stream, expected] of [
      ['"stream":false', whole],
      ['"stream":true', lines.join('')],
      ['"keep_alive":-1', lines.join('')],
    ] as const) {
      const body = (model: string): string => `{ ${fields},"model":"${model}" ,"options":{"num_ctx":1e3},${stream}}`;
      const answer = await rig.post(path, body('m:latest'));
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.body.toString(), expected);
      assert.equal(answer.header('x-postern-translated'), undefined);
      const { path: asked, body: sent } = await up.nextRequest();
      assert.equal(asked, path.replace('/ollama', ''));
      assert.equal(sent.toString(), body('real:1b'));
      const { bill, usage } = await rig.exchange(rig.settled.length);
      assert.deepEqual([usage?.promptTokens, usage?.completionTokens], [26, 290], `${path} ${stream}`);
      assert.deepEqual([bill?.costNanos, bill?.isEstimated], [26 * 1_000 + 290 * 10_000, false]);
    }
  }
});

test("/api/chat passes to targets with Ollama's API; /api/generate only if all targets of the model have it", async (t) => {
  const { rig, up } = await startSetup(t, (request, reply) =>
    request.path.endsWith('/completions')
      ? reply.json(200, { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] })
      : answering(request, reply),
  );
  assertAnswerOf(await rig.post('/api/chat', { model: 'mixed', messages: [], stream: false }));
  assert.equal((await up.nextRequest()).path, '/api/chat');
  assertAnswer(await rig.post('/api/generate', { model: 'mixed', prompt: 'p', stream: false }), /"response":"x"/);
  assert.match((await up.nextRequest()).path, /chat\/completions$/);
  const messages = [{ role: 'user', content: 'p' }];
  assertAnswer(await rig.post('/api/chat', { model: 'foreign', messages, stream: false }), /"content":"x"/);
  assert.equal((await up.nextRequest()).path, '/other/chat/completions');
  assertRefusal(await rig.post('/api/chat', { model: 'm', messages: {} }), 400, {
    error: 'The field "messages" must be an array; an object came.',
  });
  assert.equal((await rig.post('/api/chat', { model: 'nobody', messages: [] })).status, 404);
  assert.equal(up.requests.length, 3);
});

function assertAnswerOf(answer: { readonly status: number; readonly body: Buffer }): void {
  assert.deepEqual([answer.status, answer.body.toString()], [200, whole]);
}

test("an error has the shape of Ollama's API", async (t) => {
  const { rig } = await startSetup(t, (_request, reply) => reply.json(404, { error: "model 'real:1b' not found" }));
  for (const path of ['/api/chat', '/api/generate']) {
    const answer = await rig.post(path, { model: 'm', prompt: 'p', messages: [] });
    assertRefusal(answer, 404, { error: "model 'real:1b' not found" });
  }
});

test('the output is bounded by num_predict, else by the model', async (t) => {
  const budget = { budgets: [{ every: 'day', amount: '0.005' }] };
  const { rig } = await startSetup(t, answering, { ...budget });
  const ask = (options: unknown) => rig.post('/api/chat', { model: 'm', messages: [], stream: false, options });
  for (const options of [{}, null, { num_predict: -1 }, { num_predict: 1e9 }, { num_predict: '1' }]) {
    const answer = await ask(options);
    assert.equal(answer.status, 429, `${JSON.stringify(options)}: ${answer.body}`);
  }
  assert.equal((await ask({ num_predict: 400 })).status, 200);
});

test('a stream truncated at any byte is visibly broken for the client', async (t) => {
  const bytes = Buffer.concat([
    toHead('HTTP/1.1 200 OK', [
      ['Content-Type', 'application/x-ndjson'],
      ['Transfer-Encoding', 'chunked'],
    ]),
    ...lines.map((line) => toChunk(Buffer.from(line))),
    lastChunk,
  ]);
  let stop = 0;
  const { rig } = await startSetup(t, async (_request, reply) => {
    if (stop > 0) await reply.raw(bytes.subarray(0, stop));
    reply.cut();
  });
  for (stop = 0; stop <= bytes.length; stop += stop < 120 || stop > bytes.length - 40 ? 1 : 7) {
    const answer = await rig.post('/api/chat', { model: 'm', messages: [] });
    const { outcome } = await rig.exchange(rig.settled.length);
    if (answer.status !== 200) {
      assert.deepEqual([answer.status, outcome], [502, 'error'], `${stop}`);
      assert.match(answer.body.toString(), /^\{"error":"/);
      continue;
    }
    const isWhole = stop === bytes.length;
    assert.deepEqual([answer.complete, outcome], [isWhole, isWhole ? 'ok' : 'cut'], `${stop}`);
    assert.ok(lines.join('').startsWith(answer.body.toString()));
  }
});
