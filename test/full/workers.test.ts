/** Several worker processes behind one port: they serve, die, come back and end together, and are counted as one. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startClosedLoop } from '../support/clients/closed-loop.ts';
import { request, send, toRequestBytes } from '../support/clients/raw-client.ts';
import { readMetrics } from '../support/gateways/admin-listener.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { until } from '../support/time/until.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { listen } from '../support/upstreams/listen.ts';

const key = 'process-key-with-enough-characters';
const served = { route: '/v1/embeddings', model: 'm', outcome: 'ok' };

function document(url: string, models: readonly string[] = ['m']): Record<string, unknown> {
  return {
    server: { port: 0, workers: 2, drain: { deadline: '10s' } },
    console: { port: 0 },
    store: 'sqlite:postern.db',
    keys: [{ id: 'test', secret: key }],
    upstreams: [{ id: 'up', family: 'openai', base_url: url, api_key: 'sk-upstream-key' }],
    models: models.map((id) => ({ id, operations: ['embeddings'], targets: [{ upstream: 'up' }] })),
  };
}

async function open(
  t: TestContext,
  script: Handler = (_entry, reply) => reply.json(200, {}),
): Promise<{ gateway: GatewayProcess; upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({ config: document(upstream.url), readyTimeoutMs: 60_000 });
  t.after(() => gateway.stop());
  return { gateway, upstream };
}

const bytes = toRequestBytes({
  path: '/v1/embeddings',
  headers: [['x-api-key', key]],
  body: { model: 'm', input: 'x' },
});

/** The processes of the workers, in the order in which they were ready. */
function pids(gateway: GatewayProcess): number[] {
  return gateway
    .log()
    .filter(({ msg }) => msg === 'worker is ready')
    .map(({ pid }) => Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** So many answers, each on a connection of its own, so that every worker has its share. */
async function ask(gateway: GatewayProcess, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) assert.equal((await send(gateway.port, bytes)).status, 200);
}

describe('workers', { concurrency: 2 }, () => {
  test('two workers serve; a killed one is replaced without losing a count; SIGTERM drains all', async (t) => {
    const { gateway } = await open(t);
    assert.equal(gateway.log().filter(({ msg }) => msg === 'listening').length, 1);
    assert.equal(gateway.log().find(({ msg }) => msg === 'listening')?.workers, 2);
    await ask(gateway, 20);
    const before = await readMetrics(gateway);
    assert.equal(before.sum('postern_workers'), 2);
    assert.equal(before.sum('postern_requests_total', served), 20);
    assert.equal(before.sum('postern_request_duration_seconds_count', { model: 'm' }), 20);
    assert.equal(before.sum('postern_worker_restarts_total'), 0);

    // Lines are written together, a moment later; what dies in between takes its last ones with it.
    await until(() => gateway.log().filter(({ msg }) => msg === 'request').length >= 20);
    const [victim = 0] = pids(gateway);
    process.kill(victim, 'SIGKILL');
    await until(() => pids(gateway).length >= 3);
    await ask(gateway, 10);
    const after = await readMetrics(gateway);
    assert.equal(after.sum('postern_requests_total', served), 30);
    assert.equal(after.sum('postern_workers'), 2);
    assert.equal(after.sum('postern_worker_restarts_total'), 1);
    const died = gateway.log().find(({ msg }) => msg === 'worker exited unexpectedly');
    assert.deepEqual([died?.worker, died?.signal], [1, 'SIGKILL']);

    // Each line of the log is whole, and names the worker that wrote it.
    const requests = gateway.log().filter(({ msg }) => msg === 'request');
    assert.deepEqual([...new Set(requests.map(({ worker }) => worker))].sort(), [1, 2]);

    const load = startClosedLoop(gateway.port, 10, bytes);
    await until(() => load.answered >= 100);
    gateway.signal('SIGTERM');
    await load.ended;
    assert.deepEqual(load.failures, []);
    assert.deepEqual(await gateway.exited, { code: 0, signal: null });
    const last = gateway.log().at(-1);
    assert.deepEqual([last?.msg, last?.complete], ['stopped', true]);
    assert.deepEqual(pids(gateway).filter(isAlive), []);
    assert.equal(gateway.log().filter(({ msg }) => msg === 'request').length, 30 + load.answered);
    assert.equal(gateway.stderr(), '');
  });

  test('a second signal ends all workers at once with its exit code', async (t) => {
    const { gateway, upstream } = await open(t, (_entry, reply) => reply.stall());
    const stuck = send(gateway.port, bytes);
    await upstream.nextRequest();
    gateway.signal('SIGTERM');
    await until(() => gateway.log().some(({ msg }) => msg === 'draining'));
    await wait(250);
    gateway.signal('SIGTERM');
    assert.deepEqual(await gateway.exited, { code: 1, signal: null });
    await stuck;
    await until(() => !pids(gateway).some(isAlive));
  });

  test('a changed configuration reaches every worker; a dead worker is not replaced while the file is invalid', async (t) => {
    const { gateway, upstream } = await open(t);
    await writeFile(gateway.configFile, JSON.stringify(document(upstream.url, ['m', 'n'])));
    gateway.signal('SIGHUP');
    const reloads = (): unknown[] =>
      gateway.log().flatMap(({ msg, worker }) => (msg === 'configuration reloaded' ? [worker] : []));
    await until(() => new Set(reloads()).size >= 2);
    const askForNew = async (): Promise<void> => {
      for (let i = 0; i < 8; i += 1) {
        const more = { headers: [['x-api-key', key]] as [string, string][], body: { model: 'n', input: 'x' } };
        assert.equal((await request({ port: gateway.port, path: '/v1/embeddings', ...more })).status, 200);
      }
    };
    await askForNew();

    await writeFile(gateway.configFile, '{ "models": 3 }');
    process.kill(pids(gateway)[0] ?? 0, 'SIGKILL');
    const ends = (): number => gateway.log().filter(({ msg }) => msg === 'worker exited unexpectedly').length;
    await until(() => ends() >= 3);
    await askForNew();
    assert.match(gateway.stderr(), /postern\.json.*models/);
    await writeFile(gateway.configFile, JSON.stringify(document(upstream.url, ['n'])));
    await until(() => pids(gateway).length >= 3);
    await askForNew();
  });

  test('a start fault is reported once, and is the exit code of all', async (t) => {
    const directory = await createDirectory(t);
    const port = await listen(t, (socket) => socket.destroy());
    const file = join(directory, 'postern.json');
    const wanted = { ...document('http://127.0.0.1:1'), keys: [], server: { port, workers: 2 } };
    await writeFile(file, JSON.stringify(wanted));
    const run = await runPostern(['--config', file], { cwd: directory });
    assert.deepEqual([run.code, run.stdout], [1, '']);
    assert.equal(
      run.stderr,
      `postern: port ${port} on 127.0.0.1 is taken; stop what listens there, or set server.port to another one\n`,
    );
  });

  test('the first key is created and shown once; when the parent dies, the workers end', async (t) => {
    const gateway = await startGatewayProcess({ config: { ...document('http://127.0.0.1:1'), keys: [] } });
    t.after(() => gateway.stop());
    const shown = gateway.stdout().match(/^ {2}pst_[0-9A-Za-z]{49}$/gm) ?? [];
    assert.equal(shown.length, 1);
    const headers: [string, string][] = [['x-api-key', String(shown[0]).trim()]];
    for (let i = 0; i < 4; i += 1) {
      assert.equal((await request({ port: gateway.port, path: '/v1/models', headers })).status, 200);
    }
    gateway.signal('SIGKILL');
    await gateway.exited;
    await until(() => !pids(gateway).some(isAlive));
  });
});
