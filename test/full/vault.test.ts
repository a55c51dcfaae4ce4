/** The agent of examples/vault-agent with a real Vault: a gateway follows the files that it writes, and no request fails while they change. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as z from 'zod';
import { askConstantly } from '../support/clients/constant-load.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { freePort } from '../support/servers/free-port.ts';
import { until } from '../support/time/until.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

/** It takes ten minutes to build, so its path is set by hand: CONTRIBUTING.md. */
const vault = process.env.POSTERN_TEST_VAULT ?? 'vault';
const whyNot = spawnSync(vault, ['version']).error === undefined ? false : 'there is no Vault (POSTERN_TEST_VAULT)';

const example = new URL('../../examples/vault-agent/', import.meta.url);
const rootToken = 'root-of-a-test';
const read = z.object({ data: z.record(z.string(), z.unknown()) });

test('a secret from Vault is used at once, and its changes without a restart', {
  skip: whyNot,
  timeout: 300_000,
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-vault-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const call = await startVault(t);
  const put = (openai: string, appKey: string) => call('secret/data/postern', { data: { openai, app_key: appKey } });
  await call('sys/auth/approle', { type: 'approle' });
  await call('sys/policies/acl/postern', { policy: 'path "secret/data/postern" { capabilities = ["read"] }' });
  await call('auth/approle/role/postern', { token_policies: ['postern'] });
  const role = await call('auth/approle/role/postern/role-id');
  const secret = await call('auth/approle/role/postern/secret-id', {});
  await writeFile(join(directory, 'role-id'), String(role.role_id));
  await writeFile(join(directory, 'secret-id'), String(secret.secret_id));
  await put('sk-first-of-openai-with-enough', 'key-first-of-the-app-with-enough');
  await startAgent(t, directory, call.address);

  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, { data: [{}] }));
  t.after(() => upstream.close());
  const text = await readFile(new URL('postern.yaml', example), 'utf8');
  const port = await freePort();
  const gateway = await startGatewayProcess({
    config: `${text
      .replace(/^store_file: .*$/m, 'store: sqlite:postern.db')
      .replace('family: openai,', `family: openai, base_url: "${upstream.url}",`)}
server: { port: ${port} }
console: { port: ${await freePort()} }
`,
    env: { SECRETS: directory },
  });
  t.after(() => gateway.stop());
  const ask = async (): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/v1/embeddings`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${(await readFile(join(directory, 'app-key'), 'utf8')).trim()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'text-embedding-3-small', input: 'x' }),
    });
  assert.equal((await ask()).status, 200);
  assert.equal(upstream.requests.at(-1)?.header('authorization'), 'Bearer sk-first-of-openai-with-enough');

  const load = askConstantly(ask);
  await put('sk-second-of-openai-with-enough', 'key-first-of-the-app-with-enough');
  await until(
    async () => upstream.requests.at(-1)?.header('authorization') === 'Bearer sk-second-of-openai-with-enough',
    { what: 'the upstream is called with what Vault has now', everyMs: 250 },
  );
  await load.stop();
  assert.deepEqual(load.failures, []);
  assert.ok(load.answered > 10);
  await put('sk-second-of-openai-with-enough', 'key-second-of-the-app-with-enough');
  await until(
    async () => (await readFile(join(directory, 'app-key'), 'utf8')).includes('second') && (await ask()).status === 200,
    { what: 'clients are known by another key', everyMs: 250 },
  );
  assert.equal(gateway.log().filter(({ msg }) => msg === 'listening').length, 1, 'it went on all the while');
  assert.ok(!`${gateway.stdout()}${gateway.stderr()}`.includes('of-openai-with-enough'));
});

async function startVault(t: TestContext) {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const args = ['server', '-dev', '-dev-no-store-token', `-dev-root-token-id=${rootToken}`];
  start(t, [...args, `-dev-listen-address=127.0.0.1:${port}`]);
  await until(async () => (await fetch(`${address}/v1/sys/health`).catch(() => undefined))?.ok === true, {
    what: 'Vault is there',
    everyMs: 250,
  });
  /** Reads, or writes where there is a body. */
  const call = async (path: string, body?: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${address}/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-vault-token': rootToken },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
    return text === '' ? {} : read.parse(JSON.parse(text)).data;
  };
  return Object.assign(call, { address });
}

/** Like the example, but for the paths and the URL of the store, which needs a database; and it checks more often. */
async function startAgent(t: TestContext, directory: string, address: string): Promise<void> {
  const parts = (await readFile(new URL('agent.hcl', example), 'utf8')).split(/\n(?=template )/);
  const config = parts
    .filter((part) => !part.includes('database/creds'))
    .join('\n')
    .replace('https://vault.example:8200', address)
    .replaceAll('/etc/postern/', `${directory}/`)
    .replaceAll('/run/postern/', `${directory}/`);
  assert.equal(config.split('template {').length - 1, 2);
  const file = join(directory, 'agent.hcl');
  await writeFile(file, `${config}\ntemplate_config { static_secret_render_interval = "1s" }\n`);
  start(t, ['agent', `-config=${file}`]);
  for (const name of ['openai', 'app-key']) {
    await until(async () => (await stat(join(directory, name)).catch(() => undefined)) !== undefined, {
      what: `the agent has written ${name}`,
      everyMs: 250,
    });
    assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600);
  }
}

function start(t: TestContext, args: readonly string[]): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(vault, args, { env: { PATH, HOME }, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('close', resolve));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}
