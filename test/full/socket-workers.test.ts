/** Several worker processes at one unix-domain socket: they share its file, which is made once, outlives each of them and goes with the last. */

import assert from 'node:assert/strict';
import { access, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from '../support/clients/raw-client.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { until } from '../support/time/until.ts';

const key = 'process-key-with-enough-characters';

interface Setup {
  readonly directory: string;
  readonly socketPath: string;
  open(): Promise<GatewayProcess>;
}

const document = (socketPath: string): Record<string, unknown> => ({
  server: { port: 0, workers: 2, socket: { path: socketPath, mode: '0620' } },
  console: { port: 0 },
  store: 'sqlite:postern.db',
  keys: [{ id: 'test', secret: key }],
});

/** A directory in which one gateway may follow another. */
async function createSetup(t: TestContext): Promise<Setup> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-socket-'));
  const opened: GatewayProcess[] = [];
  t.after(async () => {
    for (const one of opened) await one.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const socketPath = join(directory, 'p.sock');
  return {
    directory,
    socketPath,
    async open() {
      const gateway = await startGatewayProcess({ config: document(socketPath), directory, readyTimeoutMs: 60_000 });
      opened.push(gateway);
      return gateway;
    },
  };
}

const ready = (gateway: GatewayProcess) => gateway.log().filter(({ msg }) => msg === 'worker is ready');
const pids = (gateway: GatewayProcess): number[] => ready(gateway).map(({ pid }) => Number(pid));

async function kill(gateway: GatewayProcess, ...victims: number[]): Promise<void> {
  const wanted = ready(gateway).length + victims.length;
  for (const pid of victims) process.kill(pid, 'SIGKILL');
  await until(() => ready(gateway).length >= wanted);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function ask(socketPath: string): Promise<void> {
  const answer = await request({ port: 0, socketPath, path: '/v1/models', headers: [['x-api-key', key]] });
  assert.equal(answer.status, 200);
}

/** Until each worker had its share: the system decides which one accepts a connection. */
async function askAll(gateway: GatewayProcess, socketPath: string): Promise<void> {
  const from = gateway.log().length;
  const shares = (): Set<unknown> =>
    new Set(
      gateway
        .log()
        .slice(from)
        .flatMap(({ msg, worker }) => (msg === 'request' ? [worker] : [])),
    );
  while (shares().size < 2) {
    await Promise.all(Array.from({ length: 10 }, () => ask(socketPath)));
    await wait(20);
  }
}

test('two workers serve one socket file, which stays when one is replaced, and is removed at the end', async (t) => {
  const { open, socketPath } = await createSetup(t);
  const gateway = await open();
  const made = await stat(socketPath);
  assert.equal(made.mode & 0o777, 0o620);
  assert.equal(gateway.log().find(({ msg }) => msg === 'listening')?.socket, socketPath);
  await askAll(gateway, socketPath);

  await kill(gateway, pids(gateway)[0] ?? 0);
  const kept = await stat(socketPath);
  assert.deepEqual([kept.ino, kept.mode], [made.ino, made.mode]);
  await askAll(gateway, socketPath);

  gateway.signal('SIGTERM');
  assert.deepEqual(await gateway.exited, { code: 0, signal: null });
  assert.equal(await exists(socketPath), false);
  assert.equal(gateway.stderr(), '');
});

test('when both workers die at once, their replacements serve the socket file again', async (t) => {
  const { open, socketPath } = await createSetup(t);
  const gateway = await open();
  await kill(gateway, ...pids(gateway));
  assert.equal((await stat(socketPath)).mode & 0o777, 0o620);
  await askAll(gateway, socketPath);
  assert.equal(gateway.stderr(), '');
});

test("a killed gateway's socket is removed; a second gateway leaves the first one's socket", async (t) => {
  const { open, socketPath } = await createSetup(t);
  const killed = await open();
  killed.signal('SIGKILL');
  await killed.exited;
  await until(() => !pids(killed).some(isAlive));
  assert.equal(await exists(socketPath), true);
  const gateway = await open();
  await askAll(gateway, socketPath);

  const elsewhere = await createDirectory(t);
  const file = join(elsewhere, 'postern.json');
  await writeFile(file, JSON.stringify(document(socketPath)));
  const run = await runPostern(['--config', file], { cwd: elsewhere });
  assert.deepEqual([run.code, run.stdout], [1, '']);
  assert.equal(
    run.stderr,
    `postern: somebody listens at ${socketPath}; stop what listens there, or set server.socket.path to another one\n`,
  );
  await askAll(gateway, socketPath);
});
