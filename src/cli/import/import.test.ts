import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { userFault } from '../../../test/support/gateways/command.ts';
import { createDirectory } from '../../../test/support/gateways/configuration.ts';
import { offersOf, standardOptions } from '../../core/family.ts';
import { operations as allOperations } from '../../core/operations/index.ts';
import { families } from '../../families/index.ts';
import { check } from '../check/check.ts';
import { toConfigSources } from '../command.ts';
import { importCommand } from './import.ts';

/** None of these secrets may occur in any output. */
const secret = (name: string): string => `sk-${name}-written-out-in-the-file`;

async function bring(t: TestContext, format: string, file: unknown, values: Record<string, boolean> = {}) {
  const text = typeof file === 'string' ? file : JSON.stringify(file, null, 1);
  const cwd = await createDirectory(t, { 'theirs.yaml': text });
  const lines: string[] = [];
  const stdout = (line: string): void => void lines.push(line);
  const context = { configPath: undefined, set: [], env: {}, cwd, families, stdout, stderr: stdout };
  const run = () => importCommand.run({ ...context, values, positionals: [format, 'theirs.yaml'] });
  const code = await run();
  const written = await readFile(join(cwd, 'postern.yaml'), 'utf8').catch(() => '');
  for (const said of [written, lines.join('\n')]) assert.doesNotMatch(said, /written-out-in-the-file/);
  const [, named = ''] = /^To be set in the environment: (.+)$/m.exec(lines.join('\n')) ?? [];
  const names = named.split(', ').filter(Boolean);
  const env = Object.fromEntries(names.map((name, index) => [name, valueFor(name, index)]));
  const faults: string[] = [];
  const checked = await check.run({
    ...context,
    ...toConfigSources({}),
    env,
    values: {},
    positionals: [],
    stdout: (line) => void faults.push(line),
  });
  assert.equal(checked, 0, `${faults.join('\n')}\n${written}`);
  const warnings = faults.filter((line) => line.startsWith('warning'));
  return {
    code,
    cwd,
    run,
    lines,
    names,
    warnings,
    notes: lines.slice(names.length > 0 ? 2 : 1),
    config: parse(written),
  };
}

function valueFor(name: string, index: number): string {
  if (name === 'REDIS_HOST') return 'redis.internal';
  if (name.endsWith('_ID')) return `AKIA${String(index).padStart(16, '0')}`;
  return `a-credential-of-its-own-${String(index).padStart(20, '0')}`;
}

test("LiteLLM's model list becomes upstreams and models, with the supported router settings", async (t) => {
  const { config, names, notes } = await bring(
    t,
    'litellm',
    `model_list:
  - model_name: gpt-4o
    litellm_params: { model: azure/eu, api_base: "https://eu.openai.azure.com/", api_key: os.environ/AZURE_EU, api_version: "2024-10-21", rpm: 6 }
    model_info: { mode: chat, supports_vision: true }
  - model_name: gpt-4o
    litellm_params: { model: azure/ca, api_base: "https://ca.openai.azure.com/", api_key: ${secret('ca')}, weight: 2 }
  - model_name: rerank
    litellm_params: { model: cohere/rerank-v3.5, api_key: os.environ/COHERE_API_KEY, input_cost_per_token: 0.0000025 }
    model_info: { mode: rerank }
  - model_name: own
    litellm_params: { model: openai/facebook/opt, api_base: "http://10.0.0.3:8000/v1?key=${secret('query')}", api_key: none, timeout: 300, temperature: 0.2 }
  - model_name: titan
    litellm_params: { model: "bedrock/amazon.titan-embed-text-v2:0", aws_region_name: us-east-1 }
    model_info: { mode: embedding }
  - model_name: odd
    litellm_params: { model: sagemaker/x }
litellm_settings: { num_retries: 3, fallbacks: [{ gpt-4o: [own, missing] }], success_callback: [langfuse] }
router_settings: { routing_strategy: least-busy, model_group_alias: { gpt-4: gpt-4o }, redis_host: os.environ/REDIS_HOST, redis_password: ${secret('redis')} }
general_settings: { master_key: ${secret('master')} }
`,
  );
  assert.deepEqual(names, [
    ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AZURE_API_KEY', 'AZURE_EU', 'COHERE_API_KEY', 'MASTER_KEY'],
    ...['REDIS_HOST', 'REDIS_PASSWORD'],
  ]);
  assert.equal(config.redis, `redis://:\${REDIS_PASSWORD}@\${REDIS_HOST}:6379`);
  assert.deepEqual(config.models[0], {
    id: 'gpt-4o',
    aliases: ['gpt-4'],
    operations: ['chat'],
    balance: 'least_busy',
    retry: { attempts: 4 },
    targets: [
      { upstream: 'azure', model: 'eu' },
      { upstream: 'azure-2', model: 'ca', weight: 2 },
      { upstream: 'openai', model: 'facebook/opt', priority: 1, defaults: { temperature: 0.2 } },
    ],
  });
  assert.deepEqual(config.models[1].targets, [{ upstream: 'cohere', model: 'rerank-v3.5', price: { input: 2.5 } }]);
  assert.deepEqual(config.upstreams[0].limits, { requests_per_minute: 6 });
  assert.deepEqual(notes, [
    'theirs.yaml:4  model_list[0].model_info.supports_vision  has no counterpart',
    'theirs.yaml:11  model_list[3].litellm_params.api_base  a possible credential in it is left out; put it into api_key',
    'theirs.yaml:15  model_list[5]  the provider of sagemaker/x has no family here: left out',
    'theirs.yaml:17  litellm_settings.fallbacks[0].gpt-4o  there is no model missing: left out',
    'theirs.yaml:17  litellm_settings.success_callback  has no counterpart',
  ]);
});

test("LiteLLM models that are each other's fallbacks have each target once, with their own targets first", async (t) => {
  const { config } = await bring(
    t,
    'litellm',
    `model_list:
  - { model_name: gpt, litellm_params: { model: gpt-4o, api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: gpt, litellm_params: { model: gpt-4o, api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: gpt, litellm_params: { model: azure/eu, api_base: "https://eu.openai.azure.com/", api_key: os.environ/AZURE_EU } }
  - { model_name: claude, litellm_params: { model: anthropic/claude-sonnet-4-5 } }
  - { model_name: last, litellm_params: { model: mistral/mistral-large } }
litellm_settings: { fallbacks: [{ claude: [gpt, last] }, { gpt: [claude, gpt] }] }
router_settings: { fallbacks: [{ claude: [gpt, last] }] }
`,
  );
  const targetsOf = (id: string) => config.models.find((model: { id: string }) => model.id === id).targets;
  const [gpt, eu] = [
    { upstream: 'openai', model: 'gpt-4o' },
    { upstream: 'azure', model: 'eu' },
  ];
  const [claude, last] = [
    { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
    { upstream: 'mistral', model: 'mistral-large' },
  ];
  const after = (one: object, priority: number) => ({ ...one, priority });
  assert.deepEqual(targetsOf('claude'), [claude, after({ ...gpt, weight: 2 }, 1), after(eu, 1), after(last, 2)]);
  assert.deepEqual(targetsOf('gpt'), [{ ...gpt, weight: 2 }, eu, after(claude, 1), after(last, 3)]);
});

test('new-api channels with one credential become one target, with the weights of the highest priority', async (t) => {
  const shared = { type: 1, name: 'Main', key: secret('one'), models: 'gpt-4o' };
  const channels = [
    { id: 1, priority: 1 },
    { id: 2, priority: 5, weight: 3 },
    { id: 3, priority: 5, group: 'vip' },
  ];
  const { config } = await bring(
    t,
    'new-api',
    channels.map((more) => channel({ ...shared, ...more })),
  );
  assert.deepEqual(config.models[0].targets, [{ upstream: 'openai', weight: 4 }]);
});

test('an empty key of a Bifrost provider with its own address is imported as no credential', async (t) => {
  const keys = [{ name: 'k', value: '', models: ['llama3'], weight: 1 }];
  const server = { keys, network_config: { base_url: 'http://localhost:11434' } };
  const { config, names, notes } = await bring(t, 'bifrost', { providers: { ollama: server, openai: { keys: [] } } });
  assert.deepEqual([names, config.upstreams[0].api_key], [[], undefined]);
  assert.deepEqual(notes, ['theirs.yaml:18  providers.openai  has no keys, and so no models: left out']);
});

const channel = (more: Readonly<Record<string, unknown>>) => ({ status: 1, group: 'default', ...more });

test('new-api channels become upstreams, highest priority first', async (t) => {
  const channels = [
    channel({
      id: 1,
      type: 1,
      name: 'Main',
      key: `${secret('one')}\n${secret('two')}`,
      models: 'gpt-4o,text-embedding-3-small',
      priority: 10,
      weight: 5,
      model_mapping: '{"gpt-4o":"gpt-4o-2024-11-20"}',
      auto_ban: 1,
    }),
    channel({ id: 2, type: 8, name: 'proxy', key: secret('proxy'), base_url: 'https://llm.example', models: 'gpt-4o' }),
    channel({ id: 3, type: 36, name: 'suno', key: 'x', models: 'chirp' }),
    channel({ id: 4, type: 34, name: 'off', key: secret('off'), models: 'rerank-v3.5', status: 2 }),
  ];
  const { config, names, notes } = await bring(t, 'new-api', { success: true, data: { items: channels } });
  assert.deepEqual(names, ['MAIN_KEY', 'MAIN_KEY_2', 'PROXY_KEY']);
  assert.equal(config.upstreams[1].base_url, 'https://llm.example/v1');
  assert.deepEqual(config.models[0].targets, [
    { upstream: 'openai', model: 'gpt-4o-2024-11-20', weight: 5 },
    { upstream: 'openai-2', priority: 10 },
  ]);
  assert.deepEqual(config.models[1].operations, ['embeddings']);
  assert.deepEqual(
    notes.map((note) => note.replace(/^.*? {2}/, '')),
    [
      'model gpt-4o  its targets have different names for it: no embeddings and no rerank, unless its operations say so',
      'data.items[0].auto_ban  has no counterpart',
      'data.items[2]  the type 36 of "suno" has no family here: left out',
      'data.items[3]  "off" is switched off: left out',
    ],
  );
});

test('a LiteLLM key is given only to the service of its model, and entries of unknown services are left out', async (t) => {
  const params = [
    { model: 'claude-sonnet-5', api_key: 'os.environ/ANTHROPIC_API_KEY' },
    { model: 'gpt-5-mini', api_key: 'os.environ/OPENAI_API_KEY' },
    { model: 'nobody-knows', api_key: 'os.environ/SOME_KEY' },
    { model: 'huggingface/BAAI/bge-m3', api_base: 'http://10.0.0.1:8080' },
  ];
  const entries = params.map((one, index) => ({
    model_name: `m${index}`,
    litellm_params: one,
    model_info: index === 3 ? { mode: 'embedding' } : {},
  }));
  const { config, names, notes } = await bring(t, 'litellm', { model_list: entries });
  assert.deepEqual(
    config.upstreams.map(({ family, api_key }: Record<string, string>) => [family, api_key]),
    [
      ['anthropic', `\${ANTHROPIC_API_KEY}`],
      ['openai', `\${OPENAI_API_KEY}`],
      ['tei', undefined],
    ],
  );
  assert.deepEqual(names, ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY']);
  assert.match(notes.join(), /model_list\[2\] {2}the provider of nobody-knows has no family here: left out/);
});

test('one-api channels are imported by the channel type numbers of one-api', async (t) => {
  const channels = [
    channel({ type: 35, name: 'c', key: secret('c'), models: 'rerank-v3.5' }),
    channel({ type: 33, name: 'aws', key: `AKIA0000000000000001|${secret('aws')}|eu-west-1`, models: 'titan' }),
  ];
  const { config } = await bring(t, 'one-api', channels);
  assert.deepEqual(
    config.upstreams.map(({ family }: { family: string }) => family),
    ['cohere', 'bedrock'],
  );
  assert.deepEqual(config.upstreams[1].options, { region: 'eu-west-1' });
});

const offeredBy = (family: string): string[] => {
  const found = families.find(({ id }) => id === family);
  assert.ok(found);
  const offered = new Set(Object.values(offersOf(found, standardOptions(found))).flatMap((own) => Object.keys(own)));
  return allOperations.filter((one) => offered.has(one));
};
const [atOpenai, atAzure] = [offeredBy('openai'), offeredBy('azure')];

test("Bifrost's providers and virtual keys are imported under the model names that clients use", async (t) => {
  const azure = { endpoint: 'https://a.openai.azure.com/', api_version: '2024-10-21', deployments: { m: 'deployed' } };
  const { config, names, notes } = await bring(t, 'bifrost', {
    providers: {
      openai: {
        keys: [
          { name: 'a', value: 'env.OPENAI_API_KEY', models: ['*'], weight: 0.7 },
          { name: 'b', value: secret('b'), models: ['gpt-4o'], weight: 0.3 },
        ],
        network_config: { default_request_timeout_in_seconds: 30, max_retries: 1 },
      },
      azure: { keys: [{ value: 'env.AZURE_API_KEY', models: ['m'], azure_key_config: azure }] },
      elevenlabs: { keys: [] },
    },
    governance: {
      virtual_keys: [
        { name: 'Search', value: secret('vk'), provider_configs: [{ provider: 'openai', allowed_models: ['*'] }] },
      ],
    },
  });
  assert.deepEqual(names, ['AZURE_API_KEY', 'OPENAI_API_KEY', 'OPENAI_API_KEY_2', 'SEARCH_KEY']);
  assert.deepEqual(config.models, [
    { id: 'openai/*', operations: atOpenai, targets: [{ upstream: 'openai', model: '*', weight: 70 }] },
    {
      id: 'openai/gpt-4o',
      operations: ['completions', 'chat', 'responses'],
      targets: [
        { upstream: 'openai-2', model: 'gpt-4o', weight: 30 },
        { upstream: 'openai', model: 'gpt-4o', weight: 70 },
      ],
    },
    { id: 'azure/m', operations: atAzure, targets: [{ upstream: 'azure', model: 'deployed' }] },
  ]);
  assert.deepEqual(config.keys, [{ id: 'Search', secret: `\${SEARCH_KEY}`, models: ['openai/*'] }]);
  assert.equal(notes.length, 2, notes.join('\n'));
});

test("Bifrost's addresses get the version that it adds itself, and its keys what the file says elsewhere", async (t) => {
  const keys = [{ name: 'a', value: 'env.OPENAI_API_KEY', models: ['gpt-4o'] }];
  const openai = [{ provider: 'openai', allowed_models: [] }];
  const { config, notes } = await bring(t, 'bifrost', {
    providers: { openai: { keys, network_config: { base_url: 'https://llm.example/' } } },
    governance: {
      virtual_keys: [
        { name: 'a', value: secret('a'), provider_configs: openai, budget_id: 'b1', rate_limit_id: 'r1' },
        { name: 'b', value: secret('b'), provider_configs: openai },
      ],
      budgets: [
        { id: 'b1', max_limit: 100, reset_duration: '1M' },
        { id: 'b2', max_limit: 5, reset_duration: '1d' },
      ],
      rate_limits: [{ id: 'r1', request_max_limit: 60, request_reset_duration: '1m' }],
    },
  });
  assert.equal(config.upstreams[0].base_url, 'https://llm.example/v1');
  const [models, limits] = [['openai/*'], { requests_per_minute: 60 }];
  assert.deepEqual(config.keys, [
    { id: 'a', secret: `\${A_KEY}`, models, limits, budgets: [{ every: 'month', amount: 100 }] },
    { id: 'b', secret: `\${B_KEY}`, models },
  ]);
  assert.deepEqual(
    notes.map((note) => note.replace(/^\S+ +/, '')),
    ['governance.budgets[1].max_limit  has no counterpart', 'governance.budgets[1].reset_duration  has no counterpart'],
  );
});

test("Portkey's targets become targets of one model, by priority or by weight", async (t) => {
  const { config, notes } = await bring(t, 'portkey', {
    strategy: { mode: 'fallback', on_status_codes: [429] },
    request_timeout: 5000,
    targets: [
      { provider: 'openai', api_key: secret('o'), override_params: { model: 'gpt-4o' }, request_timeout: 30_000 },
      {
        strategy: { mode: 'loadbalance' },
        targets: [
          { provider: 'mistral-ai', api_key: secret('m'), weight: 0.7, override_params: { model: 'mistral-large' } },
          { provider: 'groq', api_key: secret('g'), weight: 0.3, override_params: { model: 'llama' } },
          { virtual_key: 'somebodys', weight: 0.1 },
        ],
      },
    ],
  });
  assert.deepEqual(config.models[0].targets, [
    { upstream: 'openai', model: 'gpt-4o' },
    { upstream: 'mistral', model: 'mistral-large', priority: 1, weight: 70 },
    { upstream: 'groq', model: 'llama', priority: 1, weight: 30 },
  ]);
  assert.equal(config.models[0].operations.includes('embeddings'), false);
  const totals = config.upstreams.map(({ timeouts }: { timeouts: { total: string } }) => timeouts.total);
  assert.deepEqual(totals, ['30s', '5s', '5s']);
  assert.equal(notes.length, 3, notes.join('\n'));
});

test('import keeps an existing output file, and refuses unsuitable input files', async (t) => {
  const { run, lines } = await bring(t, 'portkey', { provider: 'openai', api_key: secret('o') });
  assert.equal(await run(), 1);
  assert.match(lines.at(-1) ?? '', /postern\.yaml is there already; --force overwrites it/);
  await assert.rejects(bring(t, 'one-api', { a: 1 }), userFault(/it has no list of channels/));
  await assert.rejects(bring(t, 'portkey', { a: 1 }), userFault(/no provider is in it/));
  await assert.rejects(bring(t, 'litellm', 'a: [1'), userFault(/neither YAML nor JSON/));
  await assert.rejects(bring(t, 'litellm', ''), userFault(/^theirs\.yaml has nothing that can be imported$/));
  await assert.rejects(bring(t, 'openai', {}), userFault(/write it as "postern import litellm\|portkey/));
});

test('import refuses a file in which nothing can be imported, after it printed each note to stderr', async (t) => {
  const entries = ['x', 'y'].map((name) => ({ model_name: name, litellm_params: { model: `sagemaker/${name}` } }));
  const cwd = await createDirectory(t, {
    'bifrost.json': JSON.stringify({ model_list: [] }),
    'litellm.json': JSON.stringify({ model_list: entries }),
  });
  for (const [format, notes] of [
    ['bifrost', [/^bifrost\.json:1 {2}model_list {2}has no counterpart$/]],
    [
      'litellm',
      [
        /model_list\[0\] {2}the provider of sagemaker\/x has no/,
        /model_list\[1\] {2}the provider of sagemaker\/y has no/,
      ],
    ],
  ] as const) {
    const lines: string[] = [];
    const stderr = (line: string): void => void lines.push(line);
    const stdout = (line: string): void => assert.fail(`stdout: ${line}`);
    const context = { configPath: undefined, set: [], env: {}, cwd, families, stdout, stderr, values: {} };
    const file = `${format}.json`;
    await assert.rejects(
      Promise.resolve(importCommand.run({ ...context, positionals: [format, file] })),
      userFault(/^[a-z]+\.json has nothing that can be imported$/),
    );
    assert.equal(lines.length, notes.length, lines.join('\n'));
    for (const [index, note] of notes.entries()) assert.match(lines[index] ?? '', note);
  }
});

test("the response of LiteLLM's GET /model/info is imported like LiteLLM's model_list", async (t) => {
  const entry = {
    model_name: 'embed',
    litellm_params: { model: 'cohere/embed-v4.0' },
    model_info: { mode: 'embedding', id: '1', db_model: true },
  };
  const { config, names } = await bring(t, 'litellm', { data: [entry] });
  assert.deepEqual(config.models[0].targets, [{ upstream: 'cohere', model: 'embed-v4.0' }]);
  assert.deepEqual(names, ['COHERE_API_KEY']);
});

const litellmExample = (master: string) => `model_list:
  - model_name: small
    litellm_params: { model: gpt-4o-mini }
  - model_name: small
    litellm_params: { model: azure/chat-one, api_base: "https://one.openai.azure.com/", api_version: "2024-10-21", api_key: os.environ/AZURE_API_KEY }
  - model_name: large
    litellm_params: { model: gpt-4o, api_key: ${secret('large')}, timeout: 300, stream_timeout: 60 }
  - model_name: pictures
    litellm_params: { model: azure/, api_base: "https://one.openai.azure.com/", api_key: os.environ/AZURE_API_KEY }
  - model_name: fake
    litellm_params: { model: openai/fake, api_key: my-fake-key, api_base: "https://fake.example/", stream_timeout: 0.001 }
  - model_name: "anthropic/*"
    litellm_params: { model: "anthropic/*", api_key: os.environ/ANTHROPIC_API_KEY }
  - model_name: embed
    litellm_params: { model: mistral/mistral-embed }
  - model_name: instruct
    litellm_params: { model: text-completion-openai/gpt-3.5-turbo-instruct }
litellm_settings: { num_retries: 5, request_timeout: 600, telemetry: false }
router_settings: { routing_strategy: least-busy }
general_settings:
  master_key: ${master}
  pass_through_endpoints:
    - { path: /v1/rerank, target: "https://api.cohere.com/v1/rerank", headers: { accept: application/json } }
    - { path: /parse, target: "https://api.vendor.example/v2/parse", headers: { Authorization: "bearer os.environ/VENDOR_KEY", x-team: a }, cost_per_request: 0.01, forward_headers: true }
    - { path: /classify, target: "https://classify.example/classify", include_subpath: true }
`;

test("an imported LiteLLM file has no warnings, and each credential keeps its variable's or provider's name", async (t) => {
  const { config, names, warnings, notes } = await bring(t, 'litellm', litellmExample('sk-1234'));
  assert.deepEqual(warnings, []);
  assert.deepEqual(names, [
    ...['ANTHROPIC_API_KEY', 'AZURE_API_KEY', 'MASTER_KEY', 'MISTRAL_API_KEY', 'OPENAI_API_KEY', 'OPENAI_API_KEY_2'],
    ...['OPENAI_API_KEY_3', 'PARSE_X_TEAM', 'VENDOR_KEY'],
  ]);
  const keyOf = (id: string): string => config.upstreams.find((one: { id: string }) => one.id === id)?.api_key;
  assert.deepEqual(
    [keyOf('openai'), keyOf('openai-2'), keyOf('openai-3'), keyOf('parse'), keyOf('classify')],
    [`\${OPENAI_API_KEY}`, `\${OPENAI_API_KEY_2}`, `\${OPENAI_API_KEY_3}`, `\${VENDOR_KEY}`, undefined],
  );
  const said = notes.map((note) => note.replace(/^.*? {2}/, ''));
  assert.ok(said.includes('model_list[3]  azure/ names no model behind its provider: left out'), said.join('\n'));
  assert.ok(said.some((note) => /^general_settings\.master_key {2}is shorter than 24 characters/.test(note)));
  const loses = said.some((note) => /^model anthropic\/\* {2}loses \/v1\/chat\/completions/.test(note));
  const anthropic = config.models.find(({ id }: { id: string }) => id === 'anthropic/*');
  assert.equal(loses, !anthropic.operations.includes('chat'));
  assert.ok(said.some((note) => /pass_through_endpoints\[0\] {2}\/v1\/rerank is a path of Postern's own/.test(note)));
  assert.ok(said.some((note) => /pass_through_endpoints\[2\]\.include_subpath/.test(note)));
  const longer = await bring(t, 'litellm', litellmExample(secret('master')));
  assert.doesNotMatch(longer.notes.join('\n'), /master_key/);
});

test("LiteLLM's timeouts, retries and pass-through endpoints are translated to Postern's settings", async (t) => {
  const { config } = await bring(t, 'litellm', litellmExample('sk-1234'));
  const timeouts = config.upstreams.map(({ id, timeouts: own }: { id: string; timeouts: unknown }) => [id, own]);
  assert.deepEqual(Object.fromEntries(timeouts), {
    openai: { total: '10m' },
    azure: { total: '10m' },
    'openai-2': { idle: '1m', total: '5m' },
    'openai-3': { idle: '1ms', total: '10m' },
    anthropic: { total: '10m' },
    mistral: { total: '10m' },
    parse: { total: '10m' },
    classify: { total: '10m' },
  });
  const retries = config.models.map(({ id, retry }: { id: string; retry: unknown }) => [id, retry]);
  const { small, large } = Object.fromEntries(retries);
  assert.deepEqual([small, large], [{ attempts: 6 }, { attempts: 6, same_target: 5 }]);
  assert.deepEqual(config.routes, [
    { path: '/parse', to: '/parse', model: { id: 'parse' } },
    { path: '/classify', to: '/classify', model: { id: 'classify' } },
  ]);
  const parse = config.models.find(({ id }: { id: string }) => id === 'parse');
  assert.deepEqual(parse.targets, [{ upstream: 'parse', price: { request: 0.01 } }]);
  const bases = config.upstreams.map(({ base_url }: { base_url: string }) => base_url);
  assert.ok(bases.includes('https://api.vendor.example/v2') && bases.includes('https://classify.example//'));
});

test('import --diff lists each route of each model, and writes nothing', async (t) => {
  const { lines, run, cwd } = await bring(t, 'litellm', litellmExample('sk-1234'), { diff: true, force: true });
  await assert.rejects(readFile(join(cwd, 'postern.yaml')), { code: 'ENOENT' });
  const rows = lines.map((line) => line.split(/ {2,}/));
  const rowOf = (model: string, route: string) => rows.find(([one, path]) => one === model && path === route)?.slice(2);
  assert.deepEqual(rowOf('small', '/v1/chat/completions'), ['gpt-4o-mini, azure/chat-one', 'openai, azure']);
  assert.deepEqual(rowOf('embed', '/v1/embeddings'), ['mistral/mistral-embed', 'mistral']);
  assert.deepEqual(rowOf('anthropic/*', '/v1/messages'), ['anthropic/*', 'anthropic']);
  assert.deepEqual(rowOf('instruct', '/v1/chat/completions'), undefined);
  assert.equal(lines[0], 'Nothing is written.');
  await writeFile(join(cwd, 'postern.yaml'), 'ours');
  assert.equal(await run(), 0);
  assert.equal(await readFile(join(cwd, 'postern.yaml'), 'utf8'), 'ours');
});

test('a new-api base_url that ends in a route is imported without the route', async (t) => {
  const of = (base_url: string) => channel({ type: 8, name: base_url, key: secret('x'), base_url, models: 'gpt-4o' });
  const addresses = [
    'https://a.example/v1/chat/completions',
    'https://b.example/chat/completions/',
    'https://c.example/',
  ];
  const { config } = await bring(t, 'new-api', addresses.map(of));
  assert.deepEqual(
    config.upstreams.map(({ base_url }: { base_url: string }) => base_url),
    ['https://a.example/v1', 'https://b.example/v1', 'https://c.example/v1'],
  );
});

test('chat models of Anthropic, Vertex AI and Bedrock are imported, and operations without support are named', async (t) => {
  const { config, notes } = await bring(
    t,
    'litellm',
    `model_list:
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY }
    model_info: { mode: chat }
  - model_name: gemini
    litellm_params: { model: vertex_ai/gemini-2.5-flash, vertex_project: p-1, vertex_location: us-central1, vertex_credentials: ${secret('google')} }
  - model_name: oss
    litellm_params: { model: "bedrock/openai.gpt-oss-20b-1:0", aws_region_name: us-east-1 }
  - model_name: claude-at-aws
    litellm_params: { model: "bedrock/us.anthropic.claude-sonnet-4-5-v1:0", aws_region_name: us-east-1 }
  - model_name: tei
    litellm_params: { model: huggingface/some/chat, api_base: "http://10.0.0.3:8080" }
    model_info: { mode: rerank }
`,
  );
  const operations = config.models.map((model: { operations: string[] }) => model.operations.includes('chat'));
  assert.deepEqual(operations, [true, true, true, true, false]);
  const named = notes.filter((note) => note.includes('/v1/chat/completions'));
  assert.deepEqual(named, [
    'theirs.yaml  model claude-at-aws  may lose /v1/chat/completions: that path of its upstream is documented for other models alone',
  ]);
});
