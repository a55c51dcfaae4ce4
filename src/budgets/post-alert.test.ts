import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { AlertWebhook } from '../core/snapshot.ts';
import { createDirectConnector, TlsClient } from '../wire/connect.ts';
import { createAlertPost } from './alerts.ts';

const rules: AlertWebhook['addresses'][] = [];
const anywhere = (addresses: AlertWebhook['addresses'], timeoutMs: number) => {
  rules.push(addresses);
  return createDirectConnector({ tcp: {}, tls: new TlsClient({}), timeoutMs });
};
const to = (url: string, addresses?: AlertWebhook['addresses']): AlertWebhook => ({
  url,
  secret: undefined,
  format: 'postern',
  addresses,
});

async function listen(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return `http://127.0.0.1:${address.port}`;
}

test('a webhook notification posts the body with its headers and returns the status', async (t) => {
  const seen: { request: IncomingMessage; body: string }[] = [];
  const server = createServer(async (request, response) => {
    seen.push({ request, body: await text(request) });
    response.writeHead(204).end();
  });
  const url = await listen(t, server);
  const alerts = createAlertPost(anywhere);
  t.after(() => alerts.close());
  assert.equal(await alerts.post(to(`${url}/hook?a=b`), { 'postern-signature': 't=1,v1=2' }, '{"a":1}'), 204);
  assert.equal(seen[0]?.request.method, 'POST');
  assert.equal(seen[0]?.request.url, '/hook?a=b');
  assert.equal(seen[0]?.request.headers['postern-signature'], 't=1,v1=2');
  assert.equal(seen[0]?.body, '{"a":1}');
});

test('a webhook notification follows no redirect', async (t) => {
  const paths: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url);
    request.resume();
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  const url = await listen(t, server);
  const alerts = createAlertPost(anywhere);
  t.after(() => alerts.close());
  assert.equal(await alerts.post(to(`${url}/hook`), {}, '{}'), 307);
  assert.deepEqual(paths, ['/hook']);
});

test('stops reading an endless response of a webhook', async (t) => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'.repeat(8_192)), 5);
    response.on('close', () => clearInterval(timer));
  });
  const url = await listen(t, server);
  const alerts = createAlertPost(anywhere);
  t.after(() => alerts.close());
  assert.equal(await alerts.post(to(url), {}, '{}'), 200);
});

test('webhooks with different address policies do not share connections', async (t) => {
  const server = createServer((request, response) => {
    request.resume();
    response.end();
  });
  const url = await listen(t, server);
  const alerts = createAlertPost(anywhere);
  t.after(() => alerts.close());
  rules.length = 0;
  const rule = { id: 'some', permits: () => true };
  for (const addresses of [undefined, rule, undefined, rule]) await alerts.post(to(url, addresses), {}, '{}');
  assert.deepEqual(rules, [undefined, rule]);
});
