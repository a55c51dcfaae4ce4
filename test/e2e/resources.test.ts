/** What is put into the store while the gateway runs: in force soon after, whole or not at all, and never in plain text. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type RawResponse, request } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const canary = 'sk-canary-5d20f7';

async function setUp(t: TestContext) {
  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, { ok: true }));
  t.after(() => upstream.close());
  const env = { POSTERN_SECRET_KEY: randomBytes(32).toString('hex') };
  const config = {
    upstreams: [{ id: 'file', family: 'openai', base_url: upstream.url }],
    models: [{ id: 'm-file', operations: ['embeddings'], targets: [{ upstream: 'file' }] }],
  };
  const gateway = await startGatewayProcess({ config, env });
  t.after(() => gateway.stop());
  const { directory: cwd, configFile } = gateway;

  const postern = (...args: string[]) => runPostern([...args, '--config', configFile], { cwd, env });
  const resources = {
    upstreams: [{ id: 'stored', family: 'openai', base_url: upstream.url, api_key: canary }],
    models: [{ id: 'm-store', operations: ['embeddings'], targets: [{ upstream: 'stored' }] }],
  };
  const embed = (model: string, key = gateway.key): Promise<RawResponse> =>
    request({
      port: gateway.port,
      path: '/v1/embeddings',
      headers: [['x-api-key', key]],
      body: { model, input: 'x' },
    });
  return {
    gateway,
    upstream,
    postern,
    embed,
    resources,
    async apply(document: unknown) {
      await writeFile(join(cwd, 'resources.json'), JSON.stringify(document));
      return postern('resources', 'apply', 'resources.json');
    },
    /** Until it answers so; how long that takes is printed, and bounded far beyond what is promised. */
    async becomes(status: number, ...args: Parameters<typeof embed>) {
      const startedMs = performance.now();
      while ((await embed(...args)).status !== status) {
        assert.ok(performance.now() - startedMs < patientMs(5_000), `it does not become ${status}`);
        await wait(20);
      }
      t.diagnostic(`${status} after ${Math.round(performance.now() - startedMs)} ms (bar: 2,000)`);
    },
  };
}

test('an applied resource is served soon after with its secret, and a deleted one is not', async (t) => {
  const { apply, becomes, embed, postern, resources, upstream, gateway } = await setUp(t);
  assert.equal((await embed('m-store')).status, 404);
  const applied = await apply(resources);
  assert.equal(applied.code, 0, applied.stderr);
  await becomes(200, 'm-store');
  assert.ok(JSON.stringify(upstream.requests.at(-1)?.headers).includes(`Bearer ${canary}`));
  assert.equal((await postern('resources', 'delete', 'model', 'm-store')).code, 0);
  await becomes(404, 'm-store');
  assert.equal((await embed('m-file')).status, 200);
  assert.equal(`${gateway.stdout()}${applied.stdout}`.includes(canary), false);
});

test('a created key works at once, and a revoked or rotated one ends soon after', async (t) => {
  const { postern, embed, becomes } = await setUp(t);
  const made = JSON.parse((await postern('keys', 'create', '--json')).stdout);
  assert.equal((await embed('m-file', made.secret)).status, 200);
  const rotated = JSON.parse((await postern('keys', 'rotate', made.id, '--overlap', '0s', '--json')).stdout);
  assert.equal((await embed('m-file', rotated.secret)).status, 200);
  await becomes(401, 'm-file', made.secret);
  assert.equal((await postern('keys', 'revoke', made.id)).code, 0);
  await becomes(401, 'm-file', rotated.secret);
});

test('imported prices apply without a restart, and earlier bills stay', async (t) => {
  const { gateway, postern, embed, upstream } = await setUp(t);
  upstream.respondWith((_request, reply) =>
    reply.json(200, { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 7, total_tokens: 7 } }),
  );
  assert.equal((await embed('m-file')).status, 200);
  await writeFile(join(gateway.directory, 'prices.csv'), 'service,model,input\n127.0.0.1,m-file,3\n');
  const imported = await postern('prices', 'import', 'prices.csv');
  assert.equal(imported.code, 0, imported.stderr);
  await until(() => gateway.log().some(({ msg }) => msg === 'configuration reloaded'));
  assert.equal((await embed('m-file')).status, 200);
  const total = async () => JSON.parse((await postern('usage', '--json')).stdout).total;
  let found = await total();
  for (let tries = 0; found.requests < 2 && tries < 50; tries += 1) found = await total();
  // Seven tokens at 3 dollars for a million; the first request had no price.
  assert.deepEqual([found.requests, found.unpriced, found.cost_dollars], [2, 1, '0.000021']);
});

test('a conflict between file and store keeps the running configuration, and stops the next start', async (t) => {
  const { apply, becomes, embed, postern, resources, gateway } = await setUp(t);
  await apply(resources);
  await becomes(200, 'm-store');
  const config = JSON.stringify({
    store: 'sqlite:postern.db',
    server: { port: 0 },
    keys: [{ id: 'test', secret: gateway.key }],
    upstreams: [{ id: 'stored', family: 'openai', base_url: 'http://127.0.0.1:9' }],
  });
  await writeFile(gateway.configFile, config);
  const refused = () => gateway.log().find(({ msg }) => String(msg).startsWith('configuration not reloaded'));
  await until(() => refused() !== undefined);
  assert.match(JSON.stringify(refused()), /store: upstream \\"stored\\" \(version 1\).*upstreams\[0\]\.id/);
  assert.equal((await embed('m-file')).status, 200);
  assert.equal((await embed('m-store')).status, 200);

  const start = await postern('serve');
  assert.equal(start.code, 1);
  assert.match(
    start.stderr,
    /^store: upstream "stored" \(version 1\) {2}id {2}"stored" is declared by the configuration file too/m,
  );
});
