import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openAdmin } from '../../../test/support/console/admin.ts';
import { type RigDocument, startRig, testKey } from '../../../test/support/gateways/rig.ts';
import { type Handler, startFakeUpstream } from '../../../test/support/upstreams/fake-upstream.ts';
import { localhostCertificate, localhostKey } from '../../../test/support/upstreams/localhost-certificate.ts';
import { systemClock } from '../../lib/clock.ts';
import { createConsoleKey, createGatewayCalls, type GatewayCall, toReachable } from './gateway-calls.ts';

const local = { upstreams: [{ id: 'local', family: 'local' }] };
const nowMs = (): number => systemClock.nowMs();

async function startCalls(t: TestContext, document: RigDocument = local) {
  const rig = await startRig(t, document);
  const keyOf = (host: string) => createConsoleKey({ store: rig.store, host, nowMs });
  const open = (url: string, certificate?: string) => {
    const calls = createGatewayCalls({
      consoleKey: keyOf('here'),
      clientUrl: () => url,
      certificate: () => certificate,
    });
    t.after(() => calls.close());
    return calls;
  };
  return { rig, keyOf, open, calls: open(rig.url) };
}

const jsonOf = async (answer: Response): Promise<ReturnType<typeof JSON.parse>> => answer.json();

const rerank = (more: Partial<GatewayCall> = {}): GatewayCall => ({
  route: 'rerank',
  body: Buffer.from(JSON.stringify({ model: 'local/bm25', query: 'gate', documents: ['hall', 'gate'] })),
  requestId: 'playground.test.1',
  signal: new AbortController().signal,
  ...more,
});

test("a Playground call uses the Playground's own key and appears in the ledger under its request ID", async (t) => {
  const { rig, calls } = await startCalls(t);
  const answer = await calls.send(rerank());
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('x-request-id'), 'playground.test.1');
  assert.equal(answer.headers.get('x-postern-answer'), 'gateway');
  assert.match(answer.headers.get('server-timing') ?? '', /gateway;dur=/);
  const { results } = await jsonOf(answer);
  assert.deepEqual(
    results.map(({ index }: { index: number }) => index),
    [1, 0],
  );
  const [key] = await rig.store.keys.list();
  assert.equal(key?.name, 'Playground (here)');
  assert.equal(key?.metadata['postern.console'], 'playground');
  assert.equal((await rig.exchange()).clientRequestId, 'playground.test.1');
});

test('parallel Playground calls create one key, and a restart gives that key a new secret', async (t) => {
  const { rig, calls, open, keyOf } = await startCalls(t);
  await Promise.all(Array.from({ length: 8 }, () => calls.send(rerank())));
  const [before] = await rig.store.keys.list();
  assert.equal((await open(rig.url).send(rerank())).status, 200);
  const after = await rig.store.keys.list();
  assert.equal(after.length, 1);
  assert.equal(after[0]?.id, before?.id);

  await keyOf('elsewhere').secret();
  assert.equal((await rig.store.keys.list()).length, 2);
});

test('a Playground key that was revoked or rotated by another process is replaced at the next call', async (t) => {
  const { rig, calls, keyOf } = await startCalls(t);
  await calls.send(rerank());
  await keyOf('here').secret();
  rig.app.keys.changed();
  assert.equal((await calls.send(rerank())).status, 200);

  const [key] = await rig.store.keys.list();
  assert.ok(key !== undefined);
  await rig.store.keys.revoke(key.id);
  rig.app.keys.changed();
  assert.equal((await calls.send(rerank())).status, 200);
  const all = await rig.store.keys.list();
  assert.equal(all.filter(({ revokedAtMs }) => revokedAtMs === undefined).length, 1);
  assert.equal(all.length, 2);
});

test('a Playground call with a key given by the caller uses that key, and an invalid key is refused', async (t) => {
  const { rig, calls } = await startCalls(t);
  assert.equal((await calls.send(rerank({ key: testKey }))).status, 200);
  const refused = await calls.send(rerank({ key: 'not-a-key-of-anybody' }));
  assert.equal(refused.status, 401);
  assert.equal((await jsonOf(refused)).error.code, 'invalid_api_key');
  assert.deepEqual(await rig.store.keys.list(), []);
});

test('a Playground call that the key does not allow gets the same error as any client', async (t) => {
  const { rig, calls } = await startCalls(t);
  await calls.send(rerank());
  const [key] = await rig.store.keys.list();
  assert.ok(key !== undefined);
  await rig.store.keys.change(key.id, { models: ['local/echo'] });
  rig.app.keys.changed();
  const answer = await calls.send(rerank());
  assert.equal(answer.status, 404);
  assert.equal((await jsonOf(answer)).error.code, 'model_not_found');
});

test("the legacy /v1/engines path contains the model, and slashes or dots in the model's name cannot change the path", async (t) => {
  const { calls } = await startCalls(t);
  const legacy = (model: string) =>
    calls.send(rerank({ route: 'engines-embeddings', model, body: Buffer.from('{"input":"gate"}') }));
  assert.equal((await legacy('local/hash-embed')).status, 200);
  for (const model of ['../../completions?', '..', '/../../v1/models#', 'a\r\nx: y']) {
    assert.equal((await legacy(model)).status, 404, model);
  }
});

test('a streamed Playground response is passed on in pieces, and a disconnect ends the upstream call', async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const left = Promise.withResolvers<void>();
  const stream: Handler = async (_request, reply) => {
    await reply.head(200, [
      ['content-type', 'text/event-stream'],
      ['transfer-encoding', 'chunked'],
    ]);
    await reply.chunk('data: 1\n\n');
    await reply.clientClosed;
    left.resolve();
  };
  upstream.respondWith(stream);
  const { calls } = await startCalls(t, {
    upstreams: [{ id: 'fake', family: 'openai', base_url: upstream.url, api_key: 'sk-fake-upstream' }],
    models: [{ id: 'talker', operations: ['completions'], targets: [{ upstream: 'fake' }] }],
  });
  const leaving = new AbortController();
  const body = Buffer.from('{"model":"talker","prompt":"a","stream":true}');
  const answer = await calls.send(rerank({ route: 'completions', body, signal: leaving.signal }));
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  assert.equal(Buffer.from(first?.value ?? []).toString(), 'data: 1\n\n');
  leaving.abort();
  await assert.rejects(async () => reader?.read());
  await left.promise;
});

test('passes multipart forms and audio responses unchanged, but no HTML page', async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const { calls } = await startCalls(t, {
    upstreams: [{ id: 'fake', family: 'openai', base_url: upstream.url, api_key: 'sk-fake-upstream' }],
    models: [{ id: 'studio', operations: ['speech', 'transcriptions'], targets: [{ upstream: 'fake' }] }],
  });
  const form = new Request('http://a', { method: 'POST', body: toForm({ model: 'studio', file: 'RIFF' }) });
  const contentType = form.headers.get('content-type') ?? '';
  upstream.respondWith((_request, reply) => reply.json(200, { text: 'gate' }));
  const body = Buffer.from(await form.arrayBuffer());
  const heard = await calls.send(rerank({ route: 'transcriptions', contentType, body }));
  assert.deepEqual(await jsonOf(heard), { text: 'gate' });
  assert.equal(upstream.requests[0]?.header('content-type'), contentType);
  assert.deepEqual(upstream.requests[0]?.body, body);

  const speak = rerank({ route: 'speech', body: Buffer.from('{"model":"studio","input":"a","voice":"b"}') });
  for (const [type, shown] of [
    ['audio/mpeg', 'audio/mpeg'],
    ['text/html', 'text/plain; charset=utf-8'],
    ['image/svg+xml', 'text/plain; charset=utf-8'],
  ] as const) {
    upstream.respondWith((_request, reply) => reply.bytes(200, [['content-type', type]], 'ID3'));
    assert.equal((await calls.send(speak)).headers.get('content-type'), shown);
  }
});

function toForm(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'file') form.append(name, new Blob([value]), 'gate.wav');
    else form.append(name, value);
  }
  return form;
}

test('calls the gateway over TLS with its self-signed certificate, and fails without that certificate', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-own-certificate-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const tls = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  await writeFile(tls.cert, localhostCertificate);
  await writeFile(tls.key, localhostKey);
  const { rig, open } = await startCalls(t, { ...local, server: { tls } });
  const url = rig.url.replace('http:', 'https:');
  assert.equal((await open(url, localhostCertificate).send(rerank())).status, 200);
  await assert.rejects(open(url).send(rerank()), { code: 'upstream_failed' });
});

test('an unreachable gateway is reported as upstream_failed, and a call of a disconnected client ends with 499', async (t) => {
  const { open } = await startCalls(t);
  await assert.rejects(open('http://127.0.0.1:1').send(rerank()), { name: 'Problem', code: 'upstream_failed' });
  const answer = await open('http://127.0.0.1:1').send(rerank({ signal: AbortSignal.abort() }));
  assert.equal(answer.status, 499);
});

test("calls a gateway that listens on a wildcard address through this machine's loopback address", () => {
  assert.equal(toReachable('http://0.0.0.0:4000/ai'), 'http://127.0.0.1:4000/ai');
  assert.equal(toReachable('https://[::]:4000'), 'https://[::1]:4000');
  assert.equal(toReachable('http://10.1.2.3:4000'), 'http://10.1.2.3:4000');
});

test('the Playground endpoint passes the body unchanged, names the member, and applies the body size limit', async (t) => {
  const rig = await startRig(t, local);
  const admin = await openAdmin(t, { clientUrl: rig.url, configuration: { ...local, server: { body_limit: '1KiB' } } });
  const own = { 'x-postern-key': testKey };
  const body = { model: 'local/hash-embed', input: 'gate', dimensions: 8 };
  const answer = await admin.ask('POST', '/api/playground/embeddings', body, own);
  assert.equal(answer.status, 200);
  assert.equal(answer.json.data[0].embedding.length, 8);
  assert.match(answer.headers.get('x-request-id') ?? '', /^playground\.owner-example\.com\.[0-9a-f]{12}$/);

  const large = await admin.ask('POST', '/api/playground/embeddings', { ...body, input: 'x'.repeat(2_000) }, own);
  assert.equal(large.json.code, 'body_too_large');
  assert.equal((await admin.ask('POST', '/api/playground/talk', body, own)).json.code, 'invalid_fields');
  for (const route of ['engines-embeddings', 'generate']) {
    assert.equal((await admin.ask('POST', `/api/playground/${route}`, body, own)).json.fields[0].path, 'model', route);
  }
  admin.become('viewer');
  assert.equal((await admin.ask('POST', '/api/playground/embeddings', body, own)).json.code, 'not_allowed');
});

test('the Playground lists the models that can be tried by operation, including built-in ones', async (t) => {
  const admin = await openAdmin(t, { role: 'viewer', configuration: local });
  const { json } = await admin.ask('GET', '/api/playground/models?operation=rerank');
  assert.deepEqual(json.items, [
    {
      id: 'local/bm25',
      aliases: [],
      operations: ['rerank'],
      visible: true,
      space: null,
      builtIn: true,
      upstreams: ['local'],
    },
  ]);
  assert.deepEqual((await admin.ask('GET', '/api/playground/tries/playground.nobody.1')).json, { item: null });
});
