import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaded } from '../../test/support/gateways/configuration.ts';
import { toClientUrl, toReachable } from './listen-address.ts';
import { firstKeyLines } from './welcome.ts';

test('if the server listens only on a Unix socket, the example commands use the socket', async (t) => {
  const { snapshot } = await loaded(t, 'server: { socket: { path: /run/p.sock }, base_path: /ai }');
  const url = toClientUrl(snapshot, { tcp: undefined, socket: '/run/p.sock' });
  assert.equal(url, 'unix:/run/p.sock:/ai');
  const model = {
    ...snapshot,
    models: { ...snapshot.models, all: [{ id: 'm', operations: ['rerank'], visible: true }] },
  };
  const lines = firstKeyLines({ secret: 'secret' }, url, model as unknown as typeof snapshot).join('\n');
  assert.match(lines, /^curl --unix-socket '\/run\/p\.sock' http:\/\/localhost\/ai\/v1\/rerank -H /m);
  const tcp = { address: '127.0.0.1', family: 'IPv4', port: 4000 };
  assert.equal(toClientUrl(snapshot, { tcp, socket: '/run/p.sock' }), 'http://127.0.0.1:4000/ai');
});

test('without a visible model, the start-up output advises to add an upstream and shows no example command', async (t) => {
  const { snapshot } = await loaded(t, 'upstreams: []');
  const lines = firstKeyLines({ secret: 'secret' }, 'http://127.0.0.1:4000', snapshot).join('\n');
  assert.match(lines, /No model answers yet\. Next, add an upstream and its models:/);
  assert.doesNotMatch(lines, /Try it|curl/);
});

test('for a wildcard listen address, the example commands use localhost', () => {
  assert.equal(toReachable('http://0.0.0.0:4000/ai'), 'http://localhost:4000/ai');
  assert.equal(toReachable('https://[::]:4000'), 'https://localhost:4000');
  assert.equal(toReachable('http://10.0.0.1:4000'), 'http://10.0.0.1:4000');
});
