import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import { Slots, type SlotWaiter } from './slots.ts';

const call = { lane: 'interactive', project: 'a project', key: 'a key', work: 1 } as const;
const limits = { concurrency: 2, queue: 3, queueTimeoutMs: 100, bulkShare: 0.1 };

/** Slots with a controlled clock, and a record of the waiters' events. */
function setUp(more: Partial<typeof limits> = {}) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const slots = new Slots({ ...limits, ...more }, clock);
  const events: string[] = [];
  const waiter = (name: string): SlotWaiter => ({
    ...call,
    entered: () => events.push(`${name} entered`),
    timedOut: () => events.push(`${name} timed out`),
  });
  function pass(ms: number): void {
    for (let i = 0; i < ms; i += 1) {
      clock.advance(1);
      mock.timers.tick(1);
    }
  }
  return { slots, events, waiter, pass };
}

function setUpFor(t: TestContext, more: Partial<typeof limits> = {}) {
  t.after(() => mock.timers.reset());
  return setUp(more);
}

test('admits calls up to the concurrency limit, and counts those in flight', (t) => {
  const { slots } = setUpFor(t);
  assert.deepEqual(
    [slots.tryEnter('interactive'), slots.tryEnter('interactive'), slots.tryEnter('interactive')],
    [true, true, false],
  );
  assert.equal(slots.inFlight, 2);
  slots.leave('interactive');
  assert.equal(slots.tryEnter('interactive'), true);
});

test('a call that finds a free slot enters at once, without a callback', (t) => {
  const { slots, events, waiter } = setUpFor(t);
  assert.equal(slots.enter(waiter('a')), 'entered');
  assert.equal(slots.inFlight, 1);
  assert.deepEqual(events, []);
});

test('waiting calls get a slot in order of arrival, one per released slot', (t) => {
  const { slots, events, waiter } = setUpFor(t, { concurrency: 1 });
  slots.tryEnter('interactive');
  for (const name of ['a', 'b', 'c']) assert.equal(slots.enter(waiter(name)), 'waiting');
  slots.leave('interactive');
  assert.deepEqual(events, ['a entered']);
  slots.leave('interactive');
  assert.deepEqual(events, ['a entered', 'b entered']);
  assert.equal(slots.inFlight, 1);
  assert.equal(slots.waiting, 1);
});

test('a full queue refuses further calls, and a queue of length zero refuses every call', (t) => {
  const { slots, waiter } = setUpFor(t, { concurrency: 1, queue: 1 });
  slots.tryEnter('interactive');
  assert.equal(slots.hasRoom(call), true);
  assert.equal(slots.enter(waiter('a')), 'waiting');
  assert.equal(slots.hasRoom(call), false);
  assert.equal(slots.enter(waiter('b')), 'full');
  const strict = new Slots({ ...limits, concurrency: 1, queue: 0 });
  assert.equal(strict.enter(waiter('c')), 'entered');
  assert.equal(strict.hasRoom(call), false);
  assert.equal(strict.enter(waiter('d')), 'full');
});

test('a call that waited too long for a slot times out, and a later call still gets the next slot', (t) => {
  const { slots, events, waiter, pass } = setUpFor(t, { concurrency: 1 });
  slots.tryEnter('interactive');
  slots.enter(waiter('a'));
  pass(60);
  slots.enter(waiter('b'));
  pass(39);
  assert.deepEqual(events, []);
  pass(1);
  assert.deepEqual(events, ['a timed out']);
  pass(59);
  slots.leave('interactive');
  pass(1_000);
  assert.deepEqual(events, ['a timed out', 'b entered']);
});

test("each call's timeout counts from its own arrival", (t) => {
  const { slots, events, waiter, pass } = setUpFor(t, { concurrency: 1 });
  const first = waiter('a');
  slots.tryEnter('interactive');
  slots.enter(first);
  pass(70);
  slots.withdraw(first);
  slots.enter(waiter('b'));
  pass(99);
  assert.deepEqual(events, []);
  pass(1);
  assert.deepEqual(events, ['b timed out']);
});

test('a withdrawn call gets no callback and blocks no other', (t) => {
  const { slots, events, waiter, pass } = setUpFor(t, { concurrency: 1 });
  const [a, b, c] = [waiter('a'), waiter('b'), waiter('c')];
  slots.tryEnter('interactive');
  for (const each of [a, b, c]) slots.enter(each);
  slots.withdraw(b);
  slots.withdraw(b);
  slots.withdraw(waiter('a stranger'));
  assert.equal(slots.waiting, 2);
  slots.leave('interactive');
  slots.leave('interactive');
  pass(1_000);
  assert.deepEqual(events, ['a entered', 'c entered']);
});

test('no call overtakes those waiting, even during a reconfiguration', (t) => {
  const { slots, events, waiter } = setUpFor(t, { concurrency: 1 });
  const passing: boolean[] = [];
  slots.tryEnter('interactive');
  slots.enter({ ...call, entered: () => passing.push(slots.tryEnter('interactive')), timedOut: assert.fail });
  slots.enter(waiter('b'));
  slots.configure({ ...limits, concurrency: 3 });
  assert.deepEqual(passing, [false]);
  assert.deepEqual(events, ['b entered']);
});

test('a hundred thousand waiting calls that each end at once get their slots without recursion', (t) => {
  const queue = 100_000;
  const { slots } = setUpFor(t, { concurrency: 1, queue });
  slots.tryEnter('interactive');
  let entered = 0;
  const hasty: SlotWaiter = {
    ...call,
    entered() {
      entered += 1;
      slots.leave('interactive');
    },
    timedOut: assert.fail,
  };
  for (let i = 0; i < queue; i += 1) slots.enter({ ...hasty });
  slots.leave('interactive');
  assert.deepEqual([entered, slots.inFlight, slots.waiting], [queue, 0, 0]);
});

test('a raised limit admits waiters at once, a lowered one applies as slots are released', (t) => {
  const { slots, events, waiter } = setUpFor(t, { concurrency: 1 });
  slots.tryEnter('interactive');
  for (const name of ['a', 'b', 'c']) slots.enter(waiter(name));
  slots.configure({ ...limits, concurrency: 3 });
  assert.deepEqual(events, ['a entered', 'b entered']);
  slots.configure({ ...limits, concurrency: 1 });
  slots.leave('interactive');
  slots.leave('interactive');
  assert.deepEqual(events, ['a entered', 'b entered']);
  slots.leave('interactive');
  assert.deepEqual(events, ['a entered', 'b entered', 'c entered']);
});

test('a reload with a shorter queue drops no waiting call', (t) => {
  const { slots, events, waiter } = setUpFor(t, { concurrency: 1 });
  slots.tryEnter('interactive');
  for (const name of ['a', 'b']) slots.enter(waiter(name));
  slots.configure({ ...limits, concurrency: 1, queue: 1 });
  assert.equal(slots.enter(waiter('c')), 'full');
  slots.leave('interactive');
  slots.leave('interactive');
  assert.deepEqual(events, ['a entered', 'b entered']);
});

test('a changed timeout applies to waiting calls from their arrival', (t) => {
  const { slots, events, waiter, pass } = setUpFor(t, { concurrency: 1 });
  slots.tryEnter('interactive');
  slots.enter(waiter('a'));
  pass(30);
  slots.configure({ ...limits, concurrency: 1, queueTimeoutMs: 50, bulkShare: 0.1 });
  pass(19);
  assert.deepEqual(events, []);
  pass(1);
  assert.deepEqual(events, ['a timed out']);
  slots.enter(waiter('b'));
  pass(40);
  slots.configure({ ...limits, concurrency: 1, queueTimeoutMs: 20, bulkShare: 0.1 });
  pass(1);
  assert.deepEqual(events, ['a timed out', 'b timed out']);
});

test('with slots shared between processes, calls enter only as slots are obtained, up to the limit', (t) => {
  t.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  const events: string[] = [];
  const slots = new Slots(limits, createFakeClock(), () => (asked += 1));
  const waiter = (name: string): SlotWaiter => ({
    ...call,
    entered: () => events.push(`${name} entered`),
    timedOut: () => events.push(`${name} timed out`),
  });
  for (const name of ['a', 'b', 'c', 'd', 'e']) assert.equal(slots.enter(waiter(name)), 'waiting');
  assert.equal(slots.enter(waiter('f')), 'full', 'two may come to be free, and three may wait');
  assert.deepEqual([asked, slots.isShort, slots.peak], [5, true, 5]);
  slots.hold(1, false);
  assert.deepEqual(events, ['a entered']);
  slots.hold(7, false);
  assert.deepEqual([events.length, slots.held, slots.inFlight], [2, 2, 2]);
  assert.equal(slots.recentPeak(), 5);
  slots.hold(0, true);
  assert.deepEqual([slots.held, slots.inFlight, slots.waiting], [0, 2, 3], 'who is in stays');
});

test('when other processes can give no slots, waiting calls beyond the queue length are dropped', (t) => {
  t.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout'] });
  const events: string[] = [];
  const slots = new Slots({ ...limits, queue: 1 }, createFakeClock(), () => undefined);
  for (const name of ['a', 'b', 'c']) {
    slots.enter({
      ...call,
      entered: () => events.push(`${name} entered`),
      timedOut: () => events.push(`${name} timed out`),
    });
  }
  slots.hold(1, true);
  assert.deepEqual(events, ['a entered', 'c timed out']);
});

test('the queue timeout also works with the real clock', async () => {
  const slots = new Slots({ concurrency: 1, queue: 1, queueTimeoutMs: 20, bulkShare: 0.1 });
  slots.tryEnter('interactive');
  const sinceMs = performance.now();
  const waitedMs = await new Promise<number>((resolve, reject) => {
    // The queue's own timer keeps no process alive.
    const tooLong = setTimeout(reject, 10_000, new Error('no event came'));
    slots.enter({
      ...call,
      entered: reject,
      timedOut() {
        clearTimeout(tooLong);
        resolve(performance.now() - sinceMs);
      },
    });
  });
  assert.ok(waitedMs >= 20, `${waitedMs} ms`);
});

type Step =
  | { readonly kind: 'try' | 'enter' | 'leave' }
  | { readonly kind: 'withdraw'; readonly which: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | {
      readonly kind: 'configure';
      readonly concurrency: number;
      readonly queue: number;
      readonly queueTimeoutMs: number;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ kind: 'try' as const }) },
  { weight: 6, arbitrary: fc.constant({ kind: 'enter' as const }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'leave' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), which: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 15 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('configure' as const),
      concurrency: fc.integer({ min: 1, max: 4 }),
      queue: fc.nat(6),
      queueTimeoutMs: fc.integer({ min: 1, max: 20 }),
    }),
  },
);

/** The expected behaviour of `Slots`, with a plain array, checking every waiter each millisecond. */
class Model {
  limits = { ...limits, queueTimeoutMs: 10 };
  inFlight = 0;
  nowMs = 0;
  line: { readonly name: string; readonly sinceMs: number }[] = [];
  readonly events: string[] = [];

  enter(name: string): string {
    if (this.tryEnter()) return 'entered';
    if (this.line.length >= this.limits.queue) return 'full';
    this.line.push({ name, sinceMs: this.nowMs });
    return 'waiting';
  }

  tryEnter(): boolean {
    if (this.line.length > 0 || this.inFlight >= this.limits.concurrency) return false;
    this.inFlight += 1;
    return true;
  }

  admit(): void {
    while (this.inFlight < this.limits.concurrency) {
      const next = this.line.shift();
      if (next === undefined) return;
      this.inFlight += 1;
      this.events.push(`${next.name} entered`);
    }
  }

  pass(ms: number): void {
    for (let i = 0; i < ms; i += 1) {
      this.nowMs += 1;
      const isLate = ({ sinceMs }: { readonly sinceMs: number }) => this.nowMs - sinceMs >= this.limits.queueTimeoutMs;
      for (const { name } of this.line.filter(isLate)) this.events.push(`${name} timed out`);
      this.line = this.line.filter((each) => !isLate(each));
    }
  }
}

test('behaves like a simple queue model: never over the limit, first in first out, no call lost or repeated', (t) => {
  t.after(() => mock.timers.reset());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      mock.timers.reset();
      const model = new Model();
      const { slots, events, waiter, pass } = setUp(model.limits);
      const waiters = new Map<string, SlotWaiter>();
      let count = 0;
      for (const each of steps) {
        switch (each.kind) {
          case 'try':
            assert.equal(slots.tryEnter('interactive'), model.tryEnter());
            break;
          case 'enter': {
            count += 1;
            const name = String(count);
            const newcomer = waiter(name);
            waiters.set(name, newcomer);
            assert.equal(
              slots.hasRoom(newcomer),
              model.line.length < model.limits.queue || slots.isFree('interactive'),
            );
            assert.equal(slots.enter(newcomer), model.enter(name));
            break;
          }
          case 'leave':
            if (model.inFlight === 0) break;
            model.inFlight -= 1;
            model.admit();
            slots.leave('interactive');
            break;
          case 'withdraw': {
            const leaver = model.line[each.which];
            const known = leaver === undefined ? undefined : waiters.get(leaver.name);
            if (known === undefined) break;
            model.line = model.line.filter((other) => other !== leaver);
            slots.withdraw(known);
            break;
          }
          case 'pass':
            model.pass(each.ms);
            pass(each.ms);
            break;
          case 'configure': {
            const { kind: _, ...written } = each;
            const changed = { ...limits, ...written };
            model.limits = changed;
            model.admit();
            slots.configure(changed);
            // A waiter whose time is up under the new limit gets its event with the next tick.
            model.pass(1);
            pass(1);
            break;
          }
        }
        assert.deepEqual(events, model.events);
        assert.deepEqual([slots.inFlight, slots.waiting], [model.inFlight, model.line.length]);
      }
      pass(1_000);
      assert.equal(slots.waiting, 0);
      assert.equal(new Set(events.map((line) => line.split(' ')[0])).size, events.length);
    }),
    { numRuns: 300 },
  );
});
