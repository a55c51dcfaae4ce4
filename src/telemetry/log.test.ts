import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../test/support/log-program.ts', import.meta.url));

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
