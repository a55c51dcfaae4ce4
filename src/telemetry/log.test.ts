import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { standardLog } from '../../test/support/gateways/log-settings.ts';
import { patientMs } from '../../test/support/time/patience.ts';
import { until } from '../../test/support/time/until.ts';
import { Exchange } from '../core/exchange.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { createLog, openLog } from './log.ts';

const program = fileURLToPath(new URL('../../test/support/gateways/log-program.ts', import.meta.url));

test('processes that share an output never interleave lines, even with a slow reader', async () => {
  const count = 2_000;
  const node = `'${process.execPath}' --disable-warning=ExperimentalWarning '${program}'`;
  const each = [1, 2, 3].map((worker) => `${node} ${worker} ${count} 300`);
  const shell = spawn('sh', ['-c', `${each.join(' & ')} & wait`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pieces: Buffer[] = [];
  let sinceRest = 0;
  shell.stdout.on('data', (piece: Buffer) => {
    pieces.push(piece);
    sinceRest += piece.length;
    // The pipe is full meanwhile, so that writers block in the middle of a write.
    if (sinceRest < 128 * 1024) return;
    sinceRest = 0;
    shell.stdout.pause();
    void wait(20).then(() => shell.stdout.resume());
  });
  await once(shell, 'close');
  const lines = Buffer.concat(pieces).toString().trimEnd().split('\n');
  const seen = new Map<number, number[]>();
  for (const line of lines) {
    const { worker, at } = JSON.parse(line) as { worker: number; at: number };
    const ats = seen.get(worker) ?? [];
    ats.push(at);
    seen.set(worker, ats);
  }
  const all = Array.from({ length: count }, (_, at) => at);
  // The final flush may overtake pending lines.
  for (const worker of [1, 2, 3]) {
    assert.deepEqual(
      seen.get(worker)?.toSorted((a, b) => a - b),
      all,
      `the lines of worker ${worker}`,
    );
  }
});

test('a process never writes more log bytes at once than a pipe takes atomically, in each log format', async (t) => {
  const written: Buffer[] = [];
  const { write } = fs;
  t.mock.method(fs, 'write', (...args: Parameters<typeof write>) => {
    if (Buffer.isBuffer(args[1])) written.push(args[1]);
    write(...args);
  });
  const snapshot = { server: { logClientAddress: false }, log: standardLog } as unknown as Snapshot;
  for (const other of [{}, { fields: 'ecs' }, { fields: 'gcp' }, { format: 'text' }] as const) {
    written.length = 0;
    const file = await fileIn(t);
    const log = await openLog({ ...standardLog, ...other, file }, { worker: 1 });
    for (let at = 0; at < 100; at += 1) log.request(new Exchange('id', undefined, snapshot, 0, 0), 'POST');
    log.info('the last one');
    await until(async () => (await readFile(file, 'utf8')).split('\n').length === 102);
    assert.deepEqual(
      written
        .filter((bytes) => bytes.length > 4_096 || (bytes.length > 0 && bytes.at(-1) !== 10))
        .map(({ length }) => length),
      [],
    );
    log.close();
  }
});

test('a process ends although its log cannot be written because the disk is full or nobody reads the pipe', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  for (const [stdout, reason, isSudden] of [
    [full, 'ENOSPC', '0'],
    [full, 'ENOSPC', '1'],
    ['pipe', 'EAGAIN', '0'],
  ] as const) {
    const args = ['--disable-warning=ExperimentalWarning', program, '1', '2000', '300', isSudden];
    const child = spawn(process.execPath, args, { stdio: ['ignore', stdout, 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    let errors = '';
    child.stderr?.on('data', (piece: Buffer) => (errors += piece.toString()));
    const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(patientMs(10_000)) });
    assert.equal(code, 0);
    assert.match(errors, new RegExp(`the log cannot be written: ${reason}`));
  }
});

test("after a temporary write failure, the log's last lines are written even if the process ends suddenly", async () => {
  const failingOnce = `import fs from 'node:fs';
    import { createLog } from '${new URL('log.ts', import.meta.url).href}';
    const { write } = fs;
    fs.write = (fd, bytes, done) => setImmediate(done, Object.assign(new Error(), { code: 'ENOSPC' }));
    const log = createLog(1, ${JSON.stringify(standardLog)});
    log.info('first');
    for (let at = 1; at <= 5; at += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      log.info('between ' + at);
    }
    fs.write = write;
    log.info('second');
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (let at = 1; at <= 5; at += 1) log.info('last ' + at);
    process.exit();`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', failingOnce];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let lines = '';
  let errors = '';
  child.stdout.on('data', (piece: Buffer) => (lines += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  await once(child, 'close');
  assert.match(lines, /"first".*"second".*"last 5"/s);
  assert.equal(errors.match(/the log cannot be written/g)?.length, 1, errors);
});

test("a 429 because targets are in cooldown is logged as a warning, one because of the key's limit as info", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-log-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'log');
  const fd = openSync(file, 'w');
  const log = createLog(fd, standardLog);
  const snapshot = { server: { logClientAddress: false }, log: standardLog } as unknown as Snapshot;
  for (const [status, cause] of [
    [200, undefined],
    [429, undefined],
    [429, 'resting; a: m: in cooldown for 9.0 s more (answered 429)'],
    [503, 'resting'],
  ] as const) {
    const exchange = new Exchange('id', undefined, snapshot, 0, 0);
    exchange.status = status;
    exchange.errorCause = cause;
    log.request(exchange, 'POST');
  }
  await log.flush();
  // It stays open: the log writes there for the process's lifetime, as to standard output.
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).level),
    [30, 30, 40, 50],
  );
});

async function fileIn(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-log-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'postern.log');
}

const messagesIn = async (file: string): Promise<unknown[]> =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).msg);

test('a log file that was moved away is replaced, and no line is lost', async (t) => {
  const file = await fileIn(t);
  const log = await openLog({ ...standardLog, file });
  log.info('before');
  await log.flush();
  await rename(file, `${file}.1`);
  log.info('between');
  log.reopen();
  log.info('after');
  const all = async () => [
    ...(await messagesIn(`${file}.1`)),
    ...(await messagesIn(file).catch(() => [] as unknown[])),
  ];
  await until(async () => (await all()).length >= 3);
  assert.deepEqual(await all(), ['before', 'between', 'after']);
  assert.equal((await stat(file)).mode & 0o777, 0o640 & ~process.umask());
});

test('a log file that cannot be written is named with the reason', async () => {
  await assert.rejects(openLog({ ...standardLog, file: '/nowhere/postern.log' }), {
    name: 'UserFault',
    message: 'log.file: /nowhere/postern.log cannot be written to (ENOENT)',
  });
});

test('debug entries are written if the debug level is configured', async (t) => {
  const file = await fileIn(t);
  const log = await openLog({ ...standardLog, file });
  log.debug('hidden', {});
  log.follow({ ...standardLog, level: 'debug' });
  log.debug('shown', { upstream: 'up' });
  await log.flush();
  assert.deepEqual(await messagesIn(file), ['shown']);
  assert.match(await readFile(file, 'utf8'), /^\{"level":20,"time":"[^"]+","upstream":"up","msg":"shown"\}\n$/);
});

test('a log line of a renamed event has the former name beside the new one', async (t) => {
  const file = await fileIn(t);
  const log = await openLog({ ...standardLog, file });
  log.warn('target in cooldown', { upstream: 'u' });
  log.warn('budget threshold reached', { percent: 80 });
  log.warn('another event', { upstream: 'u' });
  await log.flush();
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const former = lines.map((line) => JSON.parse(line).former_msg);
  assert.deepEqual(former, ['target rests', 'a budget is spent to 80 percent', undefined]);
});

test('entries below the level are not written, and the level can change', async (t) => {
  const file = await fileIn(t);
  const log = await openLog({ ...standardLog, level: 'warn', file });
  log.info('hidden');
  log.warn('shown');
  log.follow(standardLog);
  log.info('shown from now on');
  await log.flush();
  assert.deepEqual(await messagesIn(file), ['shown', 'shown from now on']);
});
