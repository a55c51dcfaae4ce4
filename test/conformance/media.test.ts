/** Pictures and speech as clients meet them: the official library, prices, and what a budget holds against them. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import OpenAI from 'openai';
import { assertError } from '../support/clients/error-answer.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const pictures = '/v1/images/generations';
const aloud = '/v1/audio/speech';
const usage = { input_tokens: 10, output_tokens: 272, total_tokens: 282 };
const sound = Buffer.from([0x49, 0x44, 0x33, 0x00, 0xff, 0x80, 0x0d, 0x0a]);

const picture: Script = (_request, reply) => reply.json(200, { created: 1, data: [{ b64_json: 'AAAA' }], usage });
const speaks: Script = (_request, reply) => reply.bytes(200, [['content-type', 'audio/mpeg']], sound);

async function startSetup(
  t: TestContext,
  script: Script,
  { model = {}, key = {} }: { readonly model?: object; readonly key?: object },
): Promise<{ rig: Rig; up: FakeUpstream }> {
  const up = await startFakeUpstream(script);
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-upstream-credential' }],
    models: [
      { id: 'm', operations: ['images', 'speech'], targets: [{ upstream: 'up', model: 'real' }], ...model },
      { id: 'e', operations: ['embeddings'], targets: [{ upstream: 'up' }] },
    ],
    keys: [{ id: 'test', secret: testKey, ...key }],
  });
  return { rig, up };
}

test('images are billed by tokens with a token price, and per returned image with an image price', async (t) => {
  const byToken = await startSetup(t, picture, { model: { price: { input: 5, output: 40 } } });
  await byToken.rig.post(pictures, { model: 'm', prompt: 'p' });
  // 10 at 5 and 272 at 40 dollars a million.
  assert.equal((await byToken.rig.exchange(1)).bill?.costNanos, 10_930_000);
  const each = await startSetup(t, picture, { model: { price: { image: 0.02 } } });
  await each.rig.post(pictures, { model: 'm', prompt: 'p', n: 3 });
  const { bill } = await each.rig.exchange(1);
  // Three were requested, and one came.
  assert.deepEqual([bill?.images, bill?.costNanos, bill?.isEstimated], [1, 20_000_000, false]);
});

const bySize = {
  image: [
    { size: '1024x1024', quality: 'standard', price: 0.04 },
    { size: '1024x1024', quality: 'hd', price: 0.08 },
    { size: '1792x1024', quality: 'hd', price: 0.12 },
    { quality: 'low', price: 0.011 },
  ],
};

const rowsOfPictures: readonly [name: string, asked: object, script: Script, images: number, nanos: number][] = [
  ['in the request', { size: '1024x1024', quality: 'hd', n: 2 }, answering({}, 2), 2, 160_000_000],
  ['of the first matching price row if neither request nor answer has them', {}, answering({}), 1, 40_000_000],
  [
    'in the answer if the request leaves them open',
    { size: 'auto' },
    answering({ quality: 'low', size: '1024x1536', usage }),
    1,
    11_000_000,
  ],
  ['in the answer, which overrides the request', { quality: 'hd' }, answering({ quality: 'low' }), 1, 11_000_000],
  [
    'of the most expensive price row if none matches',
    { size: '512x512', quality: 'hd' },
    answering({}),
    1,
    120_000_000,
  ],
  ['in the events of completed images', { stream: true, partial_images: 1, n: 2 }, streaming, 2, 22_000_000],
];

function answering(more: object, count = 1): Script {
  const data = Array.from({ length: count }, () => ({ b64_json: 'A'.repeat(100_000), revised_prompt: '"url":"x"' }));
  return (_request, reply) => reply.json(200, { created: 1, data, ...more });
}

function streaming(...[, reply]: Parameters<Handler>): Promise<void> {
  const event = (type: string) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: 'A'.repeat(50_000), size: '1024x1024', quality: 'low' })}\n\n`;
  const part = event('image_generation.partial_image');
  const done = event('image_generation.completed');
  return reply.bytes(200, [['content-type', 'text/event-stream']], Buffer.from(part + done + part + done));
}

for (const [name, asked, script, images, nanos] of rowsOfPictures) {
  test(`an image is billed by size and quality ${name}`, async (t) => {
    const { rig } = await startSetup(t, script, { model: { price: bySize } });
    const { body } = await rig.post(pictures, { model: 'm', prompt: 'p', ...asked });
    assert.ok(body.length > 50_000);
    const { bill } = await rig.exchange(1);
    assert.deepEqual([bill?.images, bill?.costNanos], [images, nanos]);
  });
}

test('a budget reserves the most expensive kind of image that may result', async (t) => {
  const key = { budgets: [{ every: 'month', amount: 0.1 }] };
  const { rig } = await startSetup(t, answering({}), { key, model: { price: bySize } });
  const post = (more: object) => rig.post(pictures, { model: 'm', prompt: 'p', ...more });
  await assertError(await post({ size: 'auto' }), 'budget_exceeded');
  assert.equal((await post({ size: '1024x1024' })).status, 200);
  await assertError(await post({ size: '1024x1024', quality: 'hd' }), 'budget_exceeded');
});

test('a budget reserves the number of images that a form requests, and the maximum if n is not a number', async (t) => {
  const key = { budgets: [{ every: 'month', amount: 1 }] };
  const { rig } = await startSetup(t, answering({}), {
    key,
    model: { operations: ['image_edits'], price: { image: 0.4 } },
  });
  const headers: [string, string][] = [
    ['Authorization', `Bearer ${testKey}`],
    ['Content-Type', 'multipart/form-data; boundary=b'],
  ];
  const edit = (n: string) => {
    const fields = { model: 'm', prompt: 'p', n, 'image"; filename="x.png': 'PNG' };
    const parts = Object.entries(fields).map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    return rig.post('/v1/images/edits', Buffer.from(`${parts.join('')}--b--\r\n`), { headers });
  };
  for (const n of ['3', 'two']) assertError(await edit(n), 'budget_exceeded');
  assert.equal((await edit('2')).status, 200);
});

test("images without token usage are billed at the model's maximum", async (t) => {
  const script: Script = (_request, reply) => reply.json(200, { created: 1, data: [] });
  const { rig } = await startSetup(t, script, { model: { price: { output: 40 }, max_output: 1_000 } });
  await rig.post(pictures, { model: 'm', prompt: 'p', n: 2, partial_images: 1 });
  const { bill } = await rig.exchange(1);
  assert.deepEqual([bill?.outputTokens, bill?.isEstimated], [4_000, true]);
});

test('speech is billed by characters, with escapes decoded', async (t) => {
  const { rig } = await startSetup(t, speaks, { model: { price: { character: 15 } } });
  await rig.post(aloud, '{"model":"m","voice":"alloy","input":"\\u00e9🚀 \\ud83d\\ude80ab"}');
  const { bill } = await rig.exchange(1);
  // é, a rocket, a space, a rocket, a, b.
  assert.deepEqual([bill?.costNanos, bill?.isEstimated], [90_000, false]);
});

test('speech priced by token is estimated, because audio has no usage', async (t) => {
  const { rig } = await startSetup(t, speaks, { model: { price: { input: 0.6, output: 12 }, max_output: 2_000 } });
  await rig.post(aloud, { model: 'm', voice: 'alloy', input: 'x'.repeat(100) });
  const { bill } = await rig.exchange(1);
  assert.deepEqual([bill?.outputTokens, bill?.isEstimated], [150, true]);
});

test('a budget reserves the worst case, and unbounded requests are refused by name', async (t) => {
  const key = { budgets: [{ every: 'day', amount: '0.1' }] };
  const each = await startSetup(t, picture, { key, model: { price: { image: 0.02 } } });
  assert.equal((await each.rig.post(pictures, { model: 'm', prompt: 'p', n: 2 })).status, 200);
  assertError(await each.rig.post(pictures, { model: 'm', prompt: 'p', n: 6 }), 'budget_exceeded');
  const open = await startSetup(t, picture, { key, model: { price: { output: 40 } } });
  assertError(await open.rig.post(pictures, { model: 'm', prompt: 'p' }), 'unsupported_parameter', { param: 'n' });
  const text = { model: 'm', voice: 'alloy', input: 'hello' };
  assertError(await open.rig.post(aloud, text), 'unsupported_parameter', { param: 'input' });
  assert.equal(open.up.requests.length, 0);
  const bounded = await startSetup(t, picture, { key, model: { price: { output: 40 }, max_output: 1_000 } });
  assert.equal((await bounded.rig.post(pictures, { model: 'm', prompt: 'p' })).status, 200);
  assertError(await bounded.rig.post(pictures, { model: 'm', prompt: 'p', n: 3 }), 'budget_exceeded');
});

test('image and speech requests to a model without these operations get 400 that names the model field', async (t) => {
  const { rig, up } = await startSetup(t, picture, {});
  for (const [path, body] of [
    [pictures, { model: 'e', prompt: 'p' }],
    [aloud, { model: 'e', input: 'i' }],
  ] as const) {
    assertError(await rig.post(path, body), 'operation_not_supported', { param: 'model' });
  }
  assert.equal(up.requests.length, 0);
});

test('the official library makes images and speech', async (t) => {
  const { rig } = await startSetup(
    t,
    (request, reply) => (request.path.endsWith('/speech') ? speaks : picture)(request, reply),
    {},
  );
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: testKey, maxRetries: 0 });
  const made = await client.images.generate({ model: 'm', prompt: 'p' });
  assert.equal(made.data?.[0]?.b64_json, 'AAAA');
  const spoken = await client.audio.speech.create({ model: 'm', voice: 'alloy', input: 'hello' });
  assert.deepEqual(Buffer.from(await spoken.arrayBuffer()), sound);
});
