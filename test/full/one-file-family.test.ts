/** A family is one file: with it, and without a change anywhere else, all that derives from the list of families knows of it. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from '../support/clients/raw-client.ts';
import { compileCache, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** OpenAI's embeddings as they are, and reranking in words of its own. */
const acme = `/** Acme, for a test. */

import { bearer, defineFamily } from '../core/family.ts';
import { listIn, objectIn } from './wire-formats/reading.ts';
import { translateRerank } from './wire-formats/rerank/rerank.ts';

export default defineFamily({
  id: 'acme',
  title: 'Acme Vectors and Anvils',
  baseUrl: 'https://acme.test',
  versions: ['/v1'],
  auth: bearer(),
  options: { anvil: { description: 'Which anvil is used.', values: ['light', 'heavy'], default: 'heavy' } },
  starter: { apiKeyEnv: 'ACME_API_KEY', models: [{ id: 'acme-embed', operations: ['embeddings'] }] },
  errors: {},
  offers: {
    openai: {
      embeddings: { path: '/v1/embeddings' },
      rerank: {
        path: '/v1/{anvil}/sort',
        facts: 'at most ten thousand anvils',
        translation: translateRerank({
          own: [],
          write: ({ query, documents }) => ({ body: { wanted: query, things: documents } }),
          read: ({ body }) => ({
            results: listIn(objectIn(body, 'the answer').order, 'order').map((one) => {
              const { thing, weight } = objectIn(one, 'a thing');
              return { index: thing, score: weight };
            }),
          }),
        }),
      },
    },
  },
});
`;

/** The project copied to another folder, with one more file. */
async function copyProject(t: TestContext): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'postern-copy-'));
  t.after(() => rm(copy, { recursive: true, force: true, maxRetries: 20 }));
  for (const part of ['src', 'bin', 'tools', 'docs', 'console/src', 'package.json', 'postern.schema.json']) {
    await cp(join(root, part), join(copy, part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  await writeFile(join(copy, 'src/families/acme.ts'), acme);
  return copy;
}

function inCopy(copy: string, command: string, args: readonly string[], env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  return run(command, [...args], { cwd: copy, env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...env } });
}

test('a new family takes one file, and is in registry, schema, docs, commands and gateway', async (t) => {
  const copy = await copyProject(t);
  const launcher = join(copy, 'bin/postern');

  await t.test('the new family is in the docs and the JSON schema', async () => {
    await inCopy(copy, process.execPath, ['tools/generate.ts']);
    const [schema, configuration, families] = await Promise.all(
      ['postern.schema.json', 'docs/reference/configuration.md', 'docs/reference/families.md'].map((file) =>
        readFile(join(copy, file), 'utf8'),
      ),
    );
    const { properties } = JSON.parse(schema ?? '');
    const { family } = properties.upstreams.items.properties;
    assert.ok(JSON.stringify(family).includes('"acme"'), JSON.stringify(family));
    assert.match(configuration ?? '', /^\| `acme` \| Acme Vectors and Anvils \| `https:\/\/acme\.test` \|/m);
    const rows = (families ?? '').split('\n').filter((line) => line.startsWith('| `acme` |'));
    assert.equal(rows.length, 3, rows.join('\n'));
    assert.match(
      rows[0] ?? '',
      /\| Acme Vectors and Anvils \| embeddings \| {2}\| rerank \|/,
      'it passes one, and translates the other',
    );
    assert.match(rows.join('\n'), /`anvil` \| `heavy` \| Which anvil is used\./);
    assert.match(rows.join('\n'), /rerank \| at most ten thousand anvils/);
  });

  await t.test('postern check and init know the new family', async () => {
    await writeFile(
      join(copy, 'postern.yaml'),
      'upstreams: [{ id: a, family: acme, options: { anvil: light } }]\nmodels: [{ id: m, targets: [{ upstream: a }] }]\n',
    );
    const { stdout } = await inCopy(copy, launcher, ['check', '--json']);
    const { ok, upstreams, models } = JSON.parse(stdout);
    assert.equal(ok, true);
    assert.deepEqual([upstreams[0].family, upstreams[0].base_url], ['acme', 'https://acme.test']);
    assert.deepEqual(models[0].operations, ['rerank', 'embeddings']);
    await rm(join(copy, 'postern.yaml'));
    await inCopy(copy, launcher, ['init'], { ACME_API_KEY: 'a-key-of-acme' });
    const starter = await readFile(join(copy, 'postern.yaml'), 'utf8');
    assert.match(starter, /family: acme/);
    assert.match(starter, /acme-embed/);
  });

  await t.test('the gateway serves the new family', async (t) => {
    const upstream = await startFakeUpstream(({ path }, reply) =>
      path === '/v1/heavy/sort'
        ? reply.json(200, {
            order: [
              { thing: 1, weight: 0.5 },
              { thing: 0, weight: 0.25 },
            ],
          })
        : reply.json(404, { detail: 'no such anvil' }),
    );
    t.after(() => upstream.close());
    const gateway = await startGatewayProcess({
      command: [launcher],
      config: {
        upstreams: [{ id: 'a', family: 'acme', base_url: `${upstream.url}/v1` }],
        models: [{ id: 'm', targets: [{ upstream: 'a' }] }],
      },
    });
    t.after(() => gateway.stop());
    const post = (path: string, body: unknown) =>
      request({
        port: gateway.port,
        path,
        body,
        method: 'POST',
        headers: [
          ['Authorization', `Bearer ${gateway.key}`],
          ['Content-Type', 'application/json'],
        ],
      });
    const ranked = await post('/v1/rerank', { model: 'm', query: 'q', documents: ['x', 'y'], top_n: 1 });
    assert.equal(ranked.status, 200);
    assert.equal(ranked.header('x-postern-translated'), 'acme');
    assert.deepEqual(JSON.parse(ranked.body.toString()).results, [{ index: 1, relevance_score: 0.5 }]);
    assert.deepEqual(JSON.parse(upstream.requests[0]?.body.toString() ?? ''), { wanted: 'q', things: ['x', 'y'] });
    const failed = await post('/v1/embeddings', '{"model":"m","input":"x","n":1.0}');
    assert.equal(failed.status, 404);
    assert.equal(JSON.parse(failed.body.toString()).error.message, 'no such anvil');
    assert.equal(upstream.requests[1]?.body.toString(), '{"model":"m","input":"x","n":1.0}');
  });
});
