import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { repeat } from './repeat.ts';

/** Work that lasts until its end is called. */
function createWork() {
  const ends: (() => void)[] = [];
  return { ends, run: () => new Promise<void>((resolve) => void ends.push(resolve)) };
}

test('the first run begins at once, and each further run a pause after the end of the previous one', async () => {
  const work = createWork();
  const repeated = repeat(work.run, 1, 0);
  assert.equal(work.ends.length, 1);
  work.ends[0]?.();
  while (work.ends.length < 2) await turn();
  work.ends[1]?.();
  await repeated.close();
});

test('requests for a run during another run cause one more run after it', async () => {
  const work = createWork();
  const repeated = repeat(work.run, 3_600_000, 0);
  repeated.now();
  repeated.now();
  assert.equal(work.ends.length, 1);
  work.ends[0]?.();
  while (work.ends.length < 2) await turn();
  work.ends[1]?.();
  while (repeated.isRunning) await turn();
  assert.equal(work.ends.length, 2);
  await repeated.close();
});

test('closing waits for the current run, and no later run begins', async () => {
  const work = createWork();
  const repeated = repeat(work.run, 1, 0);
  repeated.now();
  const closed = repeated.close();
  work.ends[0]?.();
  await closed;
  await turn();
  repeated.now();
  assert.equal(work.ends.length, 1);
});
