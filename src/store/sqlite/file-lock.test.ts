import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { lockFile } from './sqlite-file.ts';

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'postern-lock-'));
});
after(() => rmSync(directory, { recursive: true, force: true }));

const module = new URL('./sqlite-file.ts', import.meta.url).href;
const locking = `
  const { lockFile } = await import(${JSON.stringify(module)});
  const lock = lockFile(process.env.LOCK);
  console.log(lock === undefined ? 'taken' : 'locked');
  setInterval(() => lock, 1000);
`;

function lockElsewhere(path: string) {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', locking];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, LOCK: path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8');
  const said = once(child.stdout, 'data').then(([text]) => String(text).trim());
  return { child, said };
}

test('a second lock attempt in the same process fails, and the first lock stays', async () => {
  const path = join(directory, 'a');
  const lock = lockFile(path);
  assert.ok(lock !== undefined);
  assert.equal(lockFile(path), undefined);
  const { child, said } = lockElsewhere(path);
  assert.equal(await said, 'taken');
  child.kill('SIGKILL');
  lock.release();
  lock.release();
  lockFile(path)?.release();
});

test('a lock ends with its process, however it ends', async () => {
  const path = join(directory, 'b');
  const { child, said } = lockElsewhere(path);
  assert.equal(await said, 'locked');
  assert.equal(lockFile(path), undefined);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = lockFile(path);
  assert.ok(lock !== undefined);
  lock.release();
});

test('a thread cannot lock a file that its own process has locked', async () => {
  const path = join(directory, 'c');
  const lock = lockFile(path);
  const worker = new Worker(
    `import(${JSON.stringify(module)}).then(({ lockFile }) => {
      require('node:worker_threads').parentPort.postMessage(lockFile(${JSON.stringify(path)}) === undefined);
    });`,
    { eval: true },
  );
  assert.deepEqual(await once(worker, 'message'), [true]);
  await worker.terminate();
  const { child, said } = lockElsewhere(path);
  assert.equal(await said, 'taken');
  child.kill('SIGKILL');
  lock?.release();
});
