/** A real nginx on either side: as the load balancer in front, and as the server behind. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { request } from '../support/clients/raw-client.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startNginx } from '../support/servers/nginx.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const embedding = {
  upstreams: (url: string) => [{ id: 'up', family: 'openai', base_url: url, api_key: 'sk-upstream-secret' }],
  models: [{ id: 'm', targets: [{ upstream: 'up', model: 'theirs' }] }],
};
const headers: [string, string][] = [
  ['Authorization', `Bearer ${testKey}`],
  ['Content-Type', 'application/json'],
];

test('behind nginx, small and large bodies and streams pass unchanged', async (t) => {
  const upstream = await startFakeUpstream(async (seen, reply) => {
    if (seen.path.endsWith('/completions')) return reply.sse(['one', 'two', '[DONE]'], { everyMs: 20 });
    return reply.bytes(200, [['content-type', 'application/json']], seen.body);
  });
  t.after(() => upstream.close());
  const rig = await startRig(t, { upstreams: embedding.upstreams(upstream.url), models: embedding.models });
  const { port } = await startNginx(t, {
    server: `location / { proxy_pass http://127.0.0.1:${rig.port}; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection ""; }`,
  });

  for (const input of ['x', 'é模'.repeat(2_000_000)]) {
    const answer = await request({ port, path: '/v1/embeddings', headers, body: { model: 'm', input } });
    assert.equal(answer.status, 200);
    assert.deepEqual(JSON.parse(answer.body.toString()), { model: 'theirs', input });
  }
  const stream = await request({ port, path: '/v1/completions', headers, body: { model: 'm', prompt: 'x' } });
  assert.equal(stream.body.toString(), 'data: one\n\ndata: two\n\ndata: [DONE]\n\n');
  const refused = await request({ port, path: '/v1/embeddings', headers, body: '{"model":' });
  assert.equal(refused.status, 400);
});

test('in front of nginx, its responses and errors pass unchanged', async (t) => {
  const { port } = await startNginx(t, {
    server: `location /v1/embeddings { default_type application/json; add_header X-Served-By nginx; return 200 '{"ok": 1.0 }'; }
     location /v1/rerank { return 503 'busy'; }
     location /v1/moderations { return 301 http://127.0.0.1:1/; }`,
  });
  const rig = await startRig(t, {
    upstreams: embedding.upstreams(`http://127.0.0.1:${port}/v1`),
    models: embedding.models,
  });

  for (let turn = 0; turn < 20; turn += 1) {
    const answer = await rig.post('/v1/embeddings', { model: 'm', input: 'x' });
    assert.equal(answer.body.toString(), '{"ok": 1.0 }');
    assert.equal(answer.header('x-served-by'), 'nginx');
    assert.equal(answer.header('server'), undefined);
  }
  const busy = await rig.post('/v1/rerank', { model: 'm', query: 'q', documents: [] });
  assert.equal(busy.status, 503);
  assert.equal(busy.body.toString(), 'busy');
  const moved = await rig.post('/v1/moderations', { model: 'm', input: 'x' });
  assert.equal(moved.status, 502);
});
