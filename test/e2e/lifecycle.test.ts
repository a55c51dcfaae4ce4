/** How a gateway ends: running requests are finished, none is cut off, and a deadline holds. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startClosedLoop } from '../support/clients/closed-loop.ts';
import { request, send, toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import {
  atOnce,
  compileCache,
  type GatewayProcess,
  launcher,
  startGatewayProcess,
} from '../support/gateways/gateway-process.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const body = { model: 'm', input: 'x' };

async function open(
  t: TestContext,
  script: Handler,
  drain: { delay?: string; deadline?: string },
): Promise<{ gateway: GatewayProcess; upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({
    config: {
      server: { drain },
      upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
      models: [{ id: 'm', operations: ['embeddings', 'completions'], targets: [{ upstream: 'up' }] }],
    },
  });
  t.after(() => gateway.stop());
  return { gateway, upstream };
}

function ask(gateway: GatewayProcess, path = '/v1/embeddings', fields: Record<string, unknown> = body): Buffer {
  return toRequestBytes({ path, headers: [['x-api-key', gateway.key]], body: fields });
}

/** The last log line of a gateway. */
function lastWords(gateway: GatewayProcess): Record<string, unknown> {
  return gateway.log().find(({ msg }) => msg === 'stopped') ?? {};
}

interface Signalled {
  /** What it sends, once each, where its output first holds the text. */
  readonly signals: readonly { readonly at: string; readonly signal: NodeJS.Signals }[];
  readonly workers: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a gateway that is not waited for: how it ended, and what it printed. */
async function signalled(t: TestContext, { signals, workers, env }: Signalled) {
  const directory = await createDirectory(t);
  const config = { server: { port: 0, workers }, console: { port: 0 }, store: 'sqlite:postern.db' };
  await writeFile(join(directory, 'postern.json'), JSON.stringify(config));
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(launcher, ['serve', '--config', 'postern.json'], {
    cwd: directory,
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...atOnce, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  const left = [...signals];
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (let next = left[0]; next !== undefined && output.includes(next.at); next = left[0]) {
      child.kill(next.signal);
      left.shift();
    }
  });
  const [code, signal] = await ended;
  return { code, signal, output };
}

async function turnsAway(port: number): Promise<void> {
  for (;;) {
    try {
      const connection = await connect(port);
      connection.destroy();
      await wait(20);
    } catch {
      return;
    }
  }
}

test('a gateway that refuses its configuration prints all faults, also to a slow reader', async (t) => {
  const count = 1_000;
  const upstreams = Array.from({ length: count }, (_, at) => ({ id: `u${at}`, family: `unknown-${at}` }));
  const directory = await createDirectory(t, { 'postern.json': JSON.stringify({ upstreams }) });
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(launcher, ['serve', '--config', 'postern.json'], {
    cwd: directory,
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  await once(child.stderr, 'readable');
  await wait(1_000);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  assert.deepEqual(await ended, [1, null]);
  assert.equal(errors.split('\n').filter((line) => /\bunknown-\d+\b/.test(line)).length, count);
});

describe('the end of a gateway', { concurrency: 3 }, () => {
  test('SIGTERM under load: readiness fails first, slow requests and streams finish, 20 connections lose nothing', async (t) => {
    const slow: Handler = async (entry, reply) => {
      const text = entry.body.toString();
      if (text.includes('stream'))
        return reply.sse(
          Array.from({ length: 20 }, (_, n) => `event ${n}`),
          { everyMs: patientMs(50) },
        );
      if (text.includes('slow')) await reply.sleep(patientMs(750));
      return reply.json(200, { ok: true });
    };
    const { gateway } = await open(t, slow, { delay: patiently(400), deadline: patiently(5_000) });
    const load = startClosedLoop(gateway.port, 20, ask(gateway));
    const slowAnswer = send(gateway.port, ask(gateway, '/v1/embeddings', { model: 'm', input: 'slow' }));
    const streamed = send(gateway.port, ask(gateway, '/v1/completions', { model: 'm', prompt: 'stream' }));
    await until(() => load.answered >= 100);

    gateway.signal('SIGTERM');
    let ready = await request({ port: gateway.port, path: '/readyz' });
    while (ready.status === 200) ready = await request({ port: gateway.port, path: '/readyz' });
    assert.equal(ready.status, 503);
    assert.deepEqual(ready.json(), { status: 'not ready' });
    // Still everything is served, to newcomers too.
    const atSignal = load.answered;
    assert.equal((await request({ port: gateway.port, path: '/healthz' })).status, 200);
    assert.equal((await send(gateway.port, ask(gateway))).status, 200);

    await load.ended;
    assert.deepEqual(load.failures, []);
    assert.ok(load.answered > atSignal + 20, `${load.answered} answers, ${atSignal} of them before the signal`);
    await turnsAway(gateway.port);

    const answer = await slowAnswer;
    assert.deepEqual([answer.status, answer.complete], [200, true]);
    const stream = await streamed;
    assert.equal(stream.complete, true);
    assert.equal(stream.body.toString(), Array.from({ length: 20 }, (_, n) => `data: event ${n}\n\n`).join(''));
    assert.deepEqual(await gateway.exited, { code: 0, signal: null });
    assert.equal(lastWords(gateway).complete, true);
    assert.equal(gateway.stderr(), '');
  });

  test('requests arriving at shutdown are served: half a body, or on an idle connection', async (t) => {
    const { gateway } = await open(t, (_entry, reply) => reply.json(200, {}), { deadline: '20s' });
    const whole = ask(gateway);
    const half = await connect(gateway.port);
    await half.write(whole.subarray(0, -5));
    const idle = await connect(gateway.port);
    await idle.write(ask(gateway));
    const first = await idle.nextResponse();
    assert.deepEqual([first.status, first.header('connection')], [200, 'keep-alive']);

    gateway.signal('SIGTERM');
    await turnsAway(gateway.port);
    await wait(250); // a client may be about to ask when the gateway begins to end
    await idle.write(whole);
    await half.write(whole.subarray(-5));
    for (const connection of [idle, half]) {
      const answer = await connection.nextResponse();
      assert.deepEqual([answer.status, answer.complete, answer.header('connection')], [200, true, 'close']);
      assert.equal(await connection.closed(), 'fin');
    }
    assert.equal((await gateway.exited).code, 0);
    assert.equal(lastWords(gateway).complete, true);
  });

  test('connections without a request do not delay the end', async (t) => {
    const { gateway } = await open(t, (_entry, reply) => reply.json(200, {}), { deadline: '30s' });
    const used = await connect(gateway.port);
    await used.write(ask(gateway));
    await used.nextResponse();
    const unused = await connect(gateway.port);
    gateway.signal('SIGTERM');
    // Both within the 10 s that a connection waits by default, so well before the deadline.
    assert.equal(await used.closed(), 'fin');
    assert.notEqual(await unused.closed(), 'open');
    assert.equal((await gateway.exited).code, 0);
    assert.equal(lastWords(gateway).complete, true);
  });

  test('requests unfinished at the deadline are broken off visibly, upstream too', async (t) => {
    let cancelled = 0;
    const endless: Handler = async (entry, reply) => {
      if (entry.body.toString().includes('stream')) {
        await reply.head(200, [
          ['content-type', 'text/event-stream'],
          ['transfer-encoding', 'chunked'],
        ]);
        await reply.chunk('data: first\n\n');
      }
      await reply.stall();
      cancelled += 1;
    };
    const { gateway, upstream } = await open(t, endless, { deadline: '500ms' });
    const silent = await connect(gateway.port);
    await silent.write(ask(gateway));
    const streaming = await connect(gateway.port);
    await streaming.write(ask(gateway, '/v1/completions', { model: 'm', prompt: 'stream' }));
    await streaming.sees('first');
    await upstream.nextRequest();
    await upstream.nextRequest();

    gateway.signal('SIGTERM');
    assert.notEqual(await silent.closed(), 'open');
    assert.notEqual(await streaming.closed(), 'open');
    const cut = await streaming.nextResponse();
    assert.deepEqual([cut.status, cut.complete, cut.body.toString()], [200, false, 'data: first\n\n']);
    assert.equal(silent.received().length, 0);
    assert.deepEqual(await gateway.exited, { code: 0, signal: null });
    assert.equal(lastWords(gateway).complete, false);
    await until(() => cancelled >= 2);
  });

  for (const [first, second] of [
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
  ] as const) {
    test(`${second} after ${first} ends at once with its exit code`, async (t) => {
      const { gateway, upstream } = await open(t, (_entry, reply) => reply.stall(), { delay: '60s', deadline: '60s' });
      const stuck = await connect(gateway.port);
      await stuck.write(ask(gateway));
      await upstream.nextRequest();
      gateway.signal(first);
      await until(() => gateway.log().some(({ msg }) => msg === 'draining'));
      assert.equal((await request({ port: gateway.port, path: '/healthz' })).status, 200);
      await wait(250);
      gateway.signal(second);
      assert.deepEqual(await gateway.exited, { code: 1, signal: null });
      assert.deepEqual(lastWords(gateway), {});
      assert.equal(gateway.log().find(({ msg }) => msg === 'stopping immediately')?.signal, second);
      assert.notEqual(await stuck.closed(), 'open');
    });
  }

  for (const workers of [1, 2]) {
    // The first line for people comes when the port is open; the first worker is ready before the second one starts.
    const first = workers === 1 ? 'Postern is running' : '"worker is ready"';

    test(`SIGTERM right after the first output ends the gateway in order (workers: ${workers})`, async (t) => {
      const run = await signalled(t, { signals: [{ at: first, signal: 'SIGTERM' }], workers });
      assert.deepEqual([run.code, run.signal], [0, null]);
      assert.match(run.output, /"msg":"draining","signal":"SIGTERM"|"signal":"SIGTERM","msg":"draining"/);
      assert.match(run.output, /"complete":true/);
    });

    test(`SIGTERM ends the gateway although nobody answers its telemetry (workers: ${workers})`, async (t) => {
      const collector = createServer((socket) => socket.on('error', () => undefined).resume());
      collector.listen(0, '127.0.0.1');
      await once(collector, 'listening');
      t.after(() => collector.close());
      const { port } = collector.address() as AddressInfo;
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_TIMEOUT: String(patientMs(60_000)),
      };
      const limit = wait(patientMs(15_000), 'still there', { ref: false });
      const run = signalled(t, { signals: [{ at: first, signal: 'SIGTERM' }], workers, env });
      assert.notEqual(await Promise.race([run, limit]), 'still there');
      assert.equal((await run).code, 0);
    });

    test(`SIGHUP and SIGUSR2 right after the first output end nothing (workers: ${workers})`, async (t) => {
      const signals = [
        { at: first, signal: 'SIGHUP' },
        { at: first, signal: 'SIGUSR2' },
        { at: '"configuration reloaded"', signal: 'SIGTERM' },
      ] as const;
      const run = await signalled(t, { signals, workers });
      assert.deepEqual([run.code, run.signal], [0, null]);
    });

    test(`SIGHUP and SIGUSR2 before the modules are loaded end nothing (workers: ${workers})`, async (t) => {
      const preload = `import { registerHooks } from 'node:module';
        registerHooks({ load(url, context, next) {
          if (url.endsWith('/cli/serve.ts')) for (const signal of ['SIGHUP', 'SIGUSR2']) process.kill(process.pid, signal);
          return next(url, context);
        } });`;
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` };
      const run = await signalled(t, { signals: [{ at: first, signal: 'SIGTERM' }], workers, env });
      assert.deepEqual([run.code, run.signal], [0, null]);
    });
  }

  test('a socket left by a killed gateway is replaced, and removed at an orderly end', async (t) => {
    const directory = await createDirectory(t, {});
    const path = join(directory, 'p.sock');
    const config = { server: { socket: { path }, port: 0 } };
    const first = await startGatewayProcess({ config, directory });
    first.signal('SIGKILL');
    await first.exited;
    assert.equal((await stat(path)).isSocket(), true);

    const second = await startGatewayProcess({ config, directory });
    t.after(() => second.stop());
    assert.equal((await request({ port: 0, socketPath: path, method: 'GET', path: '/readyz' })).status, 200);
    assert.equal(second.log().find(({ msg }) => msg === 'listening')?.socket, path);
    await assert.rejects(
      startGatewayProcess({ config: { ...config, store: 'sqlite:other.db', ledger: { journal: 'other' } } }),
      (error) => error instanceof Error && error.message.includes(`somebody listens at ${path}`),
    );
    assert.deepEqual(await second.stop(), { code: 0, signal: null });
    await assert.rejects(stat(path), { code: 'ENOENT' });
  });
});
