import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../test/support/configuration.ts';

async function upstreamOf(t: TestContext, fields: string, surroundings?: Parameters<typeof loaded>[2]) {
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, ${fields} }]`, surroundings);
  const upstream = snapshot.upstreams.get('a');
  assert.ok(upstream);
  return upstream;
}

test('the address is the base URL, split where the paths of offers are added', async (t) => {
  for (const [fields, origin, pathPrefix] of [
    ['family: openai', 'https://api.openai.test', '/v1'],
    ['family: openai, base_url: "http://10.0.0.7:8000/v1/"', 'http://10.0.0.7:8000', '/v1'],
    ['family: openai, base_url: "https://H.example:443"', 'https://h.example', ''],
    ['family: openai, base_url: "http://[::1]:8080/a/b//"', 'http://[::1]:8080', '/a/b'],
    ['family: local', undefined, ''],
  ] as const) {
    const upstream = await upstreamOf(t, fields);
    assert.deepEqual([upstream.origin, upstream.pathPrefix], [origin, pathPrefix], fields);
  }
});

test('the credential goes into the header that the family names, if there is one', async (t) => {
  assert.deepEqual((await upstreamOf(t, 'family: openai, api_key: sk-1')).fixedHeaders, [
    'authorization',
    'Bearer sk-1',
  ]);
  assert.deepEqual((await upstreamOf(t, 'family: ranker, api_key: rk-1')).fixedHeaders, ['x-ranker-key', 'rk-1']);
  assert.deepEqual((await upstreamOf(t, 'family: openai')).fixedHeaders, []);
});

test('a key file holds the key, white space around it aside', async (t) => {
  const upstream = await upstreamOf(t, 'family: openai, api_key_file: k', { files: { k: '\nsk-1\n' } });
  assert.deepEqual(upstream.fixedHeaders, ['authorization', 'Bearer sk-1']);
});

test('of several credentials the first is sent, and all are secrets', async (t) => {
  const result = await loaded(
    t,
    'upstreams: [{ id: a, family: openai, credentials: [{ api_key: first-key }, { api_key: second-key }] }]',
  );
  const upstream = result.snapshot.upstreams.get('a');
  assert.deepEqual(upstream?.fixedHeaders, ['authorization', 'Bearer first-key']);
  assert.deepEqual(upstream?.secrets.map(String), ['first-key', 'second-key']);
  assert.deepEqual(result.notices, ['upstreams[0].credentials[1] has no effect in this version']);
  assert.equal(result.credentialCounts.get('a'), 2);
});

test("static headers are sent in lower case, and one with the credential header's name replaces it", async (t) => {
  const upstream = await upstreamOf(
    t,
    'family: openai, api_key: sk-1, headers: { X-Team: "red team", Authorization: Basic abcdefgh }',
  );
  assert.deepEqual(upstream.fixedHeaders, ['x-team', 'red team', 'authorization', 'Basic abcdefgh']);
});

test('a secret is looked for in each way that an answer may spell it', async (t) => {
  const { secrets } = await upstreamOf(t, `family: openai, api_key: 'sk-"a/b+c=='`);
  assert.deepEqual(secrets.map(String), ['sk-"a/b+c==', 'sk-\\"a/b+c==', 'sk-\\"a\\/b+c==', 'sk-%22a%2Fb%2Bc%3D%3D']);
});

test('values of headers that carry secrets are looked for too, without their scheme; short ones never', async (t) => {
  const headers =
    'headers: { x-team: not-a-secret, x-auth: Bearer abcdefgh, x-token: "12345678", cookie2: "1234567", x-key: Bearer a }';
  const { secrets } = await upstreamOf(t, `family: openai, api_key: short, ${headers}`);
  assert.deepEqual(secrets.map(String), ['abcdefgh', '12345678', 'Bearer a', 'Bearer%20a']);
});

test('headers to let through are held in lower case and once, without those that pass anyway', async (t) => {
  const { forwardHeaders } = await upstreamOf(
    t,
    'family: openai, forward_headers: [X-Tenant, x-tenant, Accept, OpenAI-Beta]',
  );
  assert.deepEqual(forwardHeaders, ['x-tenant']);
});

test('the legacy path is served natively only where the operator says so', async (t) => {
  assert.equal((await upstreamOf(t, 'family: openai')).offers.has('engines embeddings'), false);
  const { offers } = await upstreamOf(t, 'family: openai, legacy_engines: native');
  assert.equal(offers.get('engines embeddings')?.path, '/engines/{model}/embeddings');
  assert.equal(offers.get('openai embeddings')?.path, '/embeddings');
  assert.equal(offers.has('openai rerank'), false);
});

test('completions have more patience by default', async (t) => {
  const { timeouts } = await upstreamOf(t, 'family: openai');
  assert.deepEqual(timeouts.completions, { connectMs: 2000, firstByteMs: 600_000, idleMs: 60_000, totalMs: 900_000 });
  for (const operation of ['edits', 'rerank', 'moderations', 'embeddings'] as const) {
    assert.deepEqual(timeouts[operation], { connectMs: 2000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 300_000 });
  }
});

test('a timeout that is set holds for every operation', async (t) => {
  const { timeouts } = await upstreamOf(
    t,
    'family: openai, timeouts: { connect: 1s, first_byte: 2s, idle: 3s, total: 4s }',
  );
  for (const one of Object.values(timeouts)) {
    assert.deepEqual(one, { connectMs: 1000, firstByteMs: 2000, idleMs: 3000, totalMs: 4000 });
  }
});

test('a short total shortens the default patience for the first byte', async (t) => {
  const { timeouts } = await upstreamOf(t, 'family: openai, timeouts: { total: 30s }');
  assert.deepEqual([timeouts.completions.firstByteMs, timeouts.embeddings.firstByteMs], [30_000, 30_000]);
});

test('a key for a family that takes none is warned of', async (t) => {
  const { warnings } = await loaded(t, 'upstreams: [{ id: a, family: local, api_key: sk-1 }]');
  assert.deepEqual(warnings, ['upstreams[0]: its key has no effect, as family local takes none']);
});

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';

const faultRows: readonly FaultRow[] = [
  {
    text: 'upstreams:\n  - id: a\n    family: opnai',
    line: 3,
    path: 'upstreams[0].family',
    says: /unknown family "opnai"; did you mean openai\?/,
  },
  {
    text: 'upstreams:\n  - id: a\n    family: zzzzzz',
    line: 3,
    path: 'upstreams[0].family',
    says: /known are openai, ranker, homemade, local/,
  },
  {
    text: `${upstream}  - id: a\n    family: ranker`,
    line: 4,
    path: 'upstreams[1].id',
    says: /"a" is taken by upstreams\[0\]\.id \(line 2\)/,
  },
  {
    text: 'upstreams:\n  - id: a\n    family: homemade',
    line: 2,
    path: 'upstreams[0].base_url',
    says: /is missing; family homemade has no address/,
  },
  { text: `${upstream}    base_url: ftp://h`, line: 4, path: 'upstreams[0].base_url', says: /begins with http/ },
  {
    text: `${upstream}    base_url: api.example.com/v1`,
    line: 4,
    path: 'upstreams[0].base_url',
    says: /begins with http/,
  },
  {
    text: `${upstream}    base_url: "https:api.example.com"`,
    line: 4,
    path: 'upstreams[0].base_url',
    says: /begins with http/,
  },
  {
    text: `${upstream}    base_url: "https://h:99999"`,
    line: 4,
    path: 'upstreams[0].base_url',
    says: /not a valid URL/,
  },
  {
    text: `${upstream}    base_url: https://u:p@h/v1`,
    line: 4,
    path: 'upstreams[0].base_url',
    says: /user name or a password/,
  },
  {
    text: `${upstream}    base_url: "https://h/v1?x=1"`,
    line: 4,
    path: 'upstreams[0].base_url',
    says: /query or a fragment/,
  },
  {
    text: `${upstream}    base_url: "https://h/v1#"`,
    line: 4,
    path: 'upstreams[0].base_url',
    says: /query or a fragment/,
  },
  { text: `${upstream}    api_key_file: nowhere`, line: 4, path: 'upstreams[0].api_key_file', says: /no such file/ },
  {
    text: `${upstream}    api_key_file: k`,
    line: 4,
    path: 'upstreams[0].api_key_file',
    says: /is empty/,
    files: { k: ' \n' },
  },
  {
    text: `${upstream}    api_key_file: k`,
    line: 4,
    path: 'upstreams[0].api_key_file',
    says: /other than one key/,
    files: { k: 'a\nb' },
  },
  { text: `${upstream}    api_key: ""`, line: 4, path: 'upstreams[0].api_key', says: /came: an empty text/ },
  {
    text: `${upstream}    api_key: x\n    api_key_file: k`,
    line: 5,
    path: 'upstreams[0].api_key_file',
    says: /beside api_key/,
    files: { k: 'x' },
  },
  {
    text: `${upstream}    api_key: x\n    credentials: [{ api_key: y }]`,
    line: 5,
    path: 'upstreams[0].credentials',
    says: /keep one/,
  },
  {
    text: `${upstream}    credentials:\n      - weight: 1`,
    line: 5,
    path: 'upstreams[0].credentials[0]',
    says: /has no key/,
  },
  { text: `${upstream}    credentials: []`, line: 4, path: 'upstreams[0].credentials', says: /at least one/ },
  {
    text: 'upstreams:\n  - id: a\n    family: ranker\n    legacy_engines: native',
    line: 4,
    path: 'upstreams[0].legacy_engines',
    says: /does not speak/,
  },
  {
    text: `${upstream}    legacy_engines: naive`,
    line: 4,
    path: 'upstreams[0].legacy_engines',
    says: /one of native, lift; came: "naive"; did you mean native\?/,
  },
];

test('each fault is told once, with its path, its line and what is wanted', (t) => assertFaults(t, faultRows));
