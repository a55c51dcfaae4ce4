import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemoryLease } from '../core/memory-lease.ts';
import { createBodyMemory } from './body-memory.ts';

const MiB = 1024 ** 2;

/** 64 MiB for bodies, and counts of collections; no buffer goes without one. */
function stage() {
  const collected = { times: 0, begun: 0, held: 0 };
  const memory = createBodyMemory(
    'request bodies',
    { totalBytes: 64 * MiB, largestBytes: 32 * MiB },
    {
      readBufferBytes: () => collected.held,
      collectGarbage() {
        collected.times += 1;
        collected.held = 0;
      },
      beginCollection() {
        collected.begun += 1;
      },
    },
  );
  const passes = (bytes: number): void => {
    const lease: MemoryLease | Promise<MemoryLease> = memory.enter(
      { key: 'dev', client: { work: undefined, gone: false }, waitMs: 0 },
      bytes,
    );
    assert.ok(!(lease instanceof Promise), 'there is room');
    collected.held += bytes;
    lease.release();
  };
  return { collected, passes };
}

test('a collection is forced once buffers of finished long bodies reach half of the body memory', () => {
  const { collected, passes } = stage();
  passes(31 * MiB);
  assert.equal(collected.times, 0);
  passes(MiB);
  assert.equal(collected.times, 1);
  passes(31 * MiB);
  assert.equal(collected.times, 1, 'what was collected is no longer there');
});

test('no collection is forced if V8 has already freed most buffers of finished bodies', () => {
  const { collected, passes } = stage();
  passes(30 * MiB);
  collected.held = 0;
  passes(20 * MiB);
  assert.equal(collected.times, 0, '50 MiB passed, and 20 are there');
  passes(10 * MiB);
  assert.equal(collected.times, 1, 'half of those that passed count on');
});

test('short bodies never force a garbage collection, however many pass', () => {
  const { collected, passes } = stage();
  for (let body = 0; body < 2_000; body += 1) passes(64 * 1024);
  assert.equal(collected.times, 0);
});

test('after the last long body an incremental collection starts, and a forced one only if it fails', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { collected, passes } = stage();
  passes(20 * MiB);
  mock.timers.tick(1_999);
  assert.equal(collected.begun, 0);
  mock.timers.tick(1);
  assert.deepEqual(collected, { times: 0, begun: 1, held: 20 * MiB });
  mock.timers.tick(2_000);
  assert.deepEqual(collected, { times: 1, begun: 1, held: 0 }, 'the buffers are still there, and must go');
  passes(20 * MiB);
  mock.timers.tick(2_000);
  collected.held = 0;
  mock.timers.tick(2_000);
  assert.deepEqual(collected, { times: 1, begun: 2, held: 0 }, 'the buffers are gone');
  mock.timers.tick(60_000);
  assert.deepEqual(collected, { times: 1, begun: 2, held: 0 });
});

test('after long bodies no collection starts if V8 has freed their buffers by itself', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { collected, passes } = stage();
  passes(20 * MiB);
  collected.held = MiB;
  mock.timers.tick(10_000);
  assert.deepEqual(collected, { times: 0, begun: 0, held: MiB });
});

test('another long body restarts the incremental collection before one is forced', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { collected, passes } = stage();
  passes(20 * MiB);
  mock.timers.tick(2_000);
  passes(MiB);
  mock.timers.tick(2_000);
  assert.deepEqual(collected, { times: 0, begun: 2, held: 21 * MiB });
  mock.timers.tick(2_000);
  assert.deepEqual(collected, { times: 1, begun: 2, held: 0 });
});
