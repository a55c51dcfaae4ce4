import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemoryLease } from '../core/memory-lease.ts';
import { createBodyMemory } from './body-memory.ts';

const MiB = 1024 ** 2;

/** 64 MiB for bodies, and a count of full collections. */
function stage() {
  const collected = { times: 0 };
  const memory = createBodyMemory('request bodies', { totalBytes: 64 * MiB, largestBytes: 32 * MiB }, () => {
    collected.times += 1;
  });
  const passes = (bytes: number): void => {
    const lease: MemoryLease | Promise<MemoryLease> = memory.enter(
      { key: 'dev', client: { work: undefined, gone: false }, waitMs: 0 },
      bytes,
    );
    assert.ok(!(lease instanceof Promise), 'there is room');
    lease.release();
  };
  return { collected, passes };
}

test('retained buffers of long bodies never exceed half of the memory', () => {
  const { collected, passes } = stage();
  passes(31 * MiB);
  assert.equal(collected.times, 0);
  passes(MiB);
  assert.equal(collected.times, 1);
  passes(31 * MiB);
  assert.equal(collected.times, 1, 'what was collected is no longer there');
});

test('any number of short bodies is left to the garbage collector', () => {
  const { collected, passes } = stage();
  for (let body = 0; body < 2_000; body += 1) passes(64 * 1024);
  assert.equal(collected.times, 0);
});
