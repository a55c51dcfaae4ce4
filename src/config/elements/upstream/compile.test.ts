import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { assertFaults, type FaultRow, faultsOf, loaded } from '../../../../test/support/gateways/configuration.ts';
import azure from '../../../families/azure.ts';
import deepseek from '../../../families/deepseek.ts';
import fireworks from '../../../families/fireworks.ts';
import siliconflow from '../../../families/siliconflow.ts';
import together from '../../../families/together.ts';

async function upstreamOf(t: TestContext, fields: string, surroundings?: Parameters<typeof loaded>[2]) {
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, ${fields} }]`, surroundings);
  const upstream = snapshot.upstreams.get('a');
  assert.ok(upstream);
  return upstream;
}

test('the base URL of an upstream is split into its origin and the path before operation paths', async (t) => {
  for (const [fields, origin, pathPrefix] of [
    ['family: openai', 'https://api.openai.test', '/v1'],
    ['family: openai, base_url: "http://10.0.0.7:8000/v1/"', 'http://10.0.0.7:8000', '/v1'],
    ['family: openai, base_url: "https://H.example:443"', 'https://h.example', ''],
    ['family: openai, base_url: "http://[::1]:8080/a/b//"', 'http://[::1]:8080', '/a/b'],
    ['family: openai, base_url: "unix:/run/vllm.sock:/v1/"', 'unix:/run/vllm.sock:', '/v1'],
    ['family: openai, base_url: "unix:/run/a:b.sock"', 'unix:/run/a:b.sock:', ''],
    ['family: local', undefined, ''],
  ] as const) {
    const upstream = await upstreamOf(t, fields);
    assert.deepEqual([upstream.origin, upstream.pathPrefix], [origin, pathPrefix], fields);
  }
});

test("a base URL may end with the beginning of the family's operation paths, which is then not doubled", async (t) => {
  for (const [end, pathPrefix] of [
    ['', ''],
    ['/', ''],
    ['/openai', ''],
    ['/openai/v1', ''],
    ['/openai/v1/', ''],
    ['/a/openai', '/a'],
    ['/a/v1', '/a/v1'],
    ['/openai/v2', '/openai/v2'],
    ['/openai/deployments', ''],
    ['/openai/deployments/gpt-35%2Fturbo.x', ''],
    ['/a/openai/deployments/x/', '/a'],
    ['/openai/deployments/x/y', '/openai/deployments/x/y'],
    ['/openai/deploymentsx', '/openai/deploymentsx'],
  ] as const) {
    const upstream = await upstreamOf(t, `family: azure, base_url: "https://h.test${end}"`, { families: [azure] });
    assert.deepEqual([upstream.origin, upstream.pathPrefix], ['https://h.test', pathPrefix], end);
    assert.equal(upstream.offers.get('openai embeddings')?.path, '/openai/v1/embeddings');
  }
});

test('the version at the end of a base URL is optional', async (t) => {
  for (const [family, operation, version, others] of [
    [together, 'completions', '/v1', []],
    [siliconflow, 'rerank', '/v1', []],
    [fireworks, 'embeddings', '/inference/v1', ['/inference']],
    [deepseek, 'completions', '/beta', ['/v1']],
  ] as const) {
    for (const end of ['', '/', version, `${version}/`, ...others]) {
      const fields = `family: ${family.id}, base_url: "https://h.test/a${end}"`;
      const { pathPrefix, offers } = await upstreamOf(t, fields, { families: [family] });
      assert.equal(pathPrefix + offers.get(`openai ${operation}`)?.path, `/a${version}/${operation}`, fields);
    }
    const { pathPrefix, offers } = await upstreamOf(t, `family: ${family.id}`, { families: [family] });
    assert.equal(pathPrefix + offers.get(`openai ${operation}`)?.path, `${version}/${operation}`);
  }
});

test('a family without a fixed address requires base_url and, where it has one, the API version', async (t) => {
  const about = async (fields: string) =>
    (await faultsOf(t, `upstreams: [{ id: a, family: azure, ${fields} }]`, { families: [azure] })).map(
      ({ path, message }) => `${path} ${message}`,
    );
  assert.match(
    String(await about('')),
    /^upstreams\[0\]\.base_url is missing; family azure has no address of its own$/,
  );
  for (const version of ['v2', '2024-10', '2024-10-21?x=1', '../v1', '2024-10-21-beta']) {
    const faults = await about(`base_url: "https://h", options: { api_version: "${version}" }`);
    assert.match(
      String(faults),
      /^upstreams\[0\]\.options\.api_version wanted: v1, or a date such as 2024-10-21/,
      version,
    );
  }
  assert.match(
    String(await about('base_url: "https://h", options: { auth: both }')),
    /options\.auth wanted: one of key, entra$/,
  );
});

test('options of an upstream are substituted in operation paths', async (t) => {
  const { offers } = await upstreamOf(t, 'family: azure, base_url: "https://h", options: { api_version: 2024-10-21 }', {
    families: [azure],
  });
  assert.equal(
    offers.get('openai completions')?.path,
    '/openai/deployments/{model}/completions?api-version=2024-10-21',
  );
});

test('secret header values of at least 8 characters are redacted too, without their scheme', async (t) => {
  const headers =
    'headers: { x-team: not-a-secret, x-auth: Bearer abcdefgh, x-token: "12345678", cookie2: "1234567", x-key: Bearer a }';
  const { secrets } = await upstreamOf(t, `family: openai, api_key: short, ${headers}`);
  assert.deepEqual(secrets, ['abcdefgh', '12345678', 'Bearer a']);
});

test('a credential too weak to search for in successful responses is listed by its location, with the reason', async (t) => {
  const keys =
    'credentials: [{ api_key: short }, { api_key: your-openai-api-key-here }, { api_key: Qz7xVw3kJp9mHt2cRb6n }]';
  const headers = 'headers: { x-token: "12345678" }';
  const { screen, unscreened } = await upstreamOf(t, `family: openai, ${keys}, ${headers}`);
  assert.equal(screen, 'all');
  assert.deepEqual(unscreened, [
    'credentials[0].api_key: 5 bytes, fewer than 20',
    'credentials[1].api_key: a placeholder',
    'headers.x-token: 8 bytes, fewer than 20',
  ]);
  const off = await upstreamOf(t, `family: openai, ${keys}, screen: errors`);
  assert.deepEqual([off.screen, off.unscreened], ['errors', []]);
});

test('forward_headers is stored in lower case without duplicates and without headers that always pass', async (t) => {
  const { forwardHeaders } = await upstreamOf(
    t,
    'family: openai, forward_headers: [X-Tenant, x-tenant, Accept, OpenAI-Beta]',
  );
  assert.deepEqual(forwardHeaders, ['x-tenant']);
});

test('the legacy engines path is sent to an upstream only with legacy_engines: native', async (t) => {
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
    error: /unknown family "opnai"; did you mean openai\?/,
  },
  {
    text: 'upstreams:\n  - id: a\n    family: zzzzzz',
    line: 3,
    path: 'upstreams[0].family',
    error: /known are openai, ranker, homemade, local/,
  },
  {
    text: `${upstream}  - id: a\n    family: ranker`,
    line: 4,
    path: 'upstreams[1].id',
    error: /"a" is taken by upstreams\[0\]\.id \(line 2\)/,
  },
  {
    text: 'upstreams:\n  - id: a\n    family: homemade',
    line: 2,
    path: 'upstreams[0].base_url',
    error: /is missing; family homemade has no address/,
  },
  { text: `${upstream}    base_url: ftp://h`, line: 4, path: 'upstreams[0].base_url', error: /begins with http/ },
  {
    text: `${upstream}    base_url: api.example.com/v1`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /begins with http/,
  },
  {
    text: `${upstream}    base_url: "https:api.example.com"`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /begins with http/,
  },
  {
    text: `${upstream}    base_url: "https://h:99999"`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /not a valid URL/,
  },
  {
    text: `${upstream}    base_url: https://u:p@h/v1`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /user name or a password/,
  },
  {
    text: `${upstream}    base_url: "https://h/v1?x=1"`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /query or a fragment/,
  },
  {
    text: `${upstream}    base_url: "https://h/v1#"`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /query or a fragment/,
  },
  {
    text: `${upstream}    base_url: "unix:run/vllm.sock:/v1"`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /the whole path of a socket/,
  },
  {
    text: `${upstream}    base_url: "unix:/${'x'.repeat(103)}:/v1"`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /103 bytes at most/,
  },
  {
    text: `${upstream}    base_url: "unix:/run/vllm.sock:/v1?x=1"`,
    line: 4,
    path: 'upstreams[0].base_url',
    error: /a query, a fragment or a space/,
  },
  {
    text: `${upstream}    base_url: "unix:/run/vllm.sock:/v1"\n    tls: { server_name: h }`,
    line: 5,
    path: 'upstreams[0].tls',
    error: /names a socket, where no TLS is spoken/,
  },
  {
    text: 'upstreams:\n  - id: a\n    family: ranker\n    legacy_engines: native',
    line: 4,
    path: 'upstreams[0].legacy_engines',
    error: /has no legacy/,
  },
  {
    text: `${upstream}    legacy_engines: naive`,
    line: 4,
    path: 'upstreams[0].legacy_engines',
    error: /one of native, lift; came: "naive"; did you mean native\?/,
  },
];

test('reports each fault of an upstream once, with path, line and expected value', (t) => assertFaults(t, faultRows));
