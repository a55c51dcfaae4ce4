import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { PacedCall } from '../../core/dispatch.ts';
import type { Lane } from '../../core/lane.ts';
import { Pacer } from './pacer.ts';

/** A rate limit whose capacity the test controls, and calls that retry at once. */
function setUp() {
  const pacer = new Pacer(() => 0.1);
  const passed: string[] = [];
  const state = { room: 0 };
  function call(name: string, lane: Lane = 'interactive', key = 'k'): PacedCall {
    const one: PacedCall = {
      lane,
      project: 'p',
      key,
      work: 1,
      resume() {
        if (state.room === 0) {
          pacer.wait(one, 100);
          return;
        }
        state.room -= 1;
        passed.push(name);
        pacer.done(one);
      },
    };
    return one;
  }
  return { pacer, passed, state, call };
}

function withTimers(t: TestContext): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
}

test('at its due time a call passes if the rate limit has room, and otherwise waits on', (t) => {
  withTimers(t);
  const { pacer, passed, state, call } = setUp();
  for (const name of ['a', 'b', 'c', 'd']) pacer.wait(call(name), 100);
  mock.timers.tick(99);
  state.room = 2;
  assert.deepEqual(passed, []);
  mock.timers.tick(1);
  assert.deepEqual(passed, ['a', 'b']);
  assert.equal(pacer.waitingIn('interactive'), 2);
  state.room = 5;
  mock.timers.tick(100);
  assert.deepEqual(passed, ['a', 'b', 'c', 'd']);
  assert.equal(pacer.behindMs('bulk'), undefined);
});

test('paced interactive calls overtake bulk calls, even one that has already tried', (t) => {
  withTimers(t);
  const { pacer, passed, state, call } = setUp();
  for (const name of ['b1', 'b2']) pacer.wait(call(name, 'bulk'), 100);
  mock.timers.tick(100);
  assert.notEqual(pacer.behindMs('bulk'), undefined);
  assert.equal(pacer.behindMs('interactive'), undefined);
  pacer.wait(call('i'), 100);
  state.room = 3;
  mock.timers.tick(100);
  assert.deepEqual(passed, ['i', 'b1', 'b2']);
});

test('a paced call that ends before it passes does not block the calls behind it', (t) => {
  withTimers(t);
  const { pacer, passed, state, call } = setUp();
  const [a, b, c] = [call('a'), call('b'), call('c')];
  for (const one of [a, b, c]) pacer.wait(one, 100);
  mock.timers.tick(100);
  pacer.done(a);
  pacer.done(b);
  state.room = 1;
  mock.timers.tick(100);
  assert.deepEqual(passed, ['c']);
});

test('a resumed call that does not try its rate limit holds up the next ones until it ends', (t) => {
  withTimers(t);
  const { pacer, passed, state, call } = setUp();
  const slow: PacedCall = { ...call('slow'), resume: () => undefined };
  pacer.wait(slow, 100);
  pacer.wait(call('next'), 100);
  state.room = 9;
  mock.timers.tick(1_000);
  assert.deepEqual(passed, []);
  pacer.done(slow);
  assert.deepEqual(passed, ['next']);
});

const step = fc.oneof(
  fc.record({
    kind: fc.constant('wait' as const),
    lane: fc.constantFrom<Lane>('interactive', 'bulk'),
    inMs: fc.integer({ min: 20, max: 500 }),
  }),
  fc.record({ kind: fc.constant('room' as const), calls: fc.nat(3) }),
  fc.record({ kind: fc.constant('leave' as const), which: fc.nat(9) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 300 }) }),
);

test('in any order of events no paced call waits for ever or passes twice, nor more than the limit has room for', (t) => {
  t.after(() => mock.timers.reset());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      mock.timers.reset();
      mock.timers.enable({ apis: ['setTimeout'] });
      const { pacer, passed, state, call } = setUp();
      const waiting = new Map<string, PacedCall>();
      let given = 0;
      let count = 0;
      for (const each of steps) {
        if (each.kind === 'wait') {
          count += 1;
          const one = call(`${count}`, each.lane, `k${count % 3}`);
          waiting.set(`${count}`, one);
          pacer.wait(one, each.inMs);
        } else if (each.kind === 'room') {
          state.room += each.calls;
          given += each.calls;
        } else if (each.kind === 'leave') {
          const [name, leaver] = [...waiting][each.which] ?? [];
          if (name === undefined || leaver === undefined || passed.includes(name)) continue;
          waiting.delete(name);
          pacer.done(leaver);
        } else mock.timers.tick(each.ms);
        assert.ok(passed.length <= given);
      }
      state.room = 1_000;
      for (let time = 0; time < 20; time += 1) mock.timers.tick(500);
      assert.equal(pacer.waitingIn('interactive') + pacer.waitingIn('bulk'), 0);
      assert.equal(new Set(passed).size, passed.length);
      for (const name of waiting.keys()) assert.ok(passed.includes(name), `${name} of ${count} never passed`);
    }),
    { numRuns: 200 },
  );
});

test('bulk calls get their share of the calls that pass, and none for interactive attempts that fail', (t) => {
  withTimers(t);
  const { pacer, passed, state, call } = setUp();
  for (let count = 0; count < 25; count += 1) pacer.wait(call(`i${count}`), 100);
  for (let count = 0; count < 5; count += 1) pacer.wait(call(`b${count}`, 'bulk'), 100);
  mock.timers.tick(3_000);
  assert.equal(passed.length, 0);
  state.room = 8;
  mock.timers.tick(100);
  assert.deepEqual(
    passed.filter((name) => name.startsWith('b')),
    [],
  );
  state.room = 100;
  mock.timers.tick(100);
  const order = passed.map((name) => name.slice(0, 1)).join('');
  assert.match(order, /^i{10,11}bi{10,11}b/);
});
