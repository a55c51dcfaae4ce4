import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Exchange } from '../core/exchange.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { createLog } from './log.ts';

const program = fileURLToPath(new URL('../../test/support/gateways/log-program.ts', import.meta.url));

test('processes that share one output never tear the lines of one another, however slowly it is read', async () => {
  const count = 2_000;
  const node = `'${process.execPath}' --disable-warning=ExperimentalWarning '${program}'`;
  const each = [1, 2, 3].map((worker) => `${node} ${worker} ${count} 300`);
  const shell = spawn('sh', ['-c', `${each.join(' & ')} & wait`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pieces: Buffer[] = [];
  let sinceRest = 0;
  shell.stdout.on('data', (piece: Buffer) => {
    pieces.push(piece);
    sinceRest += piece.length;
    // The pipe is full meanwhile, so that writers wait in the middle of what they write.
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
  // What is flushed at the end may pass what was on its way.
  for (const worker of [1, 2, 3]) {
    assert.deepEqual(
      seen.get(worker)?.toSorted((a, b) => a - b),
      all,
      `the lines of worker ${worker}`,
    );
  }
});

test('a request that waits for upstreams with too many calls is a warning; one that a limit of ours stops is none', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-log-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'log');
  const fd = openSync(file, 'w');
  const log = createLog(fd);
  const snapshot = { server: { logClientAddress: false } } as unknown as Snapshot;
  for (const [status, cause] of [
    [200, undefined],
    [429, undefined],
    [429, 'resting; a: m: rests 9.0 s more (answered 429)'],
    [503, 'resting'],
  ] as const) {
    const exchange = new Exchange('id', undefined, snapshot, 0, 0);
    exchange.status = status;
    exchange.errorCause = cause;
    log.request(exchange, 'POST');
  }
  log.flush();
  // It stays open: the log writes there as long as this process lives, as it does to its standard output.
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).level),
    [30, 30, 40, 50],
  );
});
