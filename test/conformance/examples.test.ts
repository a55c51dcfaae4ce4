/** The folders of examples/: each is taken by the gateway as it stands there, and is found from the docs. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { check } from '../../src/cli/check/check.ts';
import { toConfigSources } from '../../src/cli/command.ts';
import { families } from '../../src/families/index.ts';
import { takenPaths } from '../../src/routes/index.ts';
import { migrateStore } from '../../src/store/open-store.ts';
import { compileCache, launcher } from '../support/gateways/gateway-process.ts';

const root = fileURLToPath(new URL('../../examples/', import.meta.url));
const examples = globSync('*/README.md', { cwd: root }).map(dirname).toSorted();
const report = z.looseObject({ ok: z.boolean(), warnings: z.array(z.unknown()).optional() });
const values = z.looseObject({ config: z.record(z.string(), z.unknown()) });

/** Whatever a configuration takes from outside. */
const env = {
  ALERTS_URL: 'https://hooks.example/postern',
  ALERTS_SECRET: 'a-secret-of-the-webhook',
  APP_KEY: 'a-key-of-the-app-with-enough-characters',
  COHERE_API_KEY: 'key-of-cohere',
  INDEXER_KEY: 'a-key-of-the-indexer-with-enough-characters',
  OPENAI_API_KEY: 'key-of-openai',
  SEARCH_KEY: 'a-key-of-the-search-with-enough-characters',
  VLLM_KEY: 'key-of-vllm',
  VOYAGE_API_KEY: 'key-of-voyage',
};

test('there is an example for each common use case, listed in the docs', () => {
  assert.deepEqual(examples, [
    'gitops',
    'kubernetes',
    'lanes',
    'multi-tenant',
    'self-hosted',
    'three-providers',
    'vault-agent',
  ]);
  const list = readFileSync(join(root, 'README.md'), 'utf8');
  for (const name of examples) assert.ok(list.includes(`](${name}/README.md)`), `${name} is not in the list`);
  const docs = readFileSync(join(root, '../docs/guides/deploy.md'), 'utf8');
  assert.ok(docs.includes('](../../examples/README.md)'));
});

for (const name of examples) {
  test(`${name}: postern check has no fault and no warning`, async (t) => {
    const cwd = await copy(t, name);
    const lines: string[] = [];
    const stdout = (line: string): void => void lines.push(line);
    const surroundings = {
      ...toConfigSources({}),
      env: environmentAt(cwd),
      cwd,
      families,
      loadTakenPaths: async () => takenPaths,
    };
    const code = await check.run({ ...surroundings, values: { json: true }, positionals: [], stdout, stderr: stdout });
    assert.equal(code, 0, lines.join('\n'));
    assert.deepEqual(report.parse(JSON.parse(lines.join('\n'))).warnings, []);
  });
}

test('gitops: the pipeline applies a team, changes nothing the second time, and prunes what is gone', async (t) => {
  const cwd = await copy(t, 'gitops');
  await migrateStore(environmentAt(cwd).STORE_URL, { cwd });
  const run = (what: string): string =>
    execFileSync('sh', ['pipeline.sh', what], {
      cwd,
      env: { PATH: process.env.PATH, POSTERN: launcher, NODE_COMPILE_CACHE: compileCache, ...environmentAt(cwd) },
      encoding: 'utf8',
    });
  assert.match(run('check'), /key search-indexer would be created/);
  assert.match(run('apply'), /key search-indexer is created/);
  assert.doesNotMatch(run('apply'), / is (created|changed)/);
  const file = join(cwd, 'teams/search.yaml');
  const team = z.looseObject({}).parse(parse(await readFile(file, 'utf8')));
  await writeFile(file, stringify({ ...team, keys: [] }));
  assert.match(run('apply'), /key search-indexer is revoked/);
});

function environmentAt(cwd: string) {
  return { ...env, SECRETS: join(cwd, 'secrets'), STORE_URL: `sqlite:${cwd}/postern.db` };
}

/** The folder, with the secrets that others would write beside it. */
async function copy(t: TestContext, name: string): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-example-'));
  t.after(() => rm(cwd, { recursive: true, force: true, maxRetries: 20 }));
  await cp(join(root, name), cwd, { recursive: true });
  await mkdir(join(cwd, 'secrets/openai-secret'), { recursive: true });
  await writeFile(join(cwd, 'secrets/openai'), env.OPENAI_API_KEY);
  await writeFile(join(cwd, 'secrets/openai-secret/key'), env.OPENAI_API_KEY);
  await writeFile(join(cwd, 'secrets/app-key'), env.APP_KEY);
  await writeFile(join(cwd, 'secrets/store'), `sqlite:${cwd}/postern.db`);
  if (!existsSync(join(cwd, 'postern.yaml'))) {
    const { config } = values.parse(parse(await readFile(join(cwd, 'values.yaml'), 'utf8')));
    const text = stringify(config).replaceAll('/run/secrets/postern/openai/', join(cwd, 'secrets/openai-secret/'));
    await writeFile(join(cwd, 'postern.yaml'), text);
  }
  return cwd;
}
