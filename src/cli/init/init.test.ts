import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../../test/support/gateways/configuration.ts';
import { loadConfiguration } from '../../config/load.ts';
import { defineFamily, type Family } from '../../core/family.ts';
import { families as realFamilies } from '../../families/index.ts';
import { toConfigSources } from '../command.ts';
import { init } from './init.ts';

interface Situation {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, string | boolean>>;
  readonly families?: readonly Family[];
}

async function run(t: TestContext, { env = {}, files = {}, values = {}, families = sampleFamilies }: Situation) {
  const cwd = await createDirectory(t, files);
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const code = await init.run({
    values,
    ...toConfigSources(values),
    positionals: [],
    env,
    cwd,
    families,
    stdout: print,
    stderr: print,
  });
  const read = (name = 'postern.yaml') => readFile(join(cwd, name), 'utf8');
  const load = () => loadConfiguration({ env, cwd, families });
  return { code, lines, read, load };
}

test('init writes an upstream with models for each provider key in the environment, and the file is valid', async (t) => {
  const env = { OPENAI_API_KEY: 'sk-0123456789', RANKER_API_KEY: 'rk-0123456789' };
  const { code, load, read } = await run(t, { env });
  assert.equal(code, 0);
  const result = await load();
  assert.ok(result.ok);
  assert.deepEqual(result.warnings, []);
  assert.deepEqual([...result.snapshot.upstreams.keys()], ['openai', 'ranker']);
  assert.deepEqual(
    result.snapshot.models.all.map(({ id, targets: [{ upstream, model }] }) => [id, upstream.id, model]),
    [
      ['embed-large', 'openai', 'embed-large'],
      ['4.1-instruct', 'openai', '4.1-instruct'],
      ['ranker/embed-large', 'ranker', 'embed-large'],
    ],
  );
  assert.doesNotMatch(await read(), /0123456789/);
});

test('init sets a default moderation model if one of the models serves moderations', async (t) => {
  const judge = defineFamily({
    id: 'judge',
    title: 'Judges texts',
    baseUrl: 'https://judge.test',
    starter: { apiKeyEnv: 'JUDGE_API_KEY', models: [{ id: '1-judge', operations: ['moderations'] }] },
    offers: { openai: { moderations: { path: '/moderations' } } },
  });
  const make = () => ({ status: 200, headers: [], body: Buffer.alloc(0) });
  const inside = defineFamily({
    id: 'local',
    title: 'Built in',
    builtIn: [{ id: 'local/judge', operations: ['moderations'] }],
    offers: { openai: { moderations: { path: '/moderations', make } } },
  });
  for (const [env, wanted] of [
    [{ JUDGE_API_KEY: 'jk-0123456789' }, '1-judge'],
    [{}, 'local/judge'],
  ] as const) {
    const result = await (await run(t, { env, families: [judge, inside] })).load();
    assert.ok(result.ok);
    assert.deepEqual(result.snapshot.defaultModels, { moderations: wanted });
  }
  const without = await (await run(t, { env: { OPENAI_API_KEY: 'sk-0123456789' } })).load();
  assert.ok(without.ok);
  assert.deepEqual(without.snapshot.defaultModels, {});
});

test('init includes chat models for providers with known chat models, and the file is valid', async (t) => {
  const env = {
    OPENAI_API_KEY: 'sk-0123456789',
    MISTRAL_API_KEY: 'mk-0123456789',
    DEEPSEEK_API_KEY: 'dk-0123456789',
  };
  const result = await (await run(t, { env, families: realFamilies })).load();
  assert.ok(result.ok);
  assert.deepEqual(result.warnings, []);
  const chatting = result.snapshot.models.all.filter(({ operations }) => operations.includes('chat'));
  assert.deepEqual([...new Set(chatting.map(({ targets: [{ upstream }] }) => upstream.id))].sort(), [
    'deepseek',
    'mistral',
    'openai',
  ]);
  const builtIn = await (await run(t, { families: realFamilies })).load();
  assert.deepEqual(builtIn.ok && builtIn.snapshot.models.resolve('local/echo')?.model.operations, [
    'completions',
    'edits',
    'chat',
  ]);
});

test('without a provider key, init writes the built-in upstream, and the file is valid', async (t) => {
  const { load } = await run(t, { env: { OPENAI_API_KEY: '' } });
  const result = await load();
  assert.ok(result.ok);
  assert.deepEqual([...result.snapshot.upstreams.keys()], ['local']);
  assert.deepEqual(result.warnings, []);
});

test('init writes a client key only if the environment has a valid one', async (t) => {
  const secret = 'a-secret-of-24-characters';
  const withKey = await run(t, { env: { POSTERN_KEY: secret } });
  const result = await withKey.load();
  assert.equal(result.ok && result.snapshot.keys.size, 1);
  assert.doesNotMatch(await withKey.read(), new RegExp(secret));

  const withShort = await run(t, { env: { POSTERN_KEY: 'short' } });
  const other = await withShort.load();
  assert.equal(other.ok && other.snapshot.keys.size, 0);
});

test('init overwrites an existing file only with --force', async (t) => {
  const refused = await run(t, { files: { 'postern.yaml': 'mine' } });
  assert.equal(refused.code, 1);
  assert.match(refused.lines.join(), /^postern: .*is there already; --force overwrites it$/);
  assert.equal(await refused.read(), 'mine');

  const forced = await run(t, { files: { 'postern.yaml': 'mine' }, values: { force: true } });
  assert.equal(forced.code, 0);
  assert.notEqual(await forced.read(), 'mine');
});

test('init refuses to write postern.yaml beside an existing postern.json', async (t) => {
  const { code, lines } = await run(t, { files: { 'postern.json': '{}' } });
  assert.equal(code, 1);
  assert.match(lines.join(), /postern\.json is there already/);
});

test('init writes to the path given by --config', async (t) => {
  const { code, read } = await run(t, { files: { 'postern.yaml': 'mine' }, values: { config: 'other.yaml' } });
  assert.equal(code, 0);
  assert.match(await read('other.yaml'), /^# The configuration of Postern/);
});

test('init reports an unwritable path in one sentence', async (t) => {
  const { code, lines } = await run(t, { values: { config: 'no/such/directory/postern.yaml' } });
  assert.equal(code, 1);
  assert.match(lines.join(), /^postern: .*cannot be written \(ENOENT\)$/);
});

test('init reports which providers were found, left out and missing, and never prints a key', async (t) => {
  const needy = defineFamily({
    id: 'needy',
    title: 'Needs an address',
    environment: ['NEEDY_TOKEN', 'NEEDY_OTHER'],
    offers: { openai: { embeddings: { path: '/embed' } } },
  });
  const env = { OPENAI_API_KEY: 'sk-0123456789', NEEDY_TOKEN: 'nt-0123456789', POSTERN_KEY: 'short' };
  const { lines } = await run(t, { env, families: [...sampleFamilies, needy] });
  assert.deepEqual(lines, [
    'Found OPENAI_API_KEY: upstream openai, with embed-large, 4.1-instruct.',
    'Left out: NEEDY_TOKEN; family needy needs more than a key, see docs/reference/families.md.',
    'Left out: POSTERN_KEY; it has 5 characters, and a key needs at least 24.',
    'Not in the environment: RANKER_API_KEY.',
    'postern.yaml is written; "postern check" shows the result.',
    'A gateway that runs here without a file loads it, if its environment has the same keys; else restart it.',
  ]);
  const { lines: bare } = await run(t, {});
  assert.match(bare[0] ?? '', /Found no key of a provider, so the built-in upstream is in the file/);
});
