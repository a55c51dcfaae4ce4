import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type LookupFunction,
  type Server,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startFakeUpstream } from '../../../test/support/upstreams/fake-upstream.ts';
import { localhostCertificate, localhostKey } from '../../../test/support/upstreams/localhost-certificate.ts';
import { toUpstream, type UpstreamParts } from '../../../test/support/upstreams/upstream.ts';
import { defineFamily } from '../../core/family.ts';
import openai from '../../families/openai.ts';
import { createAddressRule } from '../../lib/addresses/address-rule.ts';
import type { ProxyRule } from '../connections/proxy-rule.ts';
import { createProbe } from './probe.ts';

const secret = 'sk-test-0123456789';
const signal = new AbortController().signal;

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const answering = (t: TestContext, answer: RequestListener): Promise<number> => listen(t, createServer(answer));

const json =
  (status: number, body: unknown): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const models = json(200, { data: [{ id: 'a' }, { id: 'b' }] });

function probe(lookup?: LookupFunction, patienceMs?: number, proxyFor?: ProxyRule) {
  const signing = { nowMs: () => 0, post: () => Promise.reject(new Error('no tokens here')) };
  return createProbe({
    signing,
    installation: 'installation',
    lookup,
    proxyFor,
    ...(patienceMs !== undefined && { patienceMs }),
  });
}

function upstreamAt(origin: string, parts: UpstreamParts = {}) {
  return toUpstream(origin, { family: openai, secrets: [secret], ...parts });
}

const states = (steps: readonly { name: string; state: string }[]) =>
  steps.map(({ name, state }) => `${name} ${state}`);

test('a connection test reports each step of connecting, and counts the listed models', async (t) => {
  const port = await answering(t, models);
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const report = await probe(lookup).test(upstreamAt(`http://upstream.test:${port}`), signal);
  assert.equal(report.ok, true);
  assert.equal(report.models, 2);
  assert.deepEqual(states(report.steps), ['look-up passed', 'connect passed', 'secure skipped', 'ask passed']);
  assert.deepEqual(
    report.steps.map(({ detail }) => detail),
    ['127.0.0.1', '127.0.0.1', 'http:// has none', '/v1/models answers 200'],
  );
  assert.deepEqual(report.credentials, [{ id: 'key', status: 200, ok: true }]);
});

test('with a proxy, the connection test skips the DNS look-up', async () => {
  const proxy = { secure: false, hostname: '127.0.0.1', port: 1, authorization: undefined };
  const report = await probe(undefined, undefined, () => proxy).test(upstreamAt('http://upstream.test'), signal);
  assert.deepEqual(states(report.steps), ['look-up skipped', 'connect failed', 'secure skipped', 'ask skipped']);
  assert.equal(report.steps[0]?.detail, 'left to the proxy');
});

test('connects to a Unix socket, and reports why it cannot connect', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-probe-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'a.sock');
  const service = await startFakeUpstream((_request, reply) => reply.json(200, { data: [{ id: 'a' }] }), {
    socketPath: path,
  });
  const report = await probe().test(upstreamAt(service.url), signal);
  assert.deepEqual([report.ok, report.models], [true, 1]);
  assert.deepEqual(states(report.steps), ['look-up skipped', 'connect passed', 'secure skipped', 'ask passed']);
  assert.equal(report.steps[1]?.detail, path);
  assert.equal(service.requests[0]?.header('host'), 'localhost');

  const refused = await probe().test(upstreamAt(service.url, { addresses: createAddressRule() }), signal);
  assert.match(refused.problem?.message ?? '', /leads to an address that upstreams of the console may not have/);
  assert.equal(service.connections().accepted, 1);

  await service.close();
  const gone = await probe().test(upstreamAt(service.url), signal);
  assert.equal(gone.problem?.message, `There is no socket at ${path}.`);
  await writeFile(path, '');
  const file = await probe().test(upstreamAt(service.url), signal);
  assert.equal(file.problem?.message, `There is a file at ${path}, and nobody listens there.`);
});

test('uses the credential in a GET, and follows no redirect', async (t) => {
  const asked: string[] = [];
  const port = await answering(t, (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  const report = await probe().test(upstreamAt(`http://127.0.0.1:${port}`), signal);
  assert.deepEqual(asked, ['GET /v1/models Bearer sk-test']);
  assert.match(report.problem?.message ?? '', /redirect \(302\)/);
});

test('explains each failed response, and names the configuration field to check', async (t) => {
  const rows = [
    [json(401, { error: { message: `bad key ${secret}` } }), /refuses the credential \(401\)/, 'api_key'],
    [json(404, {}), /has nothing at \/v1\/models \(404\)/, 'base_url'],
    [json(429, { error: { message: 'slow down' } }), /enough of it for now \(429\).* It says: slow down/, undefined],
    [json(503, { message: 'loading' }), /is not well \(503\)\. It says: loading/, undefined],
    [json(400, { error: 'bad\nthing' }), /answers 400\. It says: bad thing/, 'base_url'],
    [json(200, { hello: 'there' }), /is no list of models/, 'base_url'],
    [
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      /A web page is at/,
      'base_url',
    ],
  ] satisfies [RequestListener, RegExp, string | undefined][];
  for (const [answer, message, field] of rows) {
    const port = await answering(t, answer);
    const report = await probe().test(upstreamAt(`http://127.0.0.1:${port}`), signal);
    assert.equal(report.ok, false);
    assert.match(report.problem?.message ?? '', message);
    assert.equal(report.problem?.field, field);
    assert.ok((report.problem?.advice ?? '').length > 10);
    assert.equal(report.steps.at(-1)?.state, 'failed');
  }
});

test('never repeats a secret that the service returns', async (t) => {
  const port = await answering(t, json(500, { error: { message: `you sent ${secret}` } }));
  const report = await probe().test(upstreamAt(`http://127.0.0.1:${port}`), signal);
  assert.doesNotMatch(JSON.stringify(report), /sk-test/);
});

test('reports the last completed step if there is no response', async (t) => {
  const closed = await answering(t, models);
  const refused = await probe().test(upstreamAt('http://127.0.0.1:1'), signal);
  assert.match(refused.problem?.message ?? '', /nobody listens at that port/);
  assert.deepEqual(states(refused.steps), ['look-up skipped', 'connect failed', 'secure skipped', 'ask skipped']);

  const unknown: LookupFunction = (name, _options, callback) =>
    callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);
  const nameless = await probe(unknown).test(upstreamAt('http://nobody.test'), signal);
  assert.match(nameless.problem?.message ?? '', /No machine is called nobody\.test/);
  assert.equal(states(nameless.steps)[0], 'look-up failed');

  const tls = await probe().test(upstreamAt(`https://127.0.0.1:${closed}`), signal);
  assert.match(tls.problem?.message ?? '', /speaks no TLS/);
  assert.deepEqual(states(tls.steps), ['look-up skipped', 'connect passed', 'secure failed', 'ask skipped']);

  const silent = await listen(t, createTcpServer());
  const waiting = await probe(undefined, 200).test(upstreamAt(`http://127.0.0.1:${silent}`), signal);
  assert.match(waiting.problem?.message ?? '', /does not answer/);
  assert.equal(states(waiting.steps)[3], 'ask failed');
});

test('reports what is wrong with a certificate', async (t) => {
  const port = await listen(t, createHttpsServer({ cert: localhostCertificate, key: localhostKey }, models));
  const strange = await probe().test(upstreamAt(`https://localhost:${port}`), signal);
  assert.match(strange.problem?.message ?? '', /^The certificate of localhost:\d+ /);
  assert.equal(strange.problem?.field, 'tls');
  const tls = { ca: localhostCertificate, cert: undefined, key: undefined, serverName: undefined };
  const trusted = await probe().test(upstreamAt(`https://localhost:${port}`, { tls }), signal);
  assert.equal(trusted.ok, true);
  assert.equal(states(trusted.steps)[2], 'secure passed');
});

test('does not connect to addresses the upstream may not use', async (t) => {
  let asked = 0;
  const port = await answering(t, (request, response) => {
    asked += 1;
    models(request, response);
  });
  const addresses = createAddressRule({ deny: ['127.0.0.0/8'] });
  const upstream = upstreamAt(`http://127.0.0.1:${port}`, { addresses });
  const report = await probe().test(upstream, signal);
  assert.match(report.problem?.message ?? '', /may not have/);
  assert.equal((await probe().models(upstream, signal)).kind, 'failed');
  assert.equal(asked, 0);
});

test('tests every credential in use', async (t) => {
  const port = await answering(t, (request, response) =>
    (request.headers.authorization === 'Bearer good' ? models : json(401, {}))(request, response),
  );
  const credential = (id: string, key: string, weight = 1) => ({
    id,
    weight,
    headers: ['authorization', `Bearer ${key}`],
    fingerprint: id,
  });
  const credentials = [credential('key 1', 'good'), credential('key 2', 'bad'), credential('key 3', 'bad', 0)] as const;
  const report = await probe().test(upstreamAt(`http://127.0.0.1:${port}`, { credentials }), signal);
  assert.deepEqual(report.credentials, [
    { id: 'key 1', status: 200, ok: true },
    { id: 'key 2', status: 401, ok: false },
  ]);
  assert.equal(report.ok, false);
  assert.equal(report.models, 2);
});

test('if no credential is in use, the first one is tested', async (t) => {
  const seen: (string | undefined)[] = [];
  const port = await answering(t, (request, response) => {
    seen.push(request.headers.authorization);
    models(request, response);
  });
  const credential = (id: string) => ({ id, weight: 0, headers: ['authorization', `Bearer ${id}`], fingerprint: id });
  const credentials = [credential('one'), credential('two')] as const;
  const answer = await probe().models(upstreamAt(`http://127.0.0.1:${port}`, { credentials }), signal);
  assert.equal(answer.kind, 'listed');
  assert.deepEqual(seen, ['Bearer one']);
});

test('for a family without a model list, an empty call of an operation tests service and credential', async (t) => {
  const listless = defineFamily({ id: 'x', title: 'X', offers: { openai: { rerank: { path: '/rerank/{model}' } } } });
  const offers = new Map([['openai rerank', { path: '/rerank/{model}' }]]);
  for (const [status, ok] of [
    [422, true],
    [400, true],
    [404, true],
    [401, false],
    [503, false],
  ] as const) {
    const asked: string[] = [];
    const port = await answering(t, (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      json(status, {})(request, response);
    });
    const upstream = upstreamAt(`http://127.0.0.1:${port}`, { family: listless, offers });
    const report = await probe().test(upstream, signal);
    assert.equal(report.ok, ok, String(status));
    assert.deepEqual(asked, ['POST /v1/rerank/model']);
    assert.deepEqual(await probe().models(upstream, signal), { kind: 'no-list' });
  }
});

test('a local family needs no connection, and lists its own models', async () => {
  const family = defineFamily({ id: 'x', title: 'X', builtIn: [{ id: 'x/y', operations: ['edits'] }], offers: {} });
  const upstream = { ...toUpstream('http://x', { family }), origin: undefined };
  assert.equal((await probe().test(upstream, signal)).ok, true);
  assert.deepEqual(await probe().models(upstream, signal), { kind: 'listed', models: family.builtIn });
});
