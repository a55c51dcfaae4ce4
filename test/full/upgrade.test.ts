/** From the last release to this version and back, node by node, behind the proxy of deploy/, while clients go on asking. */

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lastStepOf } from '../../src/store/migrations.ts';
import { askConstantly } from '../support/clients/constant-load.ts';
import { type GatewayProcess, launcher, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { freePort } from '../support/servers/free-port.ts';
import { startPostgres, whyNoOwnPostgres } from '../support/servers/postgres.ts';
import { startServerProgram } from '../support/servers/server-program.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../', import.meta.url));
const [release, commit] = lastRelease();
const whyNot =
  whyNoOwnPostgres ||
  (process.env.CI !== 'true' && !isHere(commit) ? `the commit of ${release} is not in this checkout` : false);

test('two nodes upgrade from the last release to this version and back, without a failed request', {
  skip: whyNot,
  timeout: 600_000,
}, async (t) => {
  const former = await checkOut(t);
  const store = await (await startPostgres(t, { isOwn: true })).createDatabase();
  const upstream = await startFakeUpstream((_seen, reply) =>
    reply.json(200, { data: [{}], usage: { total_tokens: 1 } }),
  );
  t.after(() => upstream.close());
  const ports = [await freePort(), await freePort()];
  const home = await mkdtemp(join(tmpdir(), 'postern-upgrade-'));
  t.after(() => rm(home, { recursive: true, force: true, maxRetries: 20 }));
  const nodes: GatewayProcess[] = [];
  t.after(() => Promise.all(nodes.map((node) => node.stop())));

  const start = async (index: number, command: string): Promise<void> => {
    const directory = join(home, `node-${index}`);
    await mkdir(directory, { recursive: true });
    nodes[index] = await startGatewayProcess({
      command: [command],
      directory,
      config: {
        server: { port: ports[index], drain: { delay: '2s' } },
        store,
        upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-of-this-test' }],
        models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }], price: { input: 1 } }],
        keys: [{ id: 'k', secret: 'key-with-enough-characters', budgets: [{ every: 'day', amount: 100 }] }],
      },
    });
  };
  /** One after the other, each once the proxy has seen the one before come back. */
  const replaceAll = async (command: string): Promise<void> => {
    for (const index of [0, 1]) {
      assert.equal((await nodes[index]?.stop())?.code, 0);
      await start(index, command);
      while (!nodes[index]?.log().some(({ msg }) => msg === 'request')) await wait(50);
    }
  };
  for (const index of [0, 1]) await start(index, former);
  const proxy = await startProxy(t, ports);

  const load = askConstantly(() =>
    fetch(`http://127.0.0.1:${proxy}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-with-enough-characters', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'x' }),
    }),
  );
  const migrate = async (...more: string[]): Promise<string[]> => {
    const at = ['--config', nodes[0]?.configFile ?? ''];
    const { stdout, stderr } = await runPostern(['migrate', ...at, ...more], { cwd: home });
    assert.equal(stderr, '');
    return stdout.trim().split('\n');
  };
  assert.match((await migrate('--check')).at(-1) ?? '', /can still run on this store/);
  await migrate();
  await replaceAll(launcher);
  assert.match((await migrate('--back-to', release)).at(-1) ?? '', new RegExp(`^${release} runs on this store`));
  await replaceAll(former);
  await replaceAll(launcher);
  await load.stop();
  assert.deepEqual(load.failures, []);
  t.diagnostic(`${load.answered} requests from ${release} to this version, back, and there again; none failed`);

  // Each has its row, whichever version wrote it.
  await Promise.all(nodes.map((node) => node.stop()));
  const at = ['--config', nodes[0]?.configFile ?? '', '--csv'];
  const { stdout } = await runPostern(['usage', '--by', 'key', ...at], { cwd: home });
  const [head = '', row = ''] = stdout.split('\n');
  assert.equal(Number(row.split(',')[head.split(',').indexOf('requests')]), load.answered, stdout);
});

test('the recorded facts of the last release match its commit', { skip: whyNot }, () => {
  const named = ['grep', '-hoE', "'[0-9]{4}-[a-z-]+'", commit, '--', 'src/store/migrations'];
  const steps = [
    ...execFileSync('git', named, { cwd: repository })
      .toString()
      .matchAll(/'([^']+)'/g),
  ];
  assert.equal(
    lastStepOf[release],
    steps
      .map(([, name]) => name)
      .toSorted()
      .at(-1),
  );
});

/** The last row of docs/reference/releases.md. */
function lastRelease(): readonly [version: string, commit: string] {
  const row = readFileSync(join(repository, 'docs/reference/releases.md'), 'utf8').trimEnd().split('\n').at(-1);
  const [, version = '', hash = ''] = /^\| (\S+) \| \S+ \| `([0-9a-f]{40})` \|/.exec(row ?? '') ?? [];
  return [version, hash];
}

function isHere(hash: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', hash], { cwd: repository, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The release as it was, with what it needs; gives back the command that starts it. */
async function checkOut(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-release-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const archive = join(directory, 'release.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: repository });
  await run('tar', ['-xf', archive, '-C', directory]);
  await run('npm', ['ci', '--ignore-scripts', '--omit=dev', '--prefer-offline'], { cwd: directory });
  const command = join(directory, 'bin/postern');
  assert.ok(existsSync(command));
  return command;
}

/** As deploy/ has it, with the nodes where they are here. */
async function startProxy(t: TestContext, ports: readonly number[]): Promise<number> {
  const text = await readFile(join(repository, 'deploy/compose/haproxy.cfg'), 'utf8');
  const { port } = await startServerProgram(t, {
    command: 'haproxy',
    args: (file) => ['-W', '-db', '-f', file],
    configuration: (own) =>
      text
        .replace('bind :4000', `bind 127.0.0.1:${own}`)
        .replace(/frontend watchers\n(?: .*\n)+/, '')
        .replace(/resolvers names\n(?: .*\n)+/, '')
        .replace('inter 1s', 'inter 200ms')
        .replace(' resolvers names', '')
        .replaceAll(/node-([12]):4000/g, (_, number) => `127.0.0.1:${ports[Number(number) - 1]}`),
  });
  return port;
}
