/** Clients at a unix-domain socket: served as at the port, and nowhere as far as addresses go. */

import assert from 'node:assert/strict';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import type { HeaderField } from '../support/clients/http-message.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { localhostCertificate, localhostKey } from '../support/upstreams/localhost-certificate.ts';

interface Setup {
  readonly rig: Rig;
  readonly upstream: FakeUpstream;
  readonly socketPath: string;
}

const limitedKey = 'limited-key-with-enough-characters';

async function open(
  t: TestContext,
  { socket = {}, ...server }: { readonly socket?: object; readonly [name: string]: unknown } = {},
): Promise<Setup> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-door-'));
  const socketPath = join(directory, 'p.sock');
  const upstream = await startFakeUpstream((request, reply) =>
    request.body.includes('stream')
      ? reply.sse(['{"choices":[]}', '[DONE]'])
      : reply.json(200, { object: 'list', data: [{}], length: request.body.length }),
  );
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    server: { ...server, socket: { path: socketPath, ...socket } },
    keys: [
      { id: 'test', secret: testKey },
      { id: 'limited', secret: limitedKey, addresses: ['127.0.0.1', '198.51.100.0/24'] },
    ],
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', operations: ['embeddings', 'completions'], space: 's', targets: [{ upstream: 'up' }] }],
  });
  t.after(() => rm(directory, { recursive: true }));
  return { rig, upstream, socketPath };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const nowhere = { host: undefined, port: undefined };
const question = { model: 'm', input: 'x' };

const limited = (...more: HeaderField[]): { readonly headers: HeaderField[] } => ({
  headers: [['Authorization', `Bearer ${limitedKey}`], ['Content-Type', 'application/json'], ...more],
});

test('the Unix socket and the TCP port give identical responses', async (t) => {
  const { rig, upstream, socketPath } = await open(t);
  const asks = [
    (options: object) => rig.post('/v1/embeddings', question, options),
    (options: object) => rig.post('/v1/embeddings', { model: 'm', input: 'x'.repeat(300_000) }, options),
    (options: object) => rig.post('/v1/completions', { model: 'm', prompt: 'x', stream: true }, options),
    (options: object) => rig.post('/v1/nothing', question, options),
    (options: object) => rig.post('/v1/embeddings', '{"model":', options),
    (options: object) => rig.get('/v1/models', options),
    (options: object) => rig.get('/readyz', options),
  ];
  for (const ask of asks) {
    const atPort = await ask({});
    const atSocket = await ask({ socketPath });
    assert.equal(atSocket.status, atPort.status);
    const withoutId = (text: string): string => text.replaceAll(/"(?:request_id|created)":[^,}]+/g, '');
    assert.equal(withoutId(atSocket.body.toString()), withoutId(atPort.body.toString()));
    assert.deepEqual(
      atSocket.headers.map(([name]) => name),
      atPort.headers.map(([name]) => name),
    );
  }
  const [one, other] = upstream.requests;
  const ofAll = (request = one) => request?.headers.filter(([name]) => name !== 'x-request-id');
  assert.deepEqual(ofAll(one), ofAll(other));
});

test('a key limited to addresses is refused at the socket, whatever address the client claims', async (t) => {
  const { rig, socketPath } = await open(t, { trusted_proxies: ['127.0.0.1', '::1'] });
  assert.equal((await rig.post('/v1/embeddings', question, limited())).status, 200);
  for (const address of [undefined, '127.0.0.1', '198.51.100.7']) {
    const more: HeaderField[] = address === undefined ? [] : [['X-Forwarded-For', address]];
    const answer = await rig.post('/v1/embeddings', question, { ...limited(...more), socketPath });
    assertError(answer, 'ip_not_allowed');
  }
  assert.equal((await rig.post('/v1/embeddings', question, { socketPath })).status, 200);
});

test('at a trusted Unix socket, the client address is the last of X-Forwarded-For, or unknown without it', async (t) => {
  const { rig, socketPath } = await open(t, { socket: { trusted: true } });
  const ask = (...more: HeaderField[]) => rig.post('/v1/embeddings', question, { ...limited(...more), socketPath });
  assert.equal((await ask(['X-Forwarded-For', '198.51.100.7'])).status, 200);
  assert.equal(rig.settled.at(-1)?.clientAddress, '198.51.100.7');
  // The last one is what the proxy wrote; what stands before is the client's own word.
  assertError(await ask(['X-Forwarded-For', '198.51.100.7, 203.0.113.1']), 'ip_not_allowed');
  assertError(await ask(), 'ip_not_allowed');
  // A client on the port has an address, and its headers are not trusted.
  const atPort = await rig.post('/v1/embeddings', question, {
    ...limited(['X-Forwarded-For', '203.0.113.1']),
    localAddress: '127.0.0.1',
  });
  assert.equal(atPort.status, 200);
  assert.equal(rig.settled.at(-1)?.clientAddress, '127.0.0.1');
});

test('without host and port there is only the socket, with its mode, removed at shutdown', async (t) => {
  const { rig, socketPath } = await open(t, { ...nowhere, socket: { mode: '0660' } });
  assert.equal(rig.port, 0);
  const { mode } = await stat(socketPath);
  assert.equal(mode & 0o777, 0o660);
  assert.equal((await rig.post('/v1/embeddings', question, { socketPath })).status, 200);
  assert.equal(await rig.app.drain(), true);
  assert.equal(await exists(socketPath), false);
});

test('the socket is for its owner only by default, whatever the umask', async (t) => {
  const before = process.umask(0);
  t.after(async () => void process.umask(before));
  const { socketPath } = await open(t);
  assert.equal((await stat(socketPath)).mode & 0o777, 0o600);
  assert.equal(process.umask(), 0);
});

test('the socket has no TLS even if the port has', async (t) => {
  const directory = await createDirectory(t, { 'cert.pem': localhostCertificate, 'key.pem': localhostKey });
  const tls = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  const { rig, socketPath } = await open(t, { tls });
  assert.equal((await rig.get('/healthz', { socketPath })).status, 200);
  assert.equal((await rig.get('/healthz', { tls: { ca: localhostCertificate, servername: 'localhost' } })).status, 200);
});

test('connections of both listeners are counted together, and the longest idle one is closed', async (t) => {
  const { rig, socketPath } = await open(t, { max_connections: 2 });
  const first = await connect(rig.port);
  const second = await connect(0, { socketPath });
  const later = [await connect(0, { socketPath })];
  assert.notEqual(await first.closed(), 'open');
  later.push(await connect(rig.port));
  assert.notEqual(await second.closed(), 'open');
  for (const one of later) one.destroy();
});
