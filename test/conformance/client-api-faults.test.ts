/** Faults behind a client API, and missing permissions of a key: reported in the format of its clients. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { connect } from '../support/clients/raw-connection.ts';
import { assertAnswer, embedder, oddVector, startClientApis } from '../support/gateways/client-apis.ts';
import { testKey } from '../support/gateways/rig.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const json: [string, string] = ['content-type', 'application/json'];
const good = `{"data":[{"index":0,"embedding":${oddVector}}],"usage":{"prompt_tokens":5,"total_tokens":5}}`;
const asked = { model: 'direct', input: 'a' };

test('a broken, too long or invalid response is an error', async (t) => {
  const rows: readonly (readonly [script: Handler, expected: RegExp])[] = [
    [
      async (_request, reply) => {
        await reply.head(200, [json, ['content-length', '1000']]);
        await reply.raw(good.slice(0, 20));
        reply.cut();
      },
      /^\{"error":"The upstream/,
    ],
    [(_request, reply) => reply.bytes(200, [json], `{"data":"${'x'.repeat(5_000)}"}`), /answer_limit/],
    [(_request, reply) => reply.bytes(200, [json], '<html>'), /a page came/],
    [(_request, reply) => reply.bytes(200, [json], '{"data":[{"embedding":"%"}]}'), /vector of input 0/],
    [(_request, reply) => reply.bytes(200, [json], '{"data":[{"index":1,"embedding":[1]}]}'), /index 1/],
  ];
  for (const [script, expected] of rows) {
    const { rig, upstream } = await startClientApis(t, script);
    const snapshot = await rig.compile({
      upstreams: [
        { id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-secret', answer_limit: '4KiB' },
      ],
      models: [{ id: 'direct', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
    });
    assert.deepEqual(rig.app.swap(snapshot), []);
    const answer = await rig.post('/api/embed', asked);
    assert.equal(answer.status, 502, answer.body.toString());
    assert.match(answer.body.toString(), expected);
  }
});

test('a compressed response is read even if none was requested', async (t) => {
  const { rig, upstream } = await startClientApis(t, (_request, reply) =>
    reply.bytes(200, [json, ['content-encoding', 'gzip']], gzipSync(good)),
  );
  const answer = await rig.post('/tei/direct/embed', '{"inputs":"a"}', {
    headers: [['Authorization', `Bearer ${testKey}`], json, ['Accept-Encoding', 'gzip, br']],
  });
  assertAnswer(answer, `[${oddVector}]`);
  assert.equal(answer.header('content-encoding'), undefined);
  const { headers } = await upstream.nextRequest();
  assert.ok(!headers.some(([name]) => name.toLowerCase() === 'accept-encoding'));
});

const narrowKey = 'narrow-key-with-enough-characters';
const shyKey = 'shyly-key-with-enough-characters';

test('keys, models, operations and limits apply as on the plain route', async (t) => {
  const { rig, upstream } = await startClientApis(t, embedder, {
    keys: [
      { id: 'narrow', secret: narrowKey, models: ['translated'], limits: { requests_per_minute: 1 } },
      { id: 'shy', secret: shyKey, operations: ['rerank'] },
    ],
  });
  const post = (path: string, body: object, key: string) =>
    rig.post(path, body, { headers: [['Authorization', `Bearer ${key}`]] });
  const rows = [
    ['/api/embed', asked, narrowKey, 404, ['error']],
    ['/v2/embed', { model: 'direct', texts: ['a'] }, narrowKey, 404, ['message', 'id']],
    ['/tei/direct/embed', { inputs: 'a' }, shyKey, 403, ['error', 'error_type']],
    ['/api/generate', { model: 'words', prompt: 'a' }, shyKey, 403, ['error']],
  ] as const;
  for (const [path, body, key, status, members] of rows) {
    const answer = await post(path, body, key);
    assert.equal(answer.status, status, `${path}: ${answer.body}`);
    assert.deepEqual(Object.keys(answer.json() as object), members, path);
  }
  assert.equal(upstream.requests.length, 0);
  assertAnswer(await post('/api/embed', { model: 'translated', input: 'a' }, narrowKey), /embeddings/);
  const late = await post('/v2/embed', { model: 'translated', texts: ['a'] }, narrowKey);
  assert.deepEqual([late.status, late.header('retry-after') !== undefined], [429, true]);
  assert.match(late.body.toString(), /^\{"message":/);
});

test('another target answers if the first one cannot', async (t) => {
  const { rig, upstream } = await startClientApis(t, (request, reply) =>
    request.path === '/v2/embed' ? embedder(request, reply) : reply.json(500, { error: { message: 'down' } }),
  );
  const common = { base_url: upstream.url, api_key: 'sk-upstream-secret' };
  const snapshot = await rig.compile({
    upstreams: [
      { id: 'first', family: 'openai', ...common },
      { id: 'second', family: 'cohere', ...common },
    ],
    models: [
      {
        id: 'direct',
        operations: ['embeddings'],
        space: 'one',
        targets: [
          { upstream: 'first', priority: 0 },
          { upstream: 'second', priority: 1 },
        ],
      },
    ],
  });
  assert.deepEqual(rig.app.swap(snapshot), []);
  assertAnswer(await rig.post('/api/embeddings', { model: 'direct', prompt: 'a' }), `{"embedding":${oddVector}}`);
});

test('a client that disconnects is no upstream failure', async (t) => {
  let left = false;
  const { rig, upstream } = await startClientApis(t, async (_request, reply) => {
    await reply.head(200, [json, ['content-length', '1000']]);
    await reply.raw('{"data":[');
    await reply.clientClosed;
    left = true;
  });
  const body = JSON.stringify(asked);
  const client = await connect(rig.port);
  client.write(
    `POST /api/embed HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await upstream.nextRequest();
  client.destroy();
  const { outcome, errorCode } = await rig.exchange();
  assert.deepEqual([outcome, errorCode], ['aborted', 'client_closed']);
  await until(() => left);
});
