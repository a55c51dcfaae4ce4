/** What operators write on their first day with Postern, and the result of `check`. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertFaults, faultsOf, loadText } from '../../../test/support/gateways/configuration.ts';
import { families } from '../../families/index.ts';

async function warningsOf(t: TestContext, text: string): Promise<readonly string[]> {
  const result = await loadText(t, text, { families });
  assert.ok(result.ok, JSON.stringify('faults' in result ? result.faults : []));
  return result.warnings;
}

const upstream = (more: string) => `upstreams: [{ id: a, family: openai, api_key: sk-0123456789, ${more} }]`;

test('server and console on the same port are reported as a fault', async (t) => {
  await assertFaults(t, [
    {
      text: 'server: { port: 4001 }\nconsole: { port: 4001 }',
      line: 2,
      path: 'console.port',
      error: /server too \(4001\)/,
    },
    {
      text: 'server: { port: 4001, host: 0.0.0.0 }\nconsole: { port: 4001, host: 127.0.0.1 }',
      line: 2,
      path: 'console.port',
      error: /give one of them another/,
    },
  ]);
  const local = 'upstreams: [{ id: local, family: local }]\n';
  assert.match(String(await warningsOf(t, `${local}server: { port: 4001 }`)), /console\.port: left out/);
  assert.deepEqual(await warningsOf(t, `${local}server: { port: 4001, host: 10.0.0.1 }\nconsole: { port: 4001 }`), []);
  assert.deepEqual(await warningsOf(t, `${local}server: { port: 0 }\nconsole: { port: 0 }`), []);
});

test('warns of a base URL that ends in a route or lacks the version, and suggests the right one', async (t) => {
  const rows: [url: string, expected: RegExp | undefined][] = [
    ['https://h/v1/embeddings', /without \/embeddings, as https:\/\/h\/v1$/],
    ['https://h/v1/chat/completions', /without \/chat\/completions, as https:\/\/h\/v1$/],
    ['https://h/v1/completions/', /as https:\/\/h\/v1$/],
    ['https://h/rerank', /ends in a route/],
    ['https://h', /no version path.*as https:\/\/h\/v1$/],
    ['http://10.0.0.7:8000/', /as http:\/\/10\.0\.0\.7:8000\/v1$/],
    ['https://h/openai', /as https:\/\/h\/openai\/v1$/],
    ['https://h/v1', undefined],
    ['https://h/v1beta/openai', undefined],
    ['https://h/api/v3/', undefined],
  ];
  for (const [url, expected] of rows) {
    const found = (await warningsOf(t, upstream(`base_url: "${url}"`))).filter((text) => text.includes('base_url'));
    if (expected === undefined) assert.deepEqual(found, [], url);
    else assert.match(String(found), expected, url);
  }
  // Where the family adds the version, there is no warning.
  assert.deepEqual(await warningsOf(t, 'upstreams: [{ id: a, family: vllm, base_url: "http://10.0.0.7:8000" }]'), []);
});

test("an environment reference in another program's syntax is a fault, and its text is not repeated", async (t) => {
  const literal = [
    '$OPENAI_API_KEY',
    'os.environ/OPENAI_API_KEY',
    'process.env.KEY_A',
    '%OPENAI_API_KEY%',
    '$env:KEY',
    '{{ KEY_A }}',
  ];
  for (const written of literal) {
    const [fault, ...others] = await faultsOf(t, `upstreams: [{ id: a, family: openai, api_key: '${written}' }]`);
    assert.equal(fault?.path, 'upstreams[0].api_key', written);
    assert.match(fault?.message ?? '', /write \$\{NAME\}/);
    assert.ok(!JSON.stringify([fault, ...others]).includes('KEY_A'), written);
  }
  for (const [text, path] of [
    ['store: postgres://u:$DB_PASSWORD@db/postern', 'store'],
    [
      'upstreams: [{ id: a, family: openai, headers: { x-team: "Bearer $TEAM_TOKEN" } }]',
      'upstreams[0].headers.x-team',
    ],
    ['keys: [{ id: k, secret: $THE_SECRET_OF_THE_DEVELOPERS }]', 'keys[0].secret'],
  ] as const) {
    assert.ok(
      (await faultsOf(t, text)).some((fault) => fault.path === path),
      path,
    );
  }
  const env = { KEY: '$LITERALLY_THIS_KEY', OPENAI_API_KEY: 'sk-0123456789' };
  const good = await loadText(
    t,
    `upstreams: [{ id: a, family: openai, api_key: "\${KEY}", headers: { x-a: "costs $5, US$" } }]`,
    { env },
  );
  assert.ok(good.ok);
});

test('warns of an upstream without a key only if it calls the vendor itself', async (t) => {
  const lacking = async (text: string) =>
    (await warningsOf(t, `upstreams: [{ id: a, ${text} }]`)).some((one) => one.includes('has no credential'));
  assert.ok(await lacking('family: openai'));
  assert.ok(await lacking('family: cohere, base_url: "https://api.cohere.com/v2"'));
  assert.ok(await lacking('family: bedrock, options: { region: us-east-1 }'));
  assert.ok(!(await lacking('family: openai, api_key: sk-0123456789')));
  assert.ok(!(await lacking('family: openai, headers: { Authorization: "Bearer x" }')));
  assert.ok(!(await lacking('family: openai, base_url: "http://127.0.0.1:8080/v1"')));
  for (const family of ['vllm', 'ollama', 'llamacpp', 'local'])
    assert.ok(!(await lacking(`family: ${family}`)), family);
});

test('warns of prices that look like dollars per token instead of per million tokens', async (t) => {
  const price = async (written: string) =>
    (
      await warningsOf(
        t,
        `${upstream('')}\nmodels: [{ id: m, operations: [completions], price: ${written}, targets: [{ upstream: a }] }]`,
      )
    ).filter((text) => text.includes('price of one token'));
  assert.match(
    String(await price('{ input: 0.00000015, output: 0.0000006 }')),
    /^models\[0\]\.price: input and output/,
  );
  assert.equal((await price('{ input: 2.5e-6, output: 10 }')).length, 1);
  assert.deepEqual(await price('{ input: 0.005, output: 0.01 }'), []);
  assert.deepEqual(await price('{ input: 0, output: 0, request: 0.0000001 }'), []);
});

test('warns of two model patterns that match the same name and differ only in their order', async (t) => {
  const models = (...ids: string[]) =>
    `${upstream('')}\nmodels:\n${ids.map((id) => `  - { id: "${id}", operations: [edits], targets: [{ upstream: a, model: x }] }`).join('\n')}`;
  assert.match(String(await warningsOf(t, models('gpt-*', '*-ftx', '*-ft'))), /"gpt-\*" and "\*-ftx".*"gpt-\*" holds/);
  assert.deepEqual(
    await warningsOf(t, models('gpt-*', 'abc-*', '*-4o', 'gpt-4*')).then((all) =>
      all.filter((one) => one.includes('abc') && one.includes('gpt')),
    ),
    [],
  );
  assert.deepEqual(await warningsOf(t, models('a*', 'ab*', 'abc*')), []);
});

test('a fault about a short secret gives its length and the minimum length', async (t) => {
  const [fault] = await faultsOf(t, 'keys: [{ id: k, secret: hunter2 }]');
  assert.match(fault?.message ?? '', /at least 24 .*; came: other text, of 7 characters/);
  assert.ok(!JSON.stringify(fault).includes('hunter2'));
});

test("recognises another gateway's configuration file and names the gateway", async (t) => {
  const rows: [name: RegExp, text: string][] = [
    [
      /LiteLLM.*model_list/,
      'model_list:\n  - model_name: a\n    litellm_params: { model: openai/a, api_key: os.environ/KEY }',
    ],
    [/LiteLLM/, 'litellm_settings: { drop_params: true }\ngeneral_settings: { master_key: sk-1234 }'],
    [/Portkey/, '{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"x"}]}'],
    [/Portkey/, '{"virtual_key":"open-ai-xxx","cache":{"mode":"semantic"}}'],
    [/Portkey/, '{"provider":"@openai-prod","retry":{"attempts":3}}'],
    [/new-api/, '[{"type":1,"key":"sk","models":"a,b","group":"default","base_url":""}]'],
    [/new-api/, '{"success":true,"data":{"items":[{"id":1,"type":1,"models":"a","group":"default"}]}}'],
    [/new-api/, 'services:\n  new-api:\n    image: calciumion/new-api:latest\n    environment: { SQL_DSN: x }'],
    [/Bifrost.*postern import bifrost/, '{"providers":{"openai":{"keys":[{"value":"env.KEY","models":["*"]}]}}}'],
  ];
  for (const [name, text] of rows) {
    const faults = await faultsOf(t, text);
    assert.equal(faults.length, 1, text);
    assert.match(faults[0]?.message ?? '', name);
    assert.match(faults[0]?.message ?? '', /postern init/);
  }
  for (const text of ['targets: []', 'services: { web: { image: nginx } }', '[1]', 'data: []']) {
    assert.doesNotMatch(JSON.stringify(await faultsOf(t, text)), /Portkey|new-api|LiteLLM/, text);
  }
});
