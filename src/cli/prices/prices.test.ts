import assert from 'node:assert/strict';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setUpCommand, userFault } from '../../../test/support/gateways/command.ts';
import { families } from '../../families/index.ts';
import { createReader } from '../../serve/configuration.ts';
import { usage } from '../ledger/usage.ts';
import { resources } from '../resources/resources.ts';
import { prices } from './prices.ts';

const configuration = {
  upstreams: [
    { id: 'openai', family: 'openai', api_key: 'sk-0123456789' },
    { id: 'groq', family: 'openai', base_url: 'https://api.groq.com/openai/v1', api_key: 'gsk-0123456789' },
    { id: 'own', family: 'openai', base_url: 'http://127.0.0.1:9/v1' },
  ],
  models: [
    { id: 'text-embedding-3-small', operations: ['embeddings'], targets: [{ upstream: 'openai' }] },
    {
      id: 'text-embedding-3-large',
      operations: ['embeddings'],
      targets: [{ upstream: 'openai' }],
      price: { input: 9 },
    },
    { id: 'text-embedding-ada-002', operations: ['embeddings'], targets: [{ upstream: 'openai' }] },
    { id: 'llama', operations: ['chat'], targets: [{ upstream: 'groq', model: 'llama-3.1-8b-instant' }] },
    { id: 'same-name', operations: ['embeddings'], targets: [{ upstream: 'own', model: 'text-embedding-3-small' }] },
  ],
};

const litellm = {
  sample_spec: { litellm_provider: 'one of the providers', mode: 'chat', input_cost_per_token: 0 },
  'text-embedding-3-small': entry('openai', 'embedding', { input_cost_per_token: 3e-8, output_cost_per_token: 0 }),
  'text-embedding-3-large': entry('openai', 'embedding', { input_cost_per_token: 1.3e-7 }),
  'groq/llama-3.1-8b-instant': entry('groq', 'chat', { input_cost_per_token: 5e-8, output_cost_per_token: '8e-08' }),
  'claude-x': entry('anthropic', 'chat', {
    input_cost_per_token: 3e-6,
    output_cost_per_token: 1.5e-5,
    cache_read_input_token_cost: 3e-7,
    cache_creation_input_token_cost: 3.75e-6,
    cache_creation_input_token_cost_above_1hr: 6e-6,
    input_cost_per_token_above_200k_tokens: 6e-6,
  }),
  'rerank-v3.5': entry('cohere', 'rerank', { input_cost_per_query: 0.0021, input_cost_per_token: 0 }),
  'voyage/rerank-2': entry('voyage', 'rerank', { input_cost_per_query: 5e-8, input_cost_per_token: 5e-8 }),
  'whisper-1': entry('openai', 'audio_transcription', { input_cost_per_second: 0, output_cost_per_second: 0.0001 }),
  'tts-1': entry('openai', 'audio_speech', { input_cost_per_character: 1.5e-5 }),
  'gpt-image-x': entry('openai', 'image_generation', { output_cost_per_image: 0.04 }),
  '1024-x-1024/dall-e-2': entry('openai', 'image_generation', { input_cost_per_pixel: 1.9e-8 }),
  'azure/eu/gpt-4o': entry('azure', 'chat', { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 }),
  'sora-x': entry('openai', 'video_generation', { output_cost_per_second: 0.1 }),
  'gemini/gemini-exp': entry('gemini', 'chat', { input_cost_per_token: 0, output_cost_per_token: 0 }),
  'half-a-price': entry('openai', 'chat', { input_cost_per_token: 1e-6 }),
  'wrong-sign': entry('openai', 'chat', { input_cost_per_token: -1e-6, output_cost_per_token: 2e-6 }),
  'ollama/llama2': entry('ollama', 'chat', { input_cost_per_token: 0, output_cost_per_token: 0 }),
  'aiml/flux': entry('aiml', 'image_generation', { output_cost_per_image: 0.1 }),
};

function entry(provider: string, mode: string, costs: Readonly<Record<string, number | string>>) {
  return { litellm_provider: provider, mode, max_tokens: 8191, ...costs };
}

async function setUp(t: TestContext) {
  const found = await setUpCommand(t, prices, configuration);
  // Created as a gateway does.
  await found.withStore(async () => undefined);
  return {
    ...found,
    write: (text: string, name = 'prices.csv') => writeFile(join(found.cwd, name), text),
    stored: () => found.withStore((store) => store.resources.get('setting', 'prices')),
    /** The configuration as a running gateway loads it after the change. */
    async reload() {
      const file = join(found.cwd, 'postern.yaml');
      const reader = createReader({ configPath: file, env: {}, cwd: found.cwd, families }, { file });
      const next = await reader(await found.withStore((store) => store.resources.list()));
      assert.ok(next.ok, JSON.stringify(next));
      return {
        warnings: next.warnings,
        price: (id: string) => next.snapshot.models.resolve(id)?.model.targets[0].price,
      };
    },
  };
}

test("prices import takes LiteLLM's file for vendors and hosts, and a model's own price overrides it", async (t) => {
  const { write, run, reload } = await setUp(t);
  await write(JSON.stringify(litellm, null, 2), 'litellm.json');
  const { code, lines, errors } = await run('import', 'litellm.json', '--as-of', '2026-11-20');
  assert.deepEqual([code, errors], [0, []]);
  assert.equal(lines[0], 'Taken: 9 prices, as of 2026-11-20.');
  assert.ok(lines.some((line) => /^2 configured models go by this list;/.test(line)));
  const { price } = await reload();
  assert.equal(price('text-embedding-3-small')?.input, 30_000_000);
  assert.equal(price('text-embedding-3-large')?.input, 9_000_000_000);
  // Not in the file: the built-in table has it.
  assert.equal(price('text-embedding-ada-002')?.input, 100_000_000);
  assert.deepEqual([price('llama')?.input, price('llama')?.output], [50_000_000, 80_000_000]);
  assert.equal(price('same-name'), undefined);
});

test("prices import converts every unit of LiteLLM's file exactly, and reports what it leaves out and why", async (t) => {
  const { write, json } = await setUp(t);
  const text = JSON.stringify(litellm, null, 2);
  await write(text, 'litellm.json');
  const report = await json('import', 'litellm.json', '--dry-run');
  const by = Object.fromEntries(
    report.taken.map((one: { service: string; model: string; price: unknown }) => [
      `${one.service} ${one.model}`,
      one.price,
    ]),
  );
  assert.deepEqual(by, {
    'openai text-embedding-3-small': { input: '0.03', output: '0' },
    'openai text-embedding-3-large': { input: '0.13' },
    'api.groq.com llama-3.1-8b-instant': { input: '0.05', output: '0.08' },
    'anthropic claude-x': { input: '3', output: '15', cached_input: '0.3', cache_write: '3.75', cache_write_1h: '6' },
    'cohere rerank-v3.5': { search_unit: '0.0021', input: '0' },
    'voyage rerank-2': { input: '0.05' },
    'openai whisper-1': { minute: '0.006' },
    'openai tts-1': { character: '15' },
    'openai gpt-image-x': { image: '0.04' },
  });
  const why = Object.fromEntries(report.left_out.map((one: { name: string; why: string }) => [one.name, one.why]));
  assert.deepEqual(why, {
    '1024-x-1024/dall-e-2': 'it is for one size of images; set price.image at the model',
    'azure/eu/gpt-4o': 'it is for one region or commitment; set price at the model',
    'sora-x': 'nothing is billed here as the mode "video_generation"',
    'gemini/gemini-exp': 'its price is 0, which may be free or unknown',
    'half-a-price': 'it has no price for output',
    'wrong-sign': 'input_cost_per_token is -0.000001, which is no price in dollars',
    'ollama/llama2': 'ollama runs at your own addresses; set price at the model',
    'aiml/flux': 'there is no family for aiml',
  });
  const lines = text.split('\n');
  for (const { name, line } of report.left_out) assert.ok(lines[line - 1]?.includes(JSON.stringify(name)), name);
  assert.deepEqual(report.not_counted, { input_cost_per_token_above_200k_tokens: ['claude-x'] });
});

test('prices import takes CSV with quotes, a byte order mark and empty cells, and replaces the former list', async (t) => {
  const { write, run, reload, runAs } = await setUp(t);
  await write('service,model,input\nopenai,text-embedding-3-small,0.5\nopenai,text-embedding-ada-002,0.7\n');
  assert.equal((await run('import', 'prices.csv')).code, 0);
  await write(
    '\ufeffmodel,service,input,output,search_unit\r\n"text-embedding-3-small",OpenAI,0.025,,\r\n\r\n"a, b",127.0.0.1,,,0.001\r\n',
  );
  const { code, lines, errors } = await run('import', 'prices.csv', '--as-of', '2026-11-24');
  assert.deepEqual([code, errors], [0, []]);
  assert.equal(lines[0], 'Taken: 2 prices, as of 2026-11-24.');
  const { price } = await reload();
  assert.equal(price('text-embedding-3-small')?.input, 25_000_000);
  assert.equal(price('text-embedding-ada-002')?.input, 100_000_000);
  const { prices: dates } = JSON.parse((await runAs(usage, {}, '--json')).lines.join(''));
  assert.deepEqual(dates, [
    { source: 'table', as_of: '2025-11-01', models: 1 },
    { source: 'imported', as_of: '2026-11-24', models: 1 },
  ]);
  assert.equal((await runAs(resources, {}, 'delete', 'setting', 'prices')).code, 0);
  assert.equal((await reload()).price('text-embedding-3-small')?.input, 20_000_000);
});

test('prices import writes nothing with --dry-run', async (t) => {
  const { write, run, stored } = await setUp(t);
  await write('service,model,input\nopenai,text-embedding-3-small,0.5\n');
  const { code, lines } = await run('import', 'prices.csv', '--dry-run');
  assert.deepEqual([code, lines.at(-1)], [0, 'Nothing was written.']);
  assert.equal(await stored(), undefined);
});

test("prices import dates the list by the file's modification time without --as-of, and refuses invalid dates", async (t) => {
  const { cwd, write, run } = await setUp(t);
  await write('service,model,input\nopenai,text-embedding-3-small,0.5\n');
  const day = new Date('2026-03-04T12:00:00Z');
  await utimes(join(cwd, 'prices.csv'), day, day);
  assert.equal((await run('import', 'prices.csv')).lines[0], 'Taken: 1 price, as of 2026-03-04.');
  for (const wrong of ['2026-02-30', 'today', '2026-1-1'])
    await assert.rejects(run('import', 'prices.csv', '--as-of', wrong), userFault(/a day such as/));
});

test('prices import reports each faulty CSV line with advice, and imports no line of the file', async (t) => {
  const { write, run, stored } = await setUp(t);
  await write(
    [
      'service,model,input,output',
      'openai,gpt-x,2,8',
      'openai,gpt-x,2,8',
      'opnai,gpt-y,2,8',
      'vllm,mine,1,1',
      'openai,gpt-z,"2,50",8',
      'openai,,2,8',
      'openai,none,,',
      'openai,short,2',
      'openai,token,0.00000003,8',
    ].join('\n'),
  );
  const { code, errors } = await run('import', 'prices.csv');
  assert.equal(code, 1);
  assert.deepEqual(
    errors.map((line) => line.replace(/;.*/, '')),
    [
      'prices.csv:3  gpt-x of openai is on line 2 already',
      'prices.csv:4  "opnai" is neither a family nor a host name',
      'prices.csv:5  "vllm" runs at your own addresses',
      'prices.csv:6  input is "2,50"',
      'prices.csv:7  model is empty',
      'prices.csv:8  has no price',
      'prices.csv:9  has 3 cells, and the first line 4',
      'prices.csv:10  input looks like the price of one',
    ],
  );
  assert.equal(await stored(), undefined);
});

test('prices import refuses files that are no price list, and gives the reason', async (t) => {
  const { write, run } = await setUp(t);
  await write('service;model;input\nopenai;m;1\n');
  const { errors } = await run('import', 'prices.csv');
  assert.match(errors.join('\n'), /^prices\.csv:1 {2}has no column service; .*separated by commas$/m);
  await write('');
  assert.match((await run('import', 'prices.csv')).errors.join(), /prices\.csv:1 {2}the file is empty/);
  await write('{\n  "gpt-4o": {\n    "litellm_provider": \n', 'cut.json');
  await assert.rejects(run('import', 'cut.json'), userFault(/^cut\.json:[34] {2}the JSON/));
  await write('{ "a": 1 }', 'other.json');
  await assert.rejects(run('import', 'other.json'), userFault(/not LiteLLM's model_prices_and_context_window\.json/));
  await assert.rejects(run('import', 'absent.csv'), userFault(/absent\.csv cannot be used: there is no such file/));
  await write(JSON.stringify({ 'aiml/x': entry('aiml', 'chat', {}) }), 'none.json');
  await assert.rejects(
    run('import', 'none.json'),
    userFault(/no price that can be used; aiml\/x \(line 1\) was left out/),
  );
});

test('the configuration warns that a budget counts by an imported price list that is old', async (t) => {
  const { write, run, reload } = await setUp(t);
  const key = {
    id: 'k',
    secret: 'sk-0123456789012345678901234567',
    models: ['*'],
    budgets: [{ amount: 1, every: 'day' }],
  };
  await write(JSON.stringify({ ...configuration, store: 'sqlite:store/keys.db', keys: [key] }), 'postern.yaml');
  await write('service,model,input\nopenai,text-embedding-3-small,0.5\n');
  await run('import', 'prices.csv', '--as-of', '2020-01-01');
  const { warnings } = await reload();
  assert.ok(
    warnings.some((line) =>
      /by the prices imported from prices\.csv, which are as of 2020-01-01, \d+ days old/.test(line),
    ),
    warnings.join('\n'),
  );
});
