import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import { type PlaceSeeker, Places } from './places.ts';

const limits = { concurrency: 2, queue: 3, queueTimeoutMs: 100 };

/** Places whose time goes on as the test says, and a journal of what the waiters were told. */
function setUp(more: Partial<typeof limits> = {}) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const places = new Places({ ...limits, ...more }, clock);
  const told: string[] = [];
  const waiter = (name: string): PlaceSeeker => ({
    entered: () => told.push(`${name} entered`),
    timedOut: () => told.push(`${name} timed out`),
  });
  function pass(ms: number): void {
    for (let i = 0; i < ms; i += 1) {
      clock.advance(1);
      mock.timers.tick(1);
    }
  }
  return { places, told, waiter, pass };
}

function setUpFor(t: TestContext, more: Partial<typeof limits> = {}) {
  t.after(() => mock.timers.reset());
  return setUp(more);
}

test('lets in up to the limit, and counts who is in', (t) => {
  const { places } = setUpFor(t);
  assert.deepEqual([places.tryEnter(), places.tryEnter(), places.tryEnter()], [true, true, false]);
  assert.equal(places.inFlight, 2);
  places.leave();
  assert.equal(places.tryEnter(), true);
});

test('one who finds a place enters at once, and is told nothing', (t) => {
  const { places, told, waiter } = setUpFor(t);
  assert.equal(places.enter(waiter('a')), 'entered');
  assert.equal(places.inFlight, 1);
  assert.deepEqual(told, []);
});

test('those who wait enter in the order in which they came, one for each who leaves', (t) => {
  const { places, told, waiter } = setUpFor(t, { concurrency: 1 });
  places.tryEnter();
  for (const name of ['a', 'b', 'c']) assert.equal(places.enter(waiter(name)), 'waiting');
  places.leave();
  assert.deepEqual(told, ['a entered']);
  places.leave();
  assert.deepEqual(told, ['a entered', 'b entered']);
  assert.equal(places.inFlight, 1);
  assert.equal(places.waiting, 1);
});

test('a queue that is full takes nobody, and one of length nothing never does', (t) => {
  const { places, waiter } = setUpFor(t, { concurrency: 1, queue: 1 });
  places.tryEnter();
  assert.equal(places.hasRoom, true);
  assert.equal(places.enter(waiter('a')), 'waiting');
  assert.equal(places.hasRoom, false);
  assert.equal(places.enter(waiter('b')), 'full');
  const strict = new Places({ ...limits, concurrency: 1, queue: 0 });
  assert.equal(strict.enter(waiter('c')), 'entered');
  assert.equal(strict.hasRoom, false);
  assert.equal(strict.enter(waiter('d')), 'full');
});

test('one who waited too long is told so and never enters; one who came later still waits', (t) => {
  const { places, told, waiter, pass } = setUpFor(t, { concurrency: 1 });
  places.tryEnter();
  places.enter(waiter('a'));
  pass(60);
  places.enter(waiter('b'));
  pass(39);
  assert.deepEqual(told, []);
  pass(1);
  assert.deepEqual(told, ['a timed out']);
  pass(59);
  places.leave();
  pass(1_000);
  assert.deepEqual(told, ['a timed out', 'b entered']);
});

test('the time of one who follows another is counted from its own coming', (t) => {
  const { places, told, waiter, pass } = setUpFor(t, { concurrency: 1 });
  const first = waiter('a');
  places.tryEnter();
  places.enter(first);
  pass(70);
  places.withdraw(first);
  places.enter(waiter('b'));
  pass(99);
  assert.deepEqual(told, []);
  pass(1);
  assert.deepEqual(told, ['b timed out']);
});

test('one who withdraws is told nothing more and holds up nobody', (t) => {
  const { places, told, waiter, pass } = setUpFor(t, { concurrency: 1 });
  const [a, b, c] = [waiter('a'), waiter('b'), waiter('c')];
  places.tryEnter();
  for (const each of [a, b, c]) places.enter(each);
  places.withdraw(b);
  places.withdraw(b);
  places.withdraw(waiter('a stranger'));
  assert.equal(places.waiting, 2);
  places.leave();
  places.leave();
  pass(1_000);
  assert.deepEqual(told, ['a entered', 'c entered']);
});

test('nobody passes by those who wait, not even in the midst of a change', (t) => {
  const { places, told, waiter } = setUpFor(t, { concurrency: 1 });
  const passing: boolean[] = [];
  places.tryEnter();
  places.enter({ entered: () => passing.push(places.tryEnter()), timedOut: assert.fail });
  places.enter(waiter('b'));
  places.configure({ ...limits, concurrency: 3 });
  assert.deepEqual(passing, [false]);
  assert.deepEqual(told, ['b entered']);
});

test('any number of waiters that leave as soon as they enter are let in without nesting', (t) => {
  const queue = 100_000;
  const { places } = setUpFor(t, { concurrency: 1, queue });
  places.tryEnter();
  let entered = 0;
  const hasty: PlaceSeeker = {
    entered() {
      entered += 1;
      places.leave();
    },
    timedOut: assert.fail,
  };
  for (let i = 0; i < queue; i += 1) places.enter({ ...hasty });
  places.leave();
  assert.deepEqual([entered, places.inFlight, places.waiting], [queue, 0, 0]);
});

test('a raised limit lets waiters in at once, a lowered one counts as places are given back', (t) => {
  const { places, told, waiter } = setUpFor(t, { concurrency: 1 });
  places.tryEnter();
  for (const name of ['a', 'b', 'c']) places.enter(waiter(name));
  places.configure({ ...limits, concurrency: 3 });
  assert.deepEqual(told, ['a entered', 'b entered']);
  places.configure({ ...limits, concurrency: 1 });
  places.leave();
  places.leave();
  assert.deepEqual(told, ['a entered', 'b entered']);
  places.leave();
  assert.deepEqual(told, ['a entered', 'b entered', 'c entered']);
});

test('a shorter queue sends nobody away who waits', (t) => {
  const { places, told, waiter } = setUpFor(t, { concurrency: 1 });
  places.tryEnter();
  for (const name of ['a', 'b']) places.enter(waiter(name));
  places.configure({ ...limits, concurrency: 1, queue: 1 });
  assert.equal(places.enter(waiter('c')), 'full');
  places.leave();
  places.leave();
  assert.deepEqual(told, ['a entered', 'b entered']);
});

test('another time limit counts for those who wait, from when they came', (t) => {
  const { places, told, waiter, pass } = setUpFor(t, { concurrency: 1 });
  places.tryEnter();
  places.enter(waiter('a'));
  pass(30);
  places.configure({ ...limits, concurrency: 1, queueTimeoutMs: 50 });
  pass(19);
  assert.deepEqual(told, []);
  pass(1);
  assert.deepEqual(told, ['a timed out']);
  places.enter(waiter('b'));
  pass(40);
  places.configure({ ...limits, concurrency: 1, queueTimeoutMs: 20 });
  pass(1);
  assert.deepEqual(told, ['a timed out', 'b timed out']);
});

test('where processes share the places, it begins with none, and more are let in as it holds more, up to the limit', (t) => {
  t.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  const told: string[] = [];
  const places = new Places(limits, createFakeClock(), () => (asked += 1));
  const waiter = (name: string): PlaceSeeker => ({
    entered: () => told.push(`${name} entered`),
    timedOut: () => told.push(`${name} timed out`),
  });
  for (const name of ['a', 'b', 'c', 'd', 'e']) assert.equal(places.enter(waiter(name)), 'waiting');
  assert.equal(places.enter(waiter('f')), 'full', 'two may come to be free, and three may wait');
  assert.deepEqual([asked, places.isShort, places.peak], [5, true, 5]);
  places.hold(1, false);
  assert.deepEqual(told, ['a entered']);
  places.hold(7, false);
  assert.deepEqual([told.length, places.held, places.inFlight], [2, 2, 2]);
  assert.equal(places.turnPeak(), 5);
  places.hold(0, true);
  assert.deepEqual([places.held, places.inFlight, places.waiting], [0, 2, 3], 'who is in stays');
});

test('who was let in for places that others had to spare is sent away when they have none', (t) => {
  t.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout'] });
  const told: string[] = [];
  const places = new Places({ ...limits, queue: 1 }, createFakeClock(), () => undefined);
  for (const name of ['a', 'b', 'c']) {
    places.enter({ entered: () => told.push(`${name} entered`), timedOut: () => told.push(`${name} timed out`) });
  }
  places.hold(1, true);
  assert.deepEqual(told, ['a entered', 'c timed out']);
});

test('the time limit holds on the real clock', async () => {
  const places = new Places({ concurrency: 1, queue: 1, queueTimeoutMs: 20 });
  places.tryEnter();
  const sinceMs = performance.now();
  const waitedMs = await new Promise<number>((resolve, reject) => {
    // The queue's own timer keeps no process alive.
    const tooLong = setTimeout(reject, 10_000, new Error('nobody was told'));
    places.enter({
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

/** What `Places` has to do, with a plain array and a look at every waiter each millisecond. */
class Model {
  limits = { ...limits, queueTimeoutMs: 10 };
  inFlight = 0;
  nowMs = 0;
  line: { readonly name: string; readonly sinceMs: number }[] = [];
  readonly told: string[] = [];

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
      this.told.push(`${next.name} entered`);
    }
  }

  pass(ms: number): void {
    for (let i = 0; i < ms; i += 1) {
      this.nowMs += 1;
      const isLate = ({ sinceMs }: { readonly sinceMs: number }) => this.nowMs - sinceMs >= this.limits.queueTimeoutMs;
      for (const { name } of this.line.filter(isLate)) this.told.push(`${name} timed out`);
      this.line = this.line.filter((each) => !isLate(each));
    }
  }
}

test('does what a plain model does: never too many, first in first out, nobody lost and nobody twice', (t) => {
  t.after(() => mock.timers.reset());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      mock.timers.reset();
      const model = new Model();
      const { places, told, waiter, pass } = setUp(model.limits);
      const waiters = new Map<string, PlaceSeeker>();
      let count = 0;
      for (const each of steps) {
        switch (each.kind) {
          case 'try':
            assert.equal(places.tryEnter(), model.tryEnter());
            break;
          case 'enter': {
            count += 1;
            const name = String(count);
            const newcomer = waiter(name);
            waiters.set(name, newcomer);
            assert.equal(places.hasRoom, model.line.length < model.limits.queue || places.isFree);
            assert.equal(places.enter(newcomer), model.enter(name));
            break;
          }
          case 'leave':
            if (model.inFlight === 0) break;
            model.inFlight -= 1;
            model.admit();
            places.leave();
            break;
          case 'withdraw': {
            const leaver = model.line[each.which];
            const known = leaver === undefined ? undefined : waiters.get(leaver.name);
            if (known === undefined) break;
            model.line = model.line.filter((other) => other !== leaver);
            places.withdraw(known);
            break;
          }
          case 'pass':
            model.pass(each.ms);
            pass(each.ms);
            break;
          case 'configure': {
            const { kind: _, ...changed } = each;
            model.limits = changed;
            model.admit();
            places.configure(changed);
            // One whose time is up by the new limit is told so with the next tick.
            model.pass(1);
            pass(1);
            break;
          }
        }
        assert.deepEqual(told, model.told);
        assert.deepEqual([places.inFlight, places.waiting], [model.inFlight, model.line.length]);
      }
      pass(1_000);
      assert.equal(places.waiting, 0);
      assert.equal(new Set(told.map((line) => line.split(' ')[0])).size, told.length);
    }),
    { numRuns: 300 },
  );
});
