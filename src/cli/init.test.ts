import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../test/support/configuration.ts';
import { loadConfiguration } from '../config/load.ts';
import { init } from './init.ts';

interface Situation {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, string | boolean>>;
}

async function run(t: TestContext, { env = {}, files = {}, values = {} }: Situation) {
  const cwd = await createDirectory(t, files);
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const code = await init.run({
    values,
    positionals: [],
    env,
    cwd,
    families: sampleFamilies,
    stdout: print,
    stderr: print,
  });
  const read = (name = 'postern.yaml') => readFile(join(cwd, name), 'utf8');
  const load = () => loadConfiguration({ env, cwd, families: sampleFamilies });
  return { code, lines, read, load };
}

test('each provider key in the environment becomes an upstream with models, and the file passes the check', async (t) => {
  const env = { OPENAI_API_KEY: 'sk-0123456789', RANKER_API_KEY: 'rk-0123456789' };
  const { code, load, read } = await run(t, { env });
  assert.equal(code, 0);
  const result = await load();
  assert.ok(result.ok);
  assert.deepEqual([...result.warnings, ...result.notices], []);
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

test('without a provider key the file has the built-in upstream, and passes the check', async (t) => {
  const { load } = await run(t, { env: { OPENAI_API_KEY: '' } });
  const result = await load();
  assert.ok(result.ok);
  assert.deepEqual([...result.snapshot.upstreams.keys()], ['local']);
  assert.deepEqual([...result.warnings, ...result.notices], []);
});

test('a client key is in the file only where the environment has one that will do', async (t) => {
  const secret = 'a-secret-of-24-characters';
  const withKey = await run(t, { env: { POSTERN_KEY: secret } });
  const result = await withKey.load();
  assert.equal(result.ok && result.snapshot.keys.size, 1);
  assert.doesNotMatch(await withKey.read(), new RegExp(secret));

  const withShort = await run(t, { env: { POSTERN_KEY: 'short' } });
  const other = await withShort.load();
  assert.equal(other.ok && other.snapshot.keys.size, 0);
});

test('a file that is there stays, unless forced', async (t) => {
  const refused = await run(t, { files: { 'postern.yaml': 'mine' } });
  assert.equal(refused.code, 1);
  assert.match(refused.lines.join(), /^postern: .*is there already; --force overwrites it$/);
  assert.equal(await refused.read(), 'mine');

  const forced = await run(t, { files: { 'postern.yaml': 'mine' }, values: { force: true } });
  assert.equal(forced.code, 0);
  assert.notEqual(await forced.read(), 'mine');
});

test('a configuration of another name that holds now is not overshadowed unasked', async (t) => {
  const { code, lines } = await run(t, { files: { 'postern.json': '{}' } });
  assert.equal(code, 1);
  assert.match(lines.join(), /postern\.json is there already/);
});

test('it is written where --config says', async (t) => {
  const { code, read } = await run(t, { files: { 'postern.yaml': 'mine' }, values: { config: 'other.yaml' } });
  assert.equal(code, 0);
  assert.match(await read('other.yaml'), /^# The configuration of Postern/);
});

test('a place that cannot be written to is said in one sentence', async (t) => {
  const { code, lines } = await run(t, { values: { config: 'no/such/directory/postern.yaml' } });
  assert.equal(code, 1);
  assert.match(lines.join(), /^postern: .*cannot be written \(ENOENT\)$/);
});
