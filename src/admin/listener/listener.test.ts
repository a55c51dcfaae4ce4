import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import type { HeaderField } from '../../../test/support/clients/http-message.ts';
import { type RawResponse, request, send } from '../../../test/support/clients/raw-client.ts';
import { connect } from '../../../test/support/clients/raw-connection.ts';
import type { ConsoleSettings } from '../../core/snapshot.ts';
import { isLoopback } from '../../lib/addresses/address-range.ts';
import { createAdminListener, OpenListenerError } from './listener.ts';

const token = 'console-token-of-the-operators';

interface Opened {
  readonly port: number;
  readonly faults: unknown[];
  get(path: string, headers?: readonly HeaderField[], method?: string): Promise<RawResponse>;
}

async function open(t: TestContext, parts: Partial<ConsoleSettings> = {}): Promise<Opened> {
  const faults: unknown[] = [];
  const settings = {
    host: '127.0.0.1',
    port: 0,
    isPortGiven: true,
    token: undefined,
    url: undefined,
    traceUrl: undefined,
    oidc: undefined,
    ...parts,
  };
  const listener = createAdminListener({
    settings: () => settings,
    pages: {
      '/metrics': { type: () => 'text/plain; version=0.0.4', text: async () => 'up 1\n' },
      '/healthz': { type: () => 'application/json', text: () => '{"status":"ok"}' },
      '/broken': { type: () => 'text/plain', text: () => Promise.reject(new Error('secret inside')) },
    },
    answer: (_request, response) => response.writeHead(404).end(),
    isProxy: () => false,
    onFault: (error) => faults.push(error),
  });
  const { port } = await listener.listen();
  t.after(() => listener.close());
  return {
    port,
    faults,
    get: (path, headers = [['Host', `127.0.0.1:${port}`]], method = 'GET') => request({ port, method, path, headers }),
  };
}

function codeIn(response: RawResponse): unknown {
  const { error } = response.json() as { error: Record<string, unknown> };
  assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
  return error.code;
}

test('the listener without a console serves only metrics and a health check, with security headers', async (t) => {
  const { get } = await open(t);
  const metrics = await get('/metrics?any=thing');
  assert.deepEqual([metrics.status, metrics.body.toString()], [200, 'up 1\n']);
  assert.equal(metrics.header('content-type'), 'text/plain; version=0.0.4');
  const health = await get('/healthz');
  assert.deepEqual([health.status, health.json()], [200, { status: 'ok' }]);
  const head = await get('/metrics', undefined, 'HEAD');
  assert.deepEqual([head.status, head.header('content-length'), head.body.length], [200, '5', 0]);
  const missing = await get('/');
  assert.equal(missing.status, 404);
  const absolute = await get('http://127.0.0.1/metrics');
  assert.equal(absolute.status, 404);
  for (const response of [metrics, health, missing]) {
    assert.match(String(response.header('content-security-policy')), /default-src 'none'/);
    assert.equal(response.header('x-content-type-options'), 'nosniff');
    assert.equal(response.header('cache-control'), 'no-store');
    assert.equal(response.header('referrer-policy'), 'no-referrer');
    assert.equal(response.header('access-control-allow-origin'), undefined);
  }
});

test('the listener without a console accepts only GET and HEAD without a body', async (t) => {
  const { get, port } = await open(t);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    const refused = await get('/metrics', undefined, method);
    assert.deepEqual(
      [refused.status, refused.header('allow'), codeIn(refused)],
      [405, 'GET, HEAD', 'method_not_allowed'],
    );
  }
  const host = `Host: 127.0.0.1:${port}`;
  for (const framing of ['Content-Length: 3\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n']) {
    const refused = await send(port, `GET /metrics HTTP/1.1\r\n${host}\r\n${framing}`, { until: 'close' });
    assert.deepEqual([refused.status, codeIn(refused)], [400, 'malformed_request']);
    assert.notEqual(refused.closed, 'open');
  }
  const expecting = `POST /metrics HTTP/1.1\r\n${host}\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n`;
  assert.equal((await send(port, expecting, { until: 'close' })).status, 400);
});

test('accepts the host name of console.url in the Host header, with any port', async (t) => {
  const { get } = await open(t, { url: 'https://Postern.example:8443' });
  const rows = [
    ['postern.example', 200],
    ['POSTERN.example:8443', 200],
    ['postern.example:443', 200],
    ['other.postern.example', 421],
    ['postern.example.attacker.example', 421],
  ] as const;
  for (const [host, status] of rows) assert.equal((await get('/metrics', [['Host', host]])).status, status, host);
});

test('refuses foreign host names in the Host header (DNS rebinding), and accepts own IP addresses and localhost', async (t) => {
  const { get, port } = await open(t);
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
  for (const host of ['localhost', 'LOCALHOST:4001', '127.0.0.1', '127.9.9.9:80', '[::1]', '[::1]:4001', ...own]) {
    assert.equal((await get('/metrics', [['Host', host]])).status, 200, host);
  }
  const strangers = [
    'attacker.example',
    'attacker.example:4001',
    'localhost.attacker.example',
    'localhost.',
    '127.0.0.1.nip.io',
    '127.1',
    '2130706433',
    '0x7f000001',
    '192.0.2.1',
    '0.0.0.0',
    '[2001:db8::1]',
  ];
  for (const host of strangers) {
    const refused = await get('/metrics', [['Host', host]]);
    assert.deepEqual([refused.status, codeIn(refused)], [421, 'host_not_allowed'], host);
  }
  const malformed: HeaderField[][] = [
    [],
    [['Host', '']],
    [['Host', 'a b']],
    [['Host', 'localhost/x']],
    [['Host', 'user@localhost']],
    [['Host', 'localhost:x']],
    [
      ['Host', 'localhost'],
      ['Host', 'attacker.example'],
    ],
  ];
  for (const headers of malformed) {
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const refused = await send(port, `GET /metrics HTTP/1.1\r\n${lines}\r\n`);
    assert.deepEqual([refused.status, codeIn(refused)], [400, 'malformed_request'], lines);
  }
});

test('accepts the configured console.host in the Host header', async (t) => {
  const { get } = await open(t, { host: 'localhost' });
  assert.equal((await get('/healthz', [['Host', 'localhost']])).status, 200);
});

test('with a token configured, metrics and health answer 401 to a caller without the token', async (t) => {
  const { get, port } = await open(t, { host: '0.0.0.0', token });
  const host: HeaderField = ['Host', `127.0.0.1:${port}`];
  const rows: [string | undefined, number][] = [
    [undefined, 401],
    ['', 401],
    [`Bearer ${token}x`, 401],
    [`Bearer ${token.slice(0, -1)}`, 401],
    [`Basic ${token}`, 401],
    [token, 401],
    [`Bearer ${token} ${token}`, 401],
    [`Bearer ${token}`, 200],
    [`bearer  ${token}`, 200],
  ];
  for (const [value, status] of rows) {
    const headers: HeaderField[] = value === undefined ? [host] : [host, ['Authorization', value]];
    for (const path of ['/metrics', '/healthz']) {
      const answer = await get(path, headers);
      assert.equal(answer.status, status, `${path} ${value}`);
      if (status === 401)
        assert.deepEqual([answer.header('www-authenticate'), codeIn(answer)], ['Bearer', 'invalid_token']);
    }
  }
  assert.equal((await get(`/metrics?token=${token}`, [host])).status, 401);
  assert.equal(
    (
      await get('/metrics', [
        ['Host', 'attacker.example'],
        ['Authorization', `Bearer ${token}`],
      ])
    ).status,
    421,
  );
});

test('refuses to listen without a token on an address that other machines can reach', async () => {
  const settings = {
    host: '0.0.0.0',
    port: 0,
    isPortGiven: false,
    token: undefined,
    url: undefined,
    traceUrl: undefined,
    oidc: undefined,
  };
  const listener = createAdminListener({
    settings: () => settings,
    pages: {},
    answer: () => undefined,
    isProxy: () => false,
    onFault: () => undefined,
  });
  await assert.rejects(listener.listen(), OpenListenerError);
  assert.deepEqual(
    ['127.0.0.1', '127.3.2.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '::', '0.0.0.0', 'localhost', ''].map(isLoopback),
    [true, true, true, true, false, false, false, false, false],
  );
});

test('an internal error of the listener is logged and not shown to the caller', async (t) => {
  const { get, faults } = await open(t);
  const answer = await get('/broken');
  assert.deepEqual([answer.status, codeIn(answer)], [500, 'internal_error']);
  assert.doesNotMatch(answer.body.toString(), /secret inside/);
  assert.match(String(faults[0]), /secret inside/);
});

test('limits the size of headers and the number of connections, and answers 400 to malformed requests', async (t) => {
  const { get, port } = await open(t);
  const large = await get('/metrics', [['X', 'x'.repeat(10_000)]]);
  assert.deepEqual([large.status, codeIn(large)], [431, 'headers_too_large']);
  const noise = await send(port, 'hello there\r\n\r\n');
  assert.deepEqual([noise.status, codeIn(noise)], [400, 'malformed_request']);
  const held = await Promise.all(Array.from({ length: 64 }, () => connect(port)));
  for (const connection of held) await connection.write('GET /metrics HTTP/1.1\r\n');
  const over = await connect(port);
  assert.notEqual(await over.closed(), 'open');
  for (const connection of held) connection.destroy();
});
