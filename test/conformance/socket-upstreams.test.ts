/** Upstreams behind sockets of this machine: calls, translated ones, health checks and fallbacks as with any other. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { startRig } from '../support/gateways/rig.ts';
import { patiently } from '../support/time/patience.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const vectors = { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [1] }], usage: {} };

async function startBehindSocket(t: TestContext): Promise<FakeUpstream> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-socket-'));
  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, vectors), {
    socketPath: join(directory, 'up.sock'),
  });
  t.after(async () => {
    await upstream.close();
    await rm(directory, { recursive: true });
  });
  return upstream;
}

const model = { id: 'm', operations: ['embeddings', 'rerank'], space: 's', targets: [{ upstream: 'up' }] };
const question = { model: 'm', input: 'x' };

test('a call goes to the Unix socket with host localhost, and reuses its connection', async (t) => {
  const upstream = await startBehindSocket(t);
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: `${upstream.url}/api/v1`, api_key: 'sk-behind-a-socket' }],
    models: [model],
  });
  for (let turn = 0; turn < 2; turn += 1) assert.equal((await rig.post('/v1/embeddings', question)).status, 200);
  const [first] = upstream.requests;
  assert.equal(first?.path, '/api/v1/embeddings');
  assert.equal(first?.header('host'), 'localhost');
  assert.equal(first?.header('authorization'), 'Bearer sk-behind-a-socket');
  assert.equal(upstream.connections().accepted, 1);
});

test('translated and signed calls use the socket as well', async (t) => {
  const upstream = await startBehindSocket(t);
  upstream.respondWith((_request, reply) => reply.json(200, { embeddings: { float: [[1]] }, response_type: 'x' }));
  const key = `AKIDEXAMPLE:${'k'.repeat(40)}`;
  const options = { region: 'us-east-1' };
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'bedrock', base_url: upstream.url, api_key: key, options }],
    models: [{ ...model, operations: ['embeddings'], targets: [{ upstream: 'up', model: 'cohere.embed-v4:0' }] }],
  });
  const answer = await rig.post('/v1/embeddings', question);
  assert.equal(answer.status, 200, answer.body.toString());
  assert.match(upstream.requests[0]?.header('authorization') ?? '', /^AWS4-HMAC-SHA256 .*SignedHeaders=[^,]*host/);
});

test('an upstream at a socket is health-checked, and skipped if the socket is missing', async (t) => {
  const upstream = await startBehindSocket(t);
  const health_check = { path: '/health', interval: patiently(100), timeout: patiently(100) };
  const rig = await startRig(t, {
    upstreams: [
      { id: 'gone', family: 'openai', base_url: 'unix:/nowhere/up.sock:/v1', api_key: 'k' },
      { id: 'up', family: 'openai', base_url: `${upstream.url}/v1`, api_key: 'k', health_check },
    ],
    models: [
      {
        ...model,
        targets: [
          { upstream: 'gone', priority: 0 },
          { upstream: 'up', priority: 1 },
        ],
      },
      { ...model, id: 'alone', targets: [{ upstream: 'gone' }] },
    ],
  });
  assert.equal((await upstream.nextRequest()).path, '/health');
  assert.equal((await rig.post('/v1/embeddings', question)).status, 200);
  const alone = await rig.post('/v1/embeddings', { ...question, model: 'alone' });
  assertError(alone, 'upstream_unreachable');
  assert.doesNotMatch(alone.body.toString(), /nowhere/);
});
