/** The first start, and all its options: the key shown once, lines to paste, faults in plain words. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { assertError } from '../support/clients/error-answer.ts';
import type { HeaderField } from '../support/clients/http-message.ts';
import { type RawResponse, request } from '../support/clients/raw-client.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import {
  atOnce,
  compileCache,
  type GatewayProcess,
  launcher,
  startGatewayProcess,
} from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { patientMs } from '../support/time/patience.ts';
import { listen } from '../support/upstreams/listen.ts';

const secretPattern = /^ {2}(pst_[0-9A-Za-z]{49})$/m;

/** What a start without a file would serve, on a free port, with a store of its own. */
function fresh(directory: string): Readonly<Record<string, unknown>> {
  return {
    store: `sqlite:${join(directory, 'data', 'postern.db')}`,
    upstreams: [{ id: 'local', family: 'local' }],
    keys: [],
  };
}

async function start(
  t: TestContext,
  config: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess({ config, env });
  t.after(() => gateway.stop());
  return gateway;
}

function list(gateway: GatewayProcess, secret: string): Promise<RawResponse> {
  return request({ port: gateway.port, path: '/v1/models', headers: [['Authorization', `Bearer ${secret}`]] });
}

/** What a shell would hand to `curl`, by a program of that name that repeats its arguments. */
async function argumentsOf(t: TestContext, line: string): Promise<string[]> {
  const directory = await createDirectory(t, { curl: '#!/bin/sh\nprintf \'%s\\0\' "$@"\n' });
  await chmod(join(directory, 'curl'), 0o755);
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { PATH: `${directory}:/bin:/usr/bin` } });
  return stdout.split('\0').slice(0, -1);
}

/** Does with these arguments what curl would. */
async function curl(args: readonly string[]): Promise<RawResponse> {
  const headers: HeaderField[] = [];
  let body: string | undefined;
  let url: URL | undefined;
  let option = '';
  for (const argument of args) {
    if (option === '-H') {
      const [name = '', ...value] = argument.split(': ');
      headers.push([name, value.join(': ')]);
    } else if (option === '-d') {
      body = argument;
    } else if (argument === '-H' || argument === '-d') {
      option = argument;
      continue;
    } else {
      assert.ok(url === undefined && !argument.startsWith('-'), `curl would not know ${argument}`);
      url = new URL(argument);
    }
    option = '';
  }
  assert.ok(url !== undefined && body !== undefined);
  return request({ port: Number(url.port), path: url.pathname + url.search, headers, body });
}

describe('starting', { concurrency: 2 }, () => {
  test('the first start shows a key once, and a working command for each route', async (t) => {
    const directory = await createDirectory(t);
    const first = await start(t, { ...fresh(directory), server: { base_path: '/ai' } });
    const shown = first.stdout();
    const secret = secretPattern.exec(shown)?.[1] ?? '';
    assert.equal(
      (await request({ port: first.port, path: '/ai/v1/models', headers: [['x-api-key', secret]] })).status,
      200,
    );

    const lines = shown.split('\n').filter((line) => line.startsWith('curl '));
    const paths = [];
    for (const line of lines) {
      const args = await argumentsOf(t, line);
      const answer = await curl(args);
      assert.equal(answer.status, 200, `${line}\n${answer.body}`);
      assert.ok(answer.json() !== null);
      paths.push(new URL(args[0] ?? '').pathname);
    }
    assert.deepEqual(paths, [
      '/ai/v1/completions',
      '/ai/v1/edits',
      '/ai/v1/rerank',
      '/ai/v1/moderations',
      '/ai/v1/embeddings',
      '/ai/v1/engines/local/hash-embed/embeddings',
    ]);
    // The secret is for people's eyes, never for the log.
    assert.doesNotMatch(
      shown
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .join('\n'),
      /pst_/,
    );
    await first.stop();

    const second = await start(t, fresh(directory));
    assert.doesNotMatch(second.stdout() + second.stderr(), /pst_|curl/);
    assert.equal((await list(second, secret)).status, 200);
  });

  for (const [how, settings, env] of [
    ['a service manager collects the output', {}, { INVOCATION_ID: 'b5c3a52bd5a04f0b9a5d5b0b7a6b8c9d' }],
    ['its output goes to the journal', {}, { JOURNAL_STREAM: '8:4711' }],
    ['server.first_key is file', { first_key: 'file' }, {}],
  ] as const) {
    test(`with ${how}, the first key is in a file of mode 0600, and the commands work as pasted`, async (t) => {
      const directory = await createDirectory(t);
      const first = await start(t, { ...fresh(directory), server: settings }, env);
      const file = join(directory, 'data', 'first-key');
      const secret = (await readFile(file, 'utf8')).trimEnd();
      assert.match(`  ${secret}`, secretPattern);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      assert.doesNotMatch(first.stdout() + first.stderr(), /pst_/);
      assert.ok(first.stdout().includes(`\n  ${file}\n`));

      const lines = first
        .stdout()
        .split('\n')
        .filter((line) => line.startsWith('curl '));
      assert.equal(lines.length, 6);
      for (const line of lines) {
        const answer = await curl(await argumentsOf(t, line));
        assert.equal(answer.status, 200, `${line}\n${answer.body}`);
      }
      await first.stop();

      const second = await start(t, { ...fresh(directory), server: settings }, env);
      assert.equal((await readFile(file, 'utf8')).trimEnd(), secret);
      const report = second.log().find(({ msg }) => msg === 'API keys found in store');
      assert.equal(report?.first_key_file, file);
      assert.match(String(report?.advice), /postern keys create/);
    });
  }

  test('server.first_key: print shows the first key even if a service manager collects the output', async (t) => {
    const directory = await createDirectory(t);
    const config = { ...fresh(directory), server: { first_key: 'print' } };
    const gateway = await start(t, config, { INVOCATION_ID: 'b5c3a52bd5a04f0b9a5d5b0b7a6b8c9d' });
    assert.match(gateway.stdout(), secretPattern);
  });

  test('if the file declares a key, none is created', async (t) => {
    const directory = await createDirectory(t);
    const declared = 'a-declared-key-with-enough-characters';
    const gateway = await start(t, { ...fresh(directory), keys: [{ id: 'declared', secret: declared }] });
    assert.doesNotMatch(gateway.stdout(), /pst_|curl/);
    assert.equal((await list(gateway, declared)).status, 200);
    await gateway.stop();
    // Nor was one made in secret.
    const next = await start(t, fresh(directory));
    assert.match(next.stdout(), secretPattern);
    assertError(await list(next, declared), 'invalid_api_key');
  });

  test('POSTERN_KEY is the first key instead, and another value works after the next start', async (t) => {
    const directory = await createDirectory(t);
    const one = 'the-first-key-from-the-environment';
    const two = 'the-second-key-from-the-environment';
    const first = await start(t, fresh(directory), { POSTERN_KEY: one });
    assert.doesNotMatch(first.stdout() + first.stderr(), /pst_|curl|from-the-environment/);
    assert.equal((await list(first, one)).status, 200);
    await first.stop();
    const second = await start(t, fresh(directory), { POSTERN_KEY: two });
    assert.equal((await list(second, one)).status, 200);
    assert.equal((await list(second, two)).status, 200);
    assert.doesNotMatch(second.stdout() + second.stderr(), /pst_|curl|from-the-environment/);
  });

  test('an invalid POSTERN_KEY ends the start with a sentence that does not repeat it', async (t) => {
    const directory = await createDirectory(t);
    const file = join(directory, 'postern.json');
    await writeFile(file, JSON.stringify({ ...fresh(directory), server: { port: 0 } }));
    const unfit = 'no good: it has spaces in it, you see';
    const run = await runPostern(['serve', '--config', file], { cwd: directory, env: { POSTERN_KEY: unfit } });
    assert.equal(run.code, 1, run.stderr);
    assert.match(run.stderr, /^postern: POSTERN_KEY must be .*\n$/);
    assert.ok(!(run.stderr + run.stdout).includes(unfit));
  });

  test('an occupied port ends the start with one sentence, and loses no key', async (t) => {
    const directory = await createDirectory(t);
    const port = await listen(t, (socket) => socket.destroy());
    const file = join(directory, 'postern.json');
    await writeFile(file, JSON.stringify({ ...fresh(directory), server: { port } }));
    const run = await runPostern(['--config', file], { cwd: directory });
    assert.deepEqual(run, {
      code: 1,
      stdout: '',
      stderr: `postern: port ${port} on 127.0.0.1 is taken; stop what listens there, or set server.port to another one\n`,
    });
    const gateway = await start(t, fresh(directory));
    assert.match(gateway.stdout(), secretPattern);
  });

  test('an invalid configuration ends the start with all faults and their lines', async (t) => {
    const directory = await createDirectory(t, {
      'postern.yaml': [
        'server:',
        '  prot: 4000',
        '  body_limit: 32',
        'upstreams:',
        '  - { id: up, family: opnai, api_key: sk-secret-in-the-file }',
        'models:',
        '  - id: m',
        '    targets: [{ upstream: nowhere }]',
        'keys:',
        '  - { id: k, secret: too-short }',
      ].join('\n'),
    });
    const run = await runPostern([], { cwd: directory });
    assert.equal(run.code, 1);
    assert.equal(run.stdout, '');
    const lines = run.stderr.trimEnd().split('\n');
    const locations = lines.map((line) => /postern\.yaml:(\d+) {2}(\S+)/.exec(line)?.slice(1).join(' '));
    assert.deepEqual(locations, [
      '2 server.prot',
      '3 server.body_limit',
      '5 upstreams[0].family',
      '8 models[0].targets[0].upstream',
      '10 keys[0].secret',
    ]);
    assert.match(run.stderr, /did you mean port/);
    assert.match(run.stderr, /did you mean openai/);
    assert.doesNotMatch(run.stderr, /sk-secret|too-short|at .*\.ts/);

    const missing = await runPostern(['serve', '--config', 'nowhere.yaml'], { cwd: directory });
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /nowhere\.yaml.*no such file/);
  });

  test('a store that cannot be opened ends the start with one sentence', async (t) => {
    const directory = await createDirectory(t, {
      'not-a-database.db': 'this is a text file, and long enough to be read as one'.repeat(50),
    });
    const file = join(directory, 'postern.json');
    await writeFile(
      file,
      JSON.stringify({ ...fresh(directory), server: { port: 0 }, store: 'sqlite:not-a-database.db' }),
    );
    const run = await runPostern(['serve', '--config', file], { cwd: directory });
    assert.equal(run.code, 1, run.stderr);
    assert.match(run.stderr, /^postern: .*not-a-database\.db.*\n$/);
  });

  test('keys created and revoked by the command line apply to the running gateway within 2 s', async (t) => {
    const directory = await createDirectory(t);
    const gateway = await start(t, fresh(directory), { POSTERN_KEY: 'the-first-key-from-the-environment' });
    const keys = (...args: string[]) =>
      runPostern(['keys', ...args, '--config', gateway.configFile], { cwd: gateway.directory });

    const made = await keys(
      'create',
      '--json',
      '--name',
      'ci',
      '--models',
      'local/hash-embed',
      '--operations',
      'embeddings',
    );
    assert.equal(made.code, 0, made.stderr);
    const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string };
    const embed = (model: string, path = '/v1/embeddings') =>
      request({
        port: gateway.port,
        path,
        headers: [['x-api-key', secret]],
        body: { model, input: 'x', query: 'x', documents: [] },
      });
    // Created in another process a moment ago, and valid at once: it was not used before.
    assert.equal((await embed('local/hash-embed')).status, 200);
    assertError(await embed('local/bm25', '/v1/rerank'), 'route_not_allowed');
    const seen = (await list(gateway, secret)).json() as { data: { id: string }[] };
    assert.deepEqual(
      seen.data.map((model) => model.id),
      ['local/hash-embed'],
    );

    const listed = await keys('list', '--json');
    assert.ok(!listed.stdout.includes(secret));
    assert.deepEqual(
      (JSON.parse(listed.stdout) as { id: string; state: string }[])
        .filter((key) => key.id === id)
        .map((key) => key.state),
      ['active'],
    );

    const revoked = await keys('revoke', id);
    assert.deepEqual([revoked.code, revoked.stderr], [0, '']);
    const deadlineMs = performance.now() + patientMs(2_000);
    let refused = await embed('local/hash-embed');
    for (; refused.status === 200 && performance.now() < deadlineMs; refused = await embed('local/hash-embed'))
      await wait(20);
    assertError(refused, 'revoked_api_key');
    assert.doesNotMatch(gateway.stdout() + gateway.stderr(), /pst_/);

    const again = await keys('revoke', 'no-such-key');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /^postern: there is no key with this ID.*\n$/);
  });
});

test('a store or journal under /proc ends the start with one line and exit code 1', async (t) => {
  if (!existsSync('/proc/self')) return t.skip('there is no /proc');
  const cwd = await createDirectory(t);
  for (const env of [{ POSTERN_STORE: 'sqlite:/proc/none/x.db' }, { POSTERN_LEDGER_JOURNAL: '/proc/none/x' }]) {
    const { code, stderr } = await runPostern(['serve', '--set', 'server.port=0'], { cwd, env });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^postern: The (store|journal directory) "\/proc\/none\/x.*\n$/);
  }
});

test('a full disk behind standard output ends a command with one line and exit code 1, and no gateway', async (t) => {
  if (!existsSync('/dev/full')) return t.skip('there is no /dev/full');
  const cwd = await createDirectory(t, {
    'postern.yaml': 'server: { port: 0 }\nconsole: { port: 0 }\nlog: { file: log }\n',
  });
  const { PATH = '', HOME = '' } = process.env;
  const run = async (name: string) => {
    const out = await open('/dev/full', 'w');
    const env = { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...atOnce };
    const child = spawn(launcher, [name], { cwd, env, stdio: ['ignore', out.fd, 'pipe'] });
    await out.close();
    t.after(() => child.kill('SIGKILL'));
    assert.ok(child.stderr);
    return { child, text: text(child.stderr), ended: once(child, 'exit') };
  };
  const line = 'postern: standard output cannot be written (ENOSPC)\n';
  const help = await run('help');
  assert.deepEqual([await help.text, (await help.ended)[0]], [line, 1]);

  const gateway = await run('serve');
  const readLog = (): Promise<string> => readFile(join(cwd, 'log'), 'utf8').catch(() => '');
  while (!(await readLog()).includes('"listening"')) {
    assert.equal(gateway.child.exitCode, null);
    await wait(20);
  }
  gateway.child.kill('SIGTERM');
  assert.deepEqual([await gateway.text, (await gateway.ended)[0]], [line, 0]);
});

test('a deleted working directory ends the start with one line and exit code 1', async (t) => {
  const directory = await createDirectory(t);
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE: compileCache };
  for (const name of ['serve', 'models']) {
    const script = 'mkdir gone && cd gone && rmdir "$PWD" && exec "$0" "$1"';
    const child = spawn('sh', ['-c', script, launcher, name], {
      cwd: directory,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit');
    // The shell has a line of its own.
    assert.match(await text(child.stderr), /^(?:sh: .*\n)*postern: the working directory was deleted; .*\n$/);
    assert.equal((await ended)[0], 1);
  }
});

test('the postern command starts whatever nproc prints', async (t) => {
  const directory = await createDirectory(t);
  for (const said of ['undefined', '', '08', '1']) {
    await writeFile(join(directory, 'nproc'), `#!/bin/sh\necho '${said}'\n`, { mode: 0o755 });
    const PATH = `${directory}:${process.env.PATH ?? ''}`;
    assert.deepEqual((await runPostern(['--version'], { cwd: directory, env: { PATH } })).code, 0, said);
  }
});
