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
