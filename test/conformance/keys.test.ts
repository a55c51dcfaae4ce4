/** Where a key may come from, and what it may do: operations, models, addresses, time. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ErrorCode } from '../../src/core/errors.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type Rig, type RigDocument, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const narrowKey = 'narrow-key-with-enough-characters';

async function open(t: TestContext, more: RigDocument): Promise<{ rig: Rig; upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const upstreams = [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }];
  return { rig: await startRig(t, { upstreams, ...more }), upstream };
}

const target = (model?: string) => [model === undefined ? { upstream: 'up' } : { upstream: 'up', model }];

const complete = (model: string): string => `{"model":"${model}","prompt":"x"}`;

test('faults of a key are reported in order: revoked or expired, operation, address', async (t) => {
  const base = { operations: ['rerank'], addresses: ['192.0.2.1'] };
  const { rig, upstream } = await open(t, {
    keys: [
      { id: 'a', secret: 'expired-key-with-enough-characters', ...base, expires: '2020-01-01' },
      { id: 'b', secret: 'narrow-key-with-enough-characters', ...base },
      { id: 'c', secret: 'elsewhere-key-enough-characters', addresses: ['192.0.2.1', '2001:db8::/32'] },
    ],
  });
  const rows: [string, ErrorCode][] = [
    ['expired-key-with-enough-characters', 'expired_api_key'],
    ['narrow-key-with-enough-characters', 'route_not_allowed'],
    ['elsewhere-key-enough-characters', 'ip_not_allowed'],
  ];
  for (const [key, code] of rows) {
    assertError(await rig.post('/v1/embeddings', '', { headers: [['x-api-key', key]] }), code);
  }
  assert.equal(upstream.receivedBytes, 0);
});

test("a key's list is matched against the public ID, whatever alias the client used", async (t) => {
  const { rig, upstream } = await open(t, {
    models: [
      { id: 'public', aliases: ['allowed-alias'], targets: target() },
      { id: 'mine', aliases: ['other-alias'], targets: target() },
      { id: 'gpt-*', targets: target('*') },
    ],
    keys: [
      { id: 'a', secret: testKey, models: ['mine', 'allowed-alias', 'gpt-4*'] },
      { id: 'b', secret: narrowKey, models: [] },
    ],
  });
  const post = (name: string, key = testKey) =>
    rig.post('/v1/completions', complete(name), { headers: [['Authorization', `bEaReR ${key}`]] });
  for (const name of ['mine', 'other-alias', 'gpt-4', 'gpt-4o']) assert.equal((await post(name)).status, 200, name);
  const seen = upstream.requests.length;
  assert.equal(seen, 4);
  for (const name of ['public', 'allowed-alias', 'gpt-3', 'gpt-x']) {
    assertError(await post(name), 'model_not_found', { param: 'model', of: name });
  }
  for (const name of ['mine', 'public', 'gpt-4'])
    assertError(await post(name, narrowKey), 'model_not_found', { param: 'model' });
  assertError(await rig.post('/v1/engines/public/embeddings', '{"input":"x","model":"mine"}'), 'model_not_found', {
    param: 'model',
  });
  assert.equal(upstream.requests.length, seen);
});

test("a key's operations apply to every spelling of a route, and do not hide the model list", async (t) => {
  const { rig, upstream } = await open(t, {
    models: [{ id: 'm', targets: target() }],
    keys: [{ id: 'a', secret: testKey, operations: ['embeddings'] }],
  });
  for (const path of ['/v1/embeddings', '/embeddings/', '/v1/engines/m/embeddings']) {
    assert.equal((await rig.post(path, '{"model":"m","input":"x"}')).status, 200, path);
  }
  for (const path of ['/v1/completions', '/completions', '/v1/v1/rerank', '/v1/v1/moderations', '/edits/']) {
    assertError(await rig.post(path, '{'), 'route_not_allowed', { of: path });
  }
  assert.equal((await rig.get('/v1/models')).status, 200);
  assert.equal(upstream.requests.length, 3);
});

test('a key is found in any of its four headers, despite an empty or foreign Authorization', async (t) => {
  const { rig } = await open(t, {});
  const rows: [name: string, value: string][][] = [
    [['Authorization', `Bearer ${testKey}`]],
    [['AUTHORIZATION', `BEARER \t ${testKey} \t`]],
    [['X-Api-Key', testKey]],
    [['api-key', ` ${testKey} `]],
    [['x-goog-api-key', testKey]],
    [
      ['Authorization', 'Basic dXNlcjpwYXNz'],
      ['x-api-key', testKey],
    ],
    [
      ['Authorization', ''],
      ['x-api-key', ''],
      ['api-key', testKey],
    ],
    [
      ['Authorization', 'Bearer'],
      ['x-goog-api-key', testKey],
    ],
  ];
  for (const headers of rows)
    assert.equal((await rig.get('/v1/models', { headers })).status, 200, JSON.stringify(headers));

  const missing: [name: string, value: string][][] = [
    [],
    [['Authorization', testKey]],
    [['Authorization', `Basic ${testKey}`]],
    [['Authorization', `Bearer${testKey}`]],
    [['Cookie', `key=${testKey}`]],
  ];
  for (const headers of missing) assertError(await rig.get('/v1/models', { headers }), 'missing_api_key');
  assertError(await rig.get(`/v1/models?api_key=${testKey}&key=${testKey}`, { headers: [] }), 'missing_api_key');

  const wrong = [
    `${testKey}x`,
    testKey.slice(0, -1),
    testKey.toUpperCase(),
    `${testKey} ${testKey}`,
    'x'.repeat(10_000),
  ];
  for (const key of wrong) {
    assertError(await rig.get('/v1/models', { headers: [['x-api-key', key]] }), 'invalid_api_key', { of: key });
  }
});

test("behind a trusted proxy, a key's address list is matched against the proxied address", async (t) => {
  const document = {
    models: [{ id: 'm', targets: target() }],
    keys: [{ id: 'a', secret: testKey, addresses: ['198.51.100.0/24', '2001:db8::/48'] }],
  };
  const trusting = await open(t, { ...document, server: { trusted_proxies: ['127.0.0.0/8', '10.0.0.1'] } });
  const wary = await open(t, document);
  const rows: [forwardedFor: string, allowed: boolean][] = [
    ['198.51.100.7', true],
    ['2001:db8:0:1::5', true],
    ['::ffff:198.51.100.9', true],
    ['203.0.113.9, 198.51.100.7', true],
    ['198.51.100.7, 10.0.0.1', true],
    ['198.51.100.7, 203.0.113.9', false],
    ['198.51.100.7, 10.0.0.2', false],
    ['198.51.100.7, nonsense', false],
    ['198.51.100.7:80', true],
    ['203.0.113.9:80', false],
    ['203.0.113.9', false],
    ['', false],
  ];
  for (const [forwardedFor, allowed] of rows) {
    const more = {
      headers: [
        ['x-api-key', testKey],
        ['X-Forwarded-For', forwardedFor],
      ] as const,
    };
    const answer = await trusting.rig.post('/v1/completions', complete('m'), more);
    if (allowed) assert.equal(answer.status, 200, forwardedFor);
    else assertError(answer, 'ip_not_allowed', { of: forwardedFor });
    assertError(await wary.rig.post('/v1/completions', complete('m'), more), 'ip_not_allowed');
  }
  assert.equal(wary.upstream.receivedBytes, 0);
  assert.equal(trusting.upstream.requests.length, rows.filter(([, allowed]) => allowed).length);
});
