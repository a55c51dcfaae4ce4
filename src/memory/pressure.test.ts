import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import { systemClock } from '../lib/clock.ts';
import { createPressure } from './pressure.ts';

const limits = { loopDelayMs: 50, memoryBytes: 1_000 };

/** A process with a given event-loop delay and memory use. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const clock = createFakeClock();
  const state = { bytes: 500, reads: 0, collections: 0 };
  const pressure = createPressure({
    clock,
    readMemoryBytes() {
      state.reads += 1;
      return state.bytes;
    },
    collectGarbage() {
      state.collections += 1;
    },
  });
  t.after(() => pressure.close());
  function sample(...latenessMs: number[]): void {
    for (const lateMs of latenessMs) {
      clock.advance(100 + lateMs);
      t.mock.timers.tick(100);
    }
  }
  return { pressure, state, sample };
}

test('a process that keeps up accepts work', (t) => {
  const { pressure, sample } = setUp(t);
  assert.equal(pressure.reason(limits), undefined);
  sample(0, 5, 49, 30, 50, 50, 50);
  assert.equal(pressure.reason(limits), undefined);
});

test('a process that falls behind refuses work, and reports the delay', (t) => {
  const { pressure, sample } = setUp(t);
  sample(80, 80, 80);
  assert.deepEqual(pressure.reason(limits), { kind: 'event-loop', delayMs: 80 });
  assert.equal(pressure.reason({ ...limits, loopDelayMs: 80 }), undefined);
});

test('judges by the mean of the last three event-loop delays', (t) => {
  const { pressure, sample } = setUp(t);
  sample(0, 60, 60);
  assert.equal(pressure.reason(limits), undefined);
  sample(60);
  assert.deepEqual(pressure.reason(limits), { kind: 'event-loop', delayMs: 60 });
});

test('a single delay refuses no request, however long', (t) => {
  const { pressure, sample } = setUp(t);
  sample(10, 60_000);
  assert.equal(pressure.reason(limits), undefined);
  sample(10);
  assert.equal(pressure.reason(limits), undefined);
});

test('accepts work within half a second after the event loop is free', (t) => {
  const { pressure, sample } = setUp(t);
  sample(2_000, 2_000, 2_000);
  assert.notEqual(pressure.reason(limits), undefined);
  sample(0, 0);
  assert.equal(pressure.reason(limits), undefined);
});

test('an early timer does not compensate for a late one', (t) => {
  const { pressure, sample } = setUp(t);
  sample(90, 90, -90);
  assert.deepEqual(pressure.reason(limits), { kind: 'event-loop', delayMs: 60 });
});

test('refuses work above the memory limit', (t) => {
  const { pressure, state, sample } = setUp(t);
  state.bytes = 1_001;
  sample(0, 0, 0, 0, 0);
  assert.deepEqual(pressure.reason(limits), { kind: 'memory', bytes: 1_001 });
  assert.equal(pressure.reason({ ...limits, memoryBytes: 1_001 }), undefined);
  state.bytes = 1_000;
  sample(0, 0, 0, 0, 0);
  assert.equal(pressure.reason(limits), undefined);
});

test('reads its memory at the start and every half second', (t) => {
  const { state, sample } = setUp(t);
  assert.equal(state.reads, 1);
  sample(...Array.from({ length: 50 }, () => 0));
  assert.equal(state.reads, 11);
});

test('collects garbage at once when memory gets short, and every five seconds while it stays short', (t) => {
  const { pressure, state, sample } = setUp(t);
  sample(...Array.from({ length: 100 }, () => 0));
  assert.equal(state.collections, 0);
  state.bytes = 2_000;
  for (let i = 0; i < 150; i += 1) {
    sample(0);
    pressure.reason(limits);
  }
  assert.equal(state.collections, 3);
  state.bytes = 10;
  for (let i = 0; i < 150; i += 1) {
    sample(0);
    pressure.reason(limits);
  }
  assert.equal(state.collections, 3);
});

test('measures nothing after close', (t) => {
  const { pressure, state, sample } = setUp(t);
  pressure.close();
  sample(80, 80, 80, 80, 80);
  assert.equal(pressure.reason(limits), undefined);
  assert.equal(state.reads, 1);
});

test('detects a really busy event loop, and keeps no process alive', async () => {
  const pressure = createPressure({ clock: systemClock, readMemoryBytes: () => 0 });
  const untilMs = performance.now() + 20_000;
  while (pressure.reason({ loopDelayMs: 50, memoryBytes: 1 }) === undefined && performance.now() < untilMs) {
    const busyUntilMs = performance.now() + 200;
    while (performance.now() < busyUntilMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(pressure.reason({ loopDelayMs: 50, memoryBytes: 1 })?.kind, 'event-loop');
});
