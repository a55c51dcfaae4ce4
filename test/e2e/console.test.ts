/** The admin listener of a running gateway: its log lines, and what happens if its port is taken. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf } from '../../src/lib/thrown.ts';
import { request } from '../support/clients/raw-client.ts';
import { consoleUrl, readMetrics } from '../support/gateways/admin-listener.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { patiently } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';

const local = { upstreams: [{ id: 'local', family: 'local' }] };

/** Takes a port as soon as it is free. */
async function take(t: TestContext, port: number): Promise<number> {
  const server = createServer();
  t.after(() => server.close());
  for (;;) {
    server.listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      const address = server.address();
      return typeof address === 'object' ? (address?.port ?? port) : port;
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
      await wait(50);
    }
  }
}

describe('the admin listener', { concurrency: 2 }, () => {
  test('a running gateway serves metrics on its own address until it is drained', async (t) => {
    const gateway = await startGatewayProcess({ config: { ...local, server: { drain: { delay: patiently(300) } } } });
    t.after(() => gateway.stop());
    assert.notEqual(new URL(consoleUrl(gateway)).port, String(gateway.port));
    const before = await readMetrics(gateway);
    assert.equal(before.sum('postern_workers'), 1);
    assert.equal(before.sum('postern_worker_restarts_total'), undefined);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_heap_used_bytes']) {
      assert.ok((before.sum(name) ?? 0) > 0, name);
    }
    const answer = await request({
      port: gateway.port,
      path: '/v1/embeddings',
      headers: [['x-api-key', gateway.key]],
      body: { model: 'local/hash-embed', input: 'x' },
    });
    assert.equal(answer.status, 200);
    const served = { route: '/v1/embeddings', model: 'local/hash-embed', status: '2xx', outcome: 'ok' };
    assert.equal((await readMetrics(gateway)).sum('postern_requests_total', served), 1);
    // The clients' listener has nothing of it, and this one nothing of theirs.
    assert.equal((await request({ port: gateway.port, path: '/metrics' })).status, 404);
    assert.equal((await fetch(`${consoleUrl(gateway)}/v1/models`)).status, 404);

    gateway.signal('SIGTERM');
    await until(() => gateway.log().some(({ msg }) => msg === 'draining'));
    assert.equal((await readMetrics(gateway)).sum('postern_requests_total', served), 1);
    assert.deepEqual(await gateway.exited, { code: 0, signal: null });
  });

  test('an occupied configured port ends the start with one sentence, before a key is created', async (t) => {
    const port = await take(t, 0);
    const directory = await createDirectory(t);
    const file = join(directory, 'postern.json');
    await writeFile(file, JSON.stringify({ ...local, store: 'sqlite:p.db', server: { port: 0 }, console: { port } }));
    const run = await runPostern(['--config', file], { cwd: directory });
    assert.deepEqual(run, {
      code: 1,
      stdout: '',
      stderr: `postern: port ${port} on 127.0.0.1 is taken; stop what listens there, or set console.port to another one\n`,
    });
  });

  test('an occupied default port is a warning: two gateways on one machine both start', async (t) => {
    await take(t, 4001);
    const gateway = await startGatewayProcess({ config: { ...local, console: {} } });
    t.after(() => gateway.stop());
    assert.equal(gateway.log().find(({ msg }) => msg === 'listening')?.console, undefined);
    const [{ msg, host, port, former_msg: former } = {}] = gateway.log().filter(({ level }) => level === 40);
    assert.deepEqual([msg, host, port], ['admin listener not started: port taken', '127.0.0.1', 4001]);
    assert.match(String(former), /^port 4001 on 127\.0\.0\.1 is taken, .*; set console\.port to another one$/);
    assert.equal(gateway.stderr(), '');
  });
});
