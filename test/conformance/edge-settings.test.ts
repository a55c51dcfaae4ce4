/** What `server` settings do at the edge: base path, TLS, cross-origin access, connections, diagnostics. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Route } from '../../src/core/route.ts';
import { assertError } from '../support/clients/error-answer.ts';
import type { HeaderField } from '../support/clients/http-message.ts';
import { request, toRequestBytes } from '../support/clients/raw-client.ts';
import { connect, type RawConnection } from '../support/clients/raw-connection.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { openaiRoutes, pathUpstream } from '../support/gateways/openai-routes.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { patiently } from '../support/time/patience.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { localhostCertificate, localhostKey } from '../support/upstreams/localhost-certificate.ts';

const fields = {
  model: 'm',
  input: 'x',
  instruction: 'x',
  query: 'x',
  documents: ['x'],
  images: [{}],
  messages: [{ role: 'user', content: 'x' }],
};
/** A prompt is for the routes that want one: in responses it names what an upstream keeps. */
const bodyFor = ({ required }: Route): string =>
  JSON.stringify({ ...fields, ...('prompt' in required && { prompt: 'x' }) });
const body = JSON.stringify(fields);

async function open(
  t: TestContext,
  server: Readonly<Record<string, unknown>>,
): Promise<{ rig: Rig; upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream((_request, reply) =>
    reply.json(200, { ok: true }, [
      ['Access-Control-Allow-Origin', 'https://upstream.example'],
      ['Access-Control-Allow-Credentials', 'true'],
    ]),
  );
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    server,
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', space: 'space-1', targets: [{ upstream: 'up' }] }],
  });
  return { rig, upstream };
}

for (const written of ['/ai', 'ai/', '/team/a-b_c.d~e/']) {
  const base = `/${written.replace(/^\/|\/$/g, '')}`;
  test(`base_path ${written} puts every route under ${base}, and leaves only health checks outside`, async (t) => {
    const { rig, upstream } = await open(t, { base_path: written });
    for (const route of openaiRoutes) {
      for (const path of [route.path, ...route.aliases].map((spelling) => spelling.replace('{model}', 'm'))) {
        assert.equal((await rig.post(base + path, bodyFor(route))).status, 200, base + path);
        assert.equal((await upstream.nextRequest()).path, pathUpstream(route));
        assertError(await rig.post(path, bodyFor(route)), 'route_not_found', { of: path });
        assertError(await rig.post(base + base + path, bodyFor(route)), 'route_not_found');
      }
    }
    for (const path of ['/v1/models', '/models', '/v1/models/m']) {
      assert.equal((await rig.get(base + path)).status, 200);
      assertError(await rig.get(path), 'route_not_found');
    }
    for (const path of ['/healthz', '/readyz']) {
      assert.equal((await rig.get(path)).status, 200);
      assert.equal((await rig.get(base + path)).status, 200);
    }
    assert.equal((await rig.get(base)).body.toString(), 'Ollama is running');
    assertError(await rig.get('/'), 'route_not_found');
    assertError(await rig.post(`${base}x/v1/embeddings`, body), 'route_not_found');
  });
}

const fromBrowser: HeaderField[] = [
  ['Origin', 'https://app.example'],
  ['Access-Control-Request-Method', 'POST'],
  ['Access-Control-Request-Headers', 'authorization,content-type,x-stainless-lang'],
];

const accessHeaders = (headers: readonly HeaderField[]): string[] =>
  headers.map(([name]) => name.toLowerCase()).filter((name) => name.startsWith('access-control-'));

test('without configured origins no response has CORS headers', async (t) => {
  const { rig } = await open(t, {});
  const preflight = await rig.get('/v1/embeddings', { method: 'OPTIONS', headers: fromBrowser });
  assertError(preflight, 'method_not_allowed');
  const headers: HeaderField[] = [...fromBrowser, ['x-api-key', testKey]];
  for (const answer of [
    preflight,
    await rig.post('/v1/embeddings', body, { headers }),
    await rig.post('/v1/embeddings', '{', { headers }),
    await rig.get('/v1/models', { headers }),
  ]) {
    assert.deepEqual(accessHeaders(answer.headers), []);
  }
});

test('CORS permits configured origins, including preflight and errors, and no others', async (t) => {
  const { rig } = await open(t, { cors: { origins: ['https://app.example', 'http://localhost:3000'] } });
  const preflight = await rig.get('/v1/embeddings', { method: 'OPTIONS', headers: fromBrowser });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.body.length, 0);
  assert.equal(preflight.header('access-control-allow-origin'), 'https://app.example');
  assert.match(preflight.header('access-control-allow-methods') ?? '', /\bPOST\b.*\bGET\b/);
  assert.equal(preflight.header('access-control-allow-headers'), 'authorization,content-type,x-stainless-lang');

  for (const [origin, allowed] of [
    ['https://app.example', true],
    ['http://localhost:3000', true],
    ['https://app.example.evil', false],
    ['https://APP.example', false],
    ['http://app.example', false],
    ['https://app.example:8443', false],
    ['null', false],
    ['*', false],
  ] as const) {
    const headers: HeaderField[] = [
      ['Origin', origin],
      ['x-api-key', testKey],
    ];
    for (const answer of [
      await rig.post('/v1/embeddings', body, { headers }),
      await rig.post('/v1/embeddings', '{', { headers }),
      await rig.post('/v1/nowhere', body, { headers }),
      await rig.get('/v1/models', { headers }),
    ]) {
      assert.equal(answer.header('access-control-allow-origin'), allowed ? origin : undefined, origin);
      assert.equal(answer.header('access-control-allow-credentials'), undefined);
      if (allowed) assert.match(answer.header('vary') ?? '', /origin/i);
    }
  }
});

test("an upstream's own Vary header is combined with Origin", async (t) => {
  const { rig, upstream } = await open(t, { cors: { origins: ['https://app.example'] } });
  upstream.respondWith((_request, reply) => reply.json(200, {}, [['Vary', 'Accept-Encoding']]));
  const answer = await rig.post('/v1/embeddings', body, {
    headers: [fromBrowser[0] ?? ['', ''], ['x-api-key', testKey]],
  });
  assert.equal(answer.header('access-control-allow-origin'), 'https://app.example');
  assert.deepEqual((answer.header('vary') ?? '').toLowerCase().split(/, */).toSorted(), ['accept-encoding', 'origin']);
});

test('with CORS origin *, a page of any origin may call with an API key', async (t) => {
  const { rig } = await open(t, { cors: { origins: ['*'] } });
  const preflight = await rig.get('/v1/embeddings', { method: 'OPTIONS', headers: fromBrowser });
  assert.deepEqual([preflight.status, preflight.header('access-control-allow-origin')], [204, '*']);
  const answer = await rig.post('/v1/embeddings', body, {
    headers: [
      ['Origin', 'https://any.example'],
      ['x-api-key', testKey],
    ],
  });
  assert.deepEqual([answer.status, answer.header('access-control-allow-origin')], [200, '*']);
  const keyless = await rig.post('/v1/embeddings', body, { headers: [['Origin', 'https://any.example']] });
  assertError(keyless, 'missing_api_key');
  assert.equal(keyless.header('access-control-allow-origin'), '*');
  // OPTIONS that is no preflight is a method like any other.
  assertError(await rig.get('/v1/embeddings', { method: 'OPTIONS' }), 'method_not_allowed');
});

test('serves TLS to TLS clients; a reload keeps TLS and cannot turn it off', async (t) => {
  const directory = await createDirectory(t, { 'cert.pem': localhostCertificate, 'key.pem': localhostKey });
  const tls = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  const { rig, upstream } = await open(t, { tls });
  const secure = { tls: { ca: localhostCertificate, servername: 'localhost' } };
  const answer = await rig.post('/v1/embeddings', body, secure);
  assert.equal(answer.status, 200);
  assert.equal((await upstream.nextRequest()).body.toString(), body);
  assertError(await rig.post('/v1/embeddings', '{', secure), 'invalid_json');

  // HTTP/1.1 and nothing else, on TLS 1.2 or newer.
  await assert.rejects(request({ port: rig.port, path: '/healthz', tls: { ...secure.tls, ALPNProtocols: ['h2'] } }));
  await assert.rejects(
    request({ port: rig.port, path: '/healthz', tls: { ...secure.tls, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } }),
  );
  await assert.rejects(request({ port: rig.port, path: '/healthz', tls: { servername: 'localhost' } }), /self.signed/i);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const limited = { ...secure.tls, minVersion: version, maxVersion: version };
    assert.equal((await request({ port: rig.port, path: '/healthz', tls: limited })).status, 200, version);
  }

  // A client that forgot the s gets no plain answer.
  const plain = await connect(rig.port);
  await plain.write(toRequestBytes({ path: '/healthz' }));
  assert.notEqual(await plain.closed(), 'open');
  assert.doesNotMatch(plain.received().toString('latin1'), /HTTP\/1\.1/);

  assert.deepEqual(rig.app.swap(await rig.compile({ server: { tls } })), []);
  assert.equal((await request({ port: rig.port, path: '/healthz', ...secure })).status, 200);
  assert.deepEqual(rig.app.swap(await rig.compile({})), ['server.tls']);
});

test('an idle connection is closed after keep_alive, and the longest idle one at max_connections', async (t) => {
  const { rig } = await open(t, { timeouts: { keep_alive: patiently(12.5) }, max_connections: 3 });
  const probe = toRequestBytes({ path: '/healthz' });
  const connections = await Promise.all([connect(rig.port), connect(rig.port), connect(rig.port)]);
  for (const connection of connections) {
    await connection.write(probe);
    assert.equal((await connection.nextResponse()).status, 200);
  }
  const fourth = await connect(rig.port);
  await fourth.write(probe);
  assert.equal((await fourth.nextResponse()).status, 200);
  for (const connection of [...connections, fourth]) assert.notEqual(await connection.closed(), 'open');
  assert.equal((await rig.get('/healthz')).status, 200);
});

for (const isSecure of [false, true]) {
  test(`idle connections beyond max_connections do not block new clients (${isSecure ? 'no TLS handshake' : 'no TLS'})`, async (t) => {
    const directory = await createDirectory(t, { 'cert.pem': localhostCertificate, 'key.pem': localhostKey });
    const tls = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
    const { rig } = await open(t, { max_connections: 20, ...(isSecure && { tls }) });
    const idle: RawConnection[] = [];
    for (let turn = 0; turn < 60; turn += 1) idle.push(await connect(rig.port));
    t.after(() => {
      for (const one of idle) one.destroy();
    });
    const secure = isSecure ? { tls: { ca: localhostCertificate, servername: 'localhost' } } : {};
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => rig.post('/v1/embeddings', body, { ...secure })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      answers.map(() => 200),
    );
  });
}

test('diagnostics: false leaves only the request ID header', async (t) => {
  const added = /^(x-postern-.*|server-timing)$/;
  const shown = await open(t, {});
  const answer = await shown.rig.post('/v1/embeddings', body);
  assert.deepEqual(
    answer.headers.map(([name]) => name.toLowerCase()).filter((name) => added.test(name)),
    ['x-postern-upstream', 'x-postern-attempts', 'server-timing', 'x-postern-space'],
  );
  assert.equal(answer.header('x-postern-upstream'), 'up');
  assert.equal(answer.header('x-postern-attempts'), '1');
  assert.equal(answer.header('x-postern-space'), 'space-1');
  assert.match(answer.header('server-timing') ?? '', /^gateway;dur=\d+\.\d+, upstream;dur=\d+\.\d+$/);

  const hidden = await open(t, { diagnostics: false });
  const bare = await hidden.rig.post('/v1/embeddings', body);
  assert.deepEqual(
    bare.headers.filter(([name]) => added.test(name.toLowerCase())),
    [],
  );
  assert.match(bare.header('x-request-id') ?? '', /^[0-9a-f]{32}$/);
});
