/** A real nginx on either side: as the load balancer in front, and as the server behind. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { request } from '../support/raw-client.ts';
import { startRig, testKey } from '../support/rig.ts';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return address.port;
}

/** Runs nginx with one server block, and resolves with its port once it takes connections. */
async function startNginx(t: TestContext, block: string): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-nginx-'));
  const port = await freePort();
  const configuration = `
    daemon off; master_process off; pid ${directory}/pid; error_log ${directory}/error.log;
    events {}
    http {
      access_log off; client_max_body_size 64m;
      client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p; fastcgi_temp_path ${directory}/f;
      uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
      server { listen 127.0.0.1:${port}; ${block} }
    }`;
  await writeFile(join(directory, 'nginx.conf'), configuration);
  const nginx = spawn('nginx', ['-p', directory, '-c', join(directory, 'nginx.conf')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => nginx.once('exit', resolve));
  t.after(async () => {
    nginx.kill('SIGTERM');
    await ended;
    await rm(directory, { recursive: true, force: true });
  });
  for (let tries = 0; tries < 100; tries += 1) {
    if (await takesConnections(port)) return port;
    await wait(50);
  }
  throw new Error('nginx did not start: is it installed?');
}

async function takesConnections(port: number): Promise<boolean> {
  const answer = await request({ port, method: 'GET', path: '/probe', timeoutMs: 500 }).catch(() => undefined);
  return (answer?.status ?? 0) > 0;
}

const embedding = {
  upstreams: (url: string) => [{ id: 'up', family: 'openai', base_url: url, api_key: 'sk-upstream-secret' }],
  models: [{ id: 'm', targets: [{ upstream: 'up', model: 'theirs' }] }],
};
const headers: [string, string][] = [
  ['Authorization', `Bearer ${testKey}`],
  ['Content-Type', 'application/json'],
];

test('behind nginx, bodies large and small and streams pass unchanged', async (t) => {
  const upstream = await startFakeUpstream(async (seen, reply) => {
    if (seen.path.endsWith('/completions')) return reply.sse(['one', 'two', '[DONE]'], { everyMs: 20 });
    return reply.bytes(200, [['content-type', 'application/json']], seen.body);
  });
  t.after(() => upstream.close());
  const rig = await startRig(t, { upstreams: embedding.upstreams(upstream.url), models: embedding.models });
  const port = await startNginx(
    t,
    `location / { proxy_pass http://127.0.0.1:${rig.port}; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection ""; }`,
  );

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

test('in front of nginx, its answers and its errors pass unchanged', async (t) => {
  const port = await startNginx(
    t,
    `location /v1/embeddings { default_type application/json; add_header X-Served-By nginx; return 200 '{"ok": 1.0 }'; }
     location /v1/rerank { return 503 'busy'; }
     location /v1/moderations { return 301 http://127.0.0.1:1/; }`,
  );
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
