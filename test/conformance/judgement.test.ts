/** In which order a request is judged, and what decides between a model, a key and a route. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ErrorCode } from '../../src/core/errors.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type RawResponse, send, toRequestBytes } from '../support/clients/raw-client.ts';
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

interface Asked {
  method: string;
  path: string;
  key: string;
  type: string;
  encoding: string;
  body: string;
}

async function ask(rig: Rig, { method, path, key, type, encoding, body }: Asked): Promise<RawResponse> {
  return send(
    rig.port,
    toRequestBytes({
      method,
      path,
      headers: [
        ['Authorization', `Bearer ${key}`],
        ['Content-Type', type],
        ['Content-Encoding', encoding],
      ],
      body,
    }),
  );
}

/** Each spoils one thing of a good request; in the order of the contract. */
const faults: readonly { readonly code: ErrorCode; readonly param?: string; spoil(asked: Asked): void }[] = [
  { code: 'route_not_found', spoil: (asked) => Object.assign(asked, { path: '/v1/nowhere' }) },
  { code: 'method_not_allowed', spoil: (asked) => Object.assign(asked, { method: 'DELETE' }) },
  { code: 'invalid_api_key', spoil: (asked) => Object.assign(asked, { key: 'a-key-that-is-not-known-here' }) },
  { code: 'unsupported_media_type', spoil: (asked) => Object.assign(asked, { type: 'text/plain' }) },
  { code: 'unsupported_encoding', spoil: (asked) => Object.assign(asked, { encoding: 'rot13' }) },
  {
    code: 'missing_required_parameter',
    param: 'input',
    spoil: (asked) => Object.assign(asked, { body: asked.body.replace('"input"', '"inputs"') }),
  },
  {
    code: 'model_not_found',
    param: 'model',
    spoil: (asked) => Object.assign(asked, { body: asked.body.replace(/"(open|closed)"/, '"unknown"') }),
  },
  {
    // One that the key may not use answers as one that there is not.
    code: 'model_not_found',
    param: 'model',
    spoil: (asked) => {
      if (asked.key === testKey) asked.key = narrowKey;
      asked.body = asked.body.replace('"open"', '"closed"');
    },
  },
];

test('the first fault is reported in this order: route, method, key, media type, body, model, list', async (t) => {
  const { rig, upstream } = await open(t, {
    models: [
      { id: 'open', operations: ['embeddings'], targets: target() },
      { id: 'closed', operations: ['embeddings'], targets: target() },
    ],
    keys: [
      { id: 'test', secret: testKey },
      { id: 'narrow', secret: narrowKey, models: ['open'] },
    ],
  });
  const good: Asked = {
    method: 'POST',
    path: '/v1/embeddings',
    key: testKey,
    type: 'application/json',
    encoding: 'identity',
    body: '{"model":"open","input":"x"}',
  };
  assert.equal((await ask(rig, good)).status, 200, 'the request without a fault');
  const before = upstream.receivedBytes;

  for (const [index, first] of faults.entries()) {
    for (const second of faults.slice(index)) {
      const asked = { ...good };
      second.spoil(asked);
      first.spoil(asked);
      const answer = await ask(rig, asked);
      assertError(answer, first.code, { param: first.param ?? null, of: `${first.code} before ${second.code}` });
    }
  }
  assert.equal(upstream.receivedBytes, before);
});

test('within the body: syntax, then the model, then required fields, then optional ones', async (t) => {
  const { rig, upstream } = await open(t, {
    models: [{ id: 'm', operations: ['embeddings'], targets: target() }],
  });
  const rows: [body: string, code: ErrorCode, param: string | null][] = [
    ['{"model":7,"input":7,"dimensions":"x"', 'invalid_json', null],
    ['{"model":7,"input":7,"dimensions":"x"}', 'invalid_type', 'model'],
    ['{"model":"nobody","input":7,"dimensions":"x"}', 'invalid_type', 'input'],
    ['{"model":"nobody","dimensions":"x"}', 'missing_required_parameter', 'input'],
    ['{"model":"nobody","input":"x","dimensions":"x"}', 'invalid_type', 'dimensions'],
    ['{"input":"x","dimensions":"x"}', 'invalid_type', 'dimensions'],
    ['{"input":"x","dimensions":1}', 'missing_required_parameter', 'model'],
  ];
  for (const [body, code, param] of rows) {
    assertError(await rig.post('/v1/embeddings', body), code, { param, of: body });
  }
  assert.equal(upstream.receivedBytes, 0);
});

const bodies: Readonly<Record<string, (model: string) => string>> = {
  '/v1/completions': (model) => `{"model":"${model}","prompt":"x"}`,
  '/v1/edits': (model) => `{"model":"${model}","input":"x","instruction":"y"}`,
  '/v1/rerank': (model) => `{"model":"${model}","query":"x","documents":["y"]}`,
  '/v1/moderations': (model) => `{"model":"${model}","input":"x"}`,
  '/v1/embeddings': (model) => `{"model":"${model}","input":"x"}`,
};

test('a hidden model is unknown on rerank and embeddings, and served elsewhere', async (t) => {
  const { rig, upstream } = await open(t, {
    models: [
      { id: 'secret-model', aliases: ['nickname-01'], visible: false, targets: target() },
      { id: 'secret-*', targets: target() },
    ],
  });
  for (const name of ['secret-model', 'nickname-01']) {
    const unknown = 'x'.repeat(name.length);
    for (const path of ['/v1/rerank', '/v1/embeddings']) {
      const hidden = await rig.post(path, bodies[path]?.(name));
      assertError(hidden, 'model_not_found', { param: 'model', of: path });
      // The same but for the name, to the last byte: a hidden model cannot be distinguished from a missing one.
      const other = await rig.post(path, bodies[path]?.(unknown));
      assert.equal(hidden.body.toString().replaceAll(name, unknown), other.body.toString());
      assert.deepEqual(
        hidden.headers.map(([field]) => field),
        other.headers.map(([field]) => field),
      );
    }
    assertError(await rig.post(`/v1/engines/${name}/embeddings`, '{"input":"x"}'), 'model_not_found', {
      param: 'model',
    });
    assert.equal(upstream.receivedBytes, 0);
  }
  for (const name of ['secret-model', 'nickname-01']) {
    for (const path of ['/v1/completions', '/v1/edits', '/v1/moderations']) {
      assert.equal((await rig.post(path, bodies[path]?.(name))).status, 200, path);
      assert.equal((await upstream.nextRequest()).body.toString(), bodies[path]?.('secret-model'));
    }
  }
  // What the pattern alone matches is as visible as the pattern.
  assert.equal((await rig.post('/v1/embeddings', bodies['/v1/embeddings']?.('secret-other'))).status, 200);
});

test('a hidden pattern is unknown on routes for visible models, and served on the others', async (t) => {
  const { rig, upstream } = await open(t, { models: [{ id: 'dark-*', visible: false, targets: target('*') }] });
  for (const path of ['/v1/rerank', '/v1/embeddings']) {
    assertError(await rig.post(path, bodies[path]?.('dark-1')), 'model_not_found', { param: 'model' });
  }
  assert.equal(upstream.receivedBytes, 0);
  assert.equal((await rig.post('/v1/completions', bodies['/v1/completions']?.('dark-1'))).status, 200);
  assert.equal((await upstream.nextRequest()).body.toString(), bodies['/v1/completions']?.('1'));
});

test('a model is never called for an operation that it does not serve', async (t) => {
  const { rig, upstream } = await open(t, {
    models: Object.keys(bodies).map((path) => {
      const operation = path.slice('/v1/'.length);
      return { id: `only-${operation}`, operations: [operation], targets: target() };
    }),
  });
  for (const path of Object.keys(bodies)) {
    for (const other of Object.keys(bodies)) {
      const model = `only-${other.slice('/v1/'.length)}`;
      const answer = await rig.post(path, bodies[path]?.(model));
      if (path === other) assert.equal(answer.status, 200, path);
      else assertError(answer, 'operation_not_supported', { param: 'model', of: `${model} on ${path}` });
    }
  }
  assertError(await rig.post('/v1/engines/only-rerank/embeddings', '{"input":"x"}'), 'operation_not_supported', {
    param: 'model',
  });
  assert.equal(upstream.requests.length, Object.keys(bodies).length);
});

test('an exact ID wins over patterns, and the longest pattern over others', async (t) => {
  const { rig, upstream } = await open(t, {
    models: [
      { id: 'gpt-*', targets: target('any-*') },
      { id: 'gpt-4*', targets: target('four-*') },
      { id: '*-instruct', targets: target('told-*') },
      { id: 'gpt-4o', aliases: ['gpt-4-old'], targets: target('exact') },
      { id: 'b*d', targets: target('middle-*') },
    ],
  });
  const rows: [asked: string, upstreamName: string][] = [
    ['gpt-4o', 'exact'],
    ['gpt-4-old', 'exact'],
    ['gpt-4', 'four-'],
    ['gpt-4o-mini', 'four-o-mini'],
    ['gpt-3.5', 'any-3.5'],
    ['gpt-', 'any-'],
    ['gpt-4-instruct', 'told-gpt-4'],
    ['bd', 'middle-'],
    ['b..c/..ed', 'middle-..c/..e'],
    ['b$&$1d', 'middle-$&$1'],
  ];
  for (const [asked, upstreamName] of rows) {
    const answer = await rig.post('/v1/completions', bodies['/v1/completions']?.(asked));
    assert.equal(answer.status, 200, asked);
    assert.equal((await upstream.nextRequest()).body.toString(), bodies['/v1/completions']?.(upstreamName), asked);
  }
  const seen = upstream.receivedBytes;
  const climbing = ['b/../d', 'gpt-4/..', 'gpt-4o\\u0000', 'gpt-4%2f', 'gpt-4?x', 'b\\\\d'];
  for (const asked of ['gpt', 'GPT-4', 'b', 'd', '', ' gpt-4o', 'gpt\\u0000-4', 'gpt-*', 'gpt-*x*', ...climbing]) {
    const answer = await rig.post('/v1/completions', bodies['/v1/completions']?.(asked));
    assertError(answer, 'model_not_found', { param: 'model', of: asked });
  }
  assert.equal(upstream.receivedBytes, seen);
});

test('a default model replaces an absent model only', async (t) => {
  const { rig, upstream } = await open(t, {
    models: [
      { id: 'judge', targets: target('upstream-judge') },
      { id: 'm', targets: target() },
    ],
    default_model: { moderations: 'judge' },
  });
  const passing: [body: string, sent: string][] = [
    ['{"input":"x"}', '{"model":"upstream-judge","input":"x"}'],
    ['{"model":null,"input":"x"}', '{"model":"upstream-judge","input":"x"}'],
    ['{"model":"m","input":"x"}', '{"model":"m","input":"x"}'],
  ];
  for (const [body, sent] of passing) {
    assert.equal((await rig.post('/v1/moderations', body)).status, 200, body);
    assert.equal((await upstream.nextRequest()).body.toString(), sent);
  }
  const refused: [path: string, body: string, code: ErrorCode][] = [
    ['/v1/moderations', '{"model":"","input":"x"}', 'model_not_found'],
    ['/v1/moderations', '{"model":"nobody","input":"x"}', 'model_not_found'],
    ['/v1/moderations', '{"Model":"m","input":"x"}', 'duplicate_parameter'],
    ['/v1/embeddings', '{"input":"x"}', 'missing_required_parameter'],
    ['/v1/completions', '{"Model":"m","prompt":"x"}', 'missing_required_parameter'],
  ];
  for (const [path, body, code] of refused) assertError(await rig.post(path, body), code, { param: 'model', of: body });
  const unnamed = await rig.post('/v1/embeddings', '{"input":"x"}');
  assertError(unnamed, 'missing_required_parameter', { param: 'model', message: /default_model\.embeddings/ });
  assert.equal(upstream.requests.length, passing.length);
});

test('messages may replace input if the model accepts them, only on the embeddings route', async (t) => {
  const { rig, upstream } = await open(t, {
    models: [
      { id: 'talks', accepts_messages: true, targets: target() },
      { id: 'plain', targets: target() },
    ],
  });
  for (const body of [
    '{"model":"talks","messages":[{"role":"user","content":"x"}]}',
    '{"model":"talks","messages":[],"input":null}',
    '{"model":"talks","messages":"whatever","input":"x"}',
    '{"model":"plain","messages":[],"input":"x"}',
  ]) {
    assert.equal((await rig.post('/v1/embeddings', body)).status, 200, body);
    assert.equal((await upstream.nextRequest()).body.toString(), body);
  }
  const seen = upstream.requests.length;
  const refused: [path: string, body: string, code: ErrorCode, param: string][] = [
    ['/v1/embeddings', '{"model":"plain","messages":[]}', 'missing_required_parameter', 'input'],
    ['/v1/embeddings', '{"model":"talks","messages":"x"}', 'missing_required_parameter', 'input'],
    ['/v1/embeddings', '{"model":"talks","messages":null}', 'missing_required_parameter', 'input'],
    ['/v1/embeddings', '{"model":"talks","input":7,"messages":[]}', 'invalid_type', 'input'],
    ['/v1/embeddings', '{"model":"talks","Messages":[]}', 'missing_required_parameter', 'input'],
    ['/v1/embeddings', '{"model":"talks","messages":[],"MESSAGES":[]}', 'duplicate_parameter', 'messages'],
    ['/v1/engines/talks/embeddings', '{"messages":[]}', 'missing_required_parameter', 'input'],
    ['/v1/moderations', '{"model":"talks","messages":[]}', 'missing_required_parameter', 'input'],
  ];
  for (const [path, body, code, param] of refused) assertError(await rig.post(path, body), code, { param, of: body });
  assert.equal(upstream.requests.length, seen);
});
