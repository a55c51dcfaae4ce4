import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import type { Lane } from '../../core/lane.ts';
import type { UpstreamLimits } from '../../core/snapshot.ts';
import { Baselines } from './auto-limit.ts';
import { Slots, type SlotWaiter } from './slots.ts';

const limits = { concurrency: 1, queue: 10_000, queueTimeoutMs: 3_600_000, bulkShare: 0.1 };

interface Some {
  readonly lane?: Lane;
  readonly project?: string;
  readonly key?: string;
  readonly work?: number;
}

/** Slots whose calls last until the test ends them, and the order in which waiting calls began. */
function setUp(more: Partial<UpstreamLimits> = {}) {
  const clock = createFakeClock();
  const slots = new Slots({ ...limits, ...more }, clock);
  const begun: string[] = [];
  const sentAway: string[] = [];
  function enter(name: string, { lane = 'interactive', project = 'p', key = 'k', work = 1 }: Some = {}): string {
    const waiter: SlotWaiter = {
      lane,
      project,
      key,
      work,
      entered: () => begun.push(name),
      timedOut: () => sentAway.push(name),
    };
    return slots.enter(waiter);
  }
  return { slots, clock, begun, sentAway, enter };
}

/** Ends the running call repeatedly, where each runs alone. */
function end(slots: Slots, times: number): void {
  for (let time = 0; time < times; time += 1) slots.leave(slots.bulkInFlight > 0 ? 'bulk' : 'interactive');
}

test('an interactive call goes before older bulk calls', () => {
  const { slots, begun, enter } = setUp();
  enter('first', { lane: 'bulk' });
  for (const name of ['b1', 'b2']) enter(name, { lane: 'bulk' });
  enter('i1');
  end(slots, 3);
  assert.deepEqual(begun, ['i1', 'b1', 'b2']);
});

test('the bulk lane gets exactly its configured share of slots while interactive calls wait', () => {
  const { slots, begun, enter } = setUp();
  enter('first');
  for (let count = 0; count < 200; count += 1) {
    enter(`i${count}`);
    enter(`b${count}`, { lane: 'bulk' });
  }
  end(slots, 100);
  const bulk = begun.filter((name) => name.startsWith('b')).length;
  assert.ok(bulk >= 9 && bulk <= 10, `${bulk} of 100`);
});

test('bulk leaves one slot free until ten seconds after the last interactive call, and then uses all', () => {
  const { slots, clock, enter } = setUp({ concurrency: 8 });
  assert.equal(enter('i'), 'entered');
  slots.leave('interactive');
  for (let count = 0; count < 7; count += 1) assert.equal(enter(`b${count}`, { lane: 'bulk' }), 'entered');
  assert.equal(enter('b7', { lane: 'bulk' }), 'waiting');
  assert.equal(enter('i'), 'entered', 'it waits for nobody');
  slots.leave('interactive');
  assert.equal(slots.bulkInFlight, 7);
  clock.advance(10_000);
  slots.leave('bulk');
  assert.equal(slots.bulkInFlight, 7);
  assert.equal(enter('b8', { lane: 'bulk' }), 'entered');
});

test('twenty keys with one call each go before the second call of a busy key', () => {
  const { slots, begun, enter } = setUp();
  enter('running', { key: 'hot' });
  for (let count = 0; count < 1_000; count += 1) enter(`hot ${count}`, { key: 'hot' });
  for (let count = 0; count < 20; count += 1) enter(`cold ${count}`, { key: `cold ${count}` });
  end(slots, 22);
  assert.equal(begun.slice(0, 21).filter((name) => name.startsWith('cold')).length, 20, begun.join());
});

test('projects get equal shares, however many keys each has', () => {
  const { slots, begun, enter } = setUp();
  enter('running');
  for (let count = 0; count < 100; count += 1) {
    enter(`many ${count}`, { project: 'many', key: `k${count % 10}` });
    enter(`one ${count}`, { project: 'one', key: 'k' });
  }
  end(slots, 100);
  const many = begun.filter((name) => name.startsWith('many')).length;
  assert.ok(many >= 49 && many <= 51, `${many} of 100`);
});

test('a key with larger calls gets fewer calls admitted than a key with small ones', () => {
  const { slots, begun, enter } = setUp();
  enter('running');
  for (let count = 0; count < 300; count += 1) {
    enter(`small ${count}`, { key: 'small', work: 10 });
    enter(`large ${count}`, { key: 'large', work: 500 });
  }
  end(slots, 204);
  const large = begun.filter((name) => name.startsWith('large')).length;
  assert.ok(large >= 3 && large <= 5, `${large} of 204`);
});

test('a key that sends calls in bursts gets no more than a key that always has calls waiting', () => {
  const { slots, begun, enter } = setUp();
  enter('running');
  for (let count = 0; count < 10; count += 1) enter(`steady ${count}`, { key: 'steady' });
  for (let round = 0; round < 5; round += 1) {
    enter(`bursty ${round}`, { key: 'bursty', work: 3 });
    end(slots, 2);
  }
  const steady = begun.filter((name) => name.startsWith('steady')).length;
  assert.ok(steady >= 6, `${steady} of ${begun.length}`);
});

test("a full queue of one key's calls admits another key's call and drops the first key's last one", () => {
  const { slots, sentAway, enter } = setUp({ queue: 3 });
  enter('running');
  for (const name of ['h1', 'h2', 'h3']) enter(name, { key: 'hot' });
  assert.equal(enter('h4', { key: 'hot' }), 'full');
  assert.equal(enter('c1', { key: 'cold' }), 'waiting');
  assert.deepEqual(sentAway, ['h3']);
  assert.equal(enter('c2', { key: 'cold' }), 'full', 'it has as many as the other then');
  assert.equal(slots.waiting, 3);
});

test('a full queue of bulk calls does not prevent interactive calls from waiting', () => {
  const { enter } = setUp({ queue: 2 });
  enter('running');
  for (const name of ['b1', 'b2']) assert.equal(enter(name, { lane: 'bulk' }), 'waiting');
  assert.equal(enter('b3', { lane: 'bulk' }), 'full');
  assert.equal(enter('i1'), 'waiting');
});

test('a bulk call waiting for the slot reserved for interactive calls gets it after 10 s without such calls', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { slots, clock, begun, enter } = setUp({ concurrency: 8 });
  enter('i');
  slots.leave('interactive');
  for (let count = 0; count < 8; count += 1) enter(`b${count}`, { lane: 'bulk' });
  assert.deepEqual(begun, []);
  clock.advance(10_000);
  t.mock.timers.tick(10_000);
  assert.deepEqual(begun, ['b7']);
});

type Step =
  | { readonly kind: 'enter'; readonly lane: Lane; readonly key: number; readonly work: number }
  | { readonly kind: 'leave'; readonly which: number }
  | { readonly kind: 'withdraw'; readonly which: number }
  | { readonly kind: 'pass'; readonly ms: number };

const lane = fc.constantFrom<Lane>('interactive', 'bulk');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('enter' as const),
      lane,
      key: fc.nat(4),
      work: fc.integer({ min: 1, max: 50 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('leave' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 8_000 }) }) },
);

interface Waiting extends SlotWaiter {
  readonly number: number;
}

test('in any order of events limits hold, no slot idles while calls wait, keys stay in order, and no call is lost', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 150, size: 'max' }), (most, steps) => {
      const clock = createFakeClock();
      const slots = new Slots({ ...limits, concurrency: most }, clock);
      const running: Lane[] = [];
      const waiting = new Map<number, Waiting>();
      let count = 0;
      const newest = new Map<string, number>();
      const began = ({ number, lane: in_, key }: Waiting): void => {
        const flow = `${in_} ${key}`;
        assert.ok((newest.get(flow) ?? 0) < number, 'in the order in which they came');
        newest.set(flow, number);
        assert.ok(waiting.delete(number), 'once, and not after it withdrew');
        running.push(in_);
      };
      const check = (): void => {
        assert.equal(slots.inFlight, running.length);
        assert.ok(slots.inFlight <= most);
        assert.equal(slots.waiting, waiting.size);
        if (slots.waitingIn('interactive') > 0) assert.equal(slots.inFlight, most);
        if (slots.waitingIn('bulk') > 0 && running.length < most) {
          assert.ok(running.length >= most - Math.ceil(most / 16), 'all but what is reserved');
        }
      };
      for (const each of steps) {
        if (each.kind === 'enter') {
          count += 1;
          const number = count;
          const waiter: Waiting = {
            number,
            lane: each.lane,
            project: `p${each.key % 2}`,
            key: `k${each.key}`,
            work: each.work,
            entered: () => began(waiter),
            timedOut: assert.fail,
          };
          waiting.set(number, waiter);
          if (slots.enter(waiter) === 'entered') {
            waiting.delete(number);
            running.push(each.lane);
          }
        } else if (each.kind === 'leave') {
          const [ended] = running.splice(each.which % Math.max(1, running.length), 1);
          if (ended !== undefined) slots.leave(ended);
        } else if (each.kind === 'withdraw') {
          const leaver = [...waiting.values()][each.which];
          if (leaver === undefined) continue;
          waiting.delete(leaver.number);
          slots.withdraw(leaver);
        } else clock.advance(each.ms);
        check();
      }
      for (let ended = running.pop(); ended !== undefined; ended = running.pop()) {
        slots.leave(ended);
        check();
      }
      assert.deepEqual([slots.inFlight, slots.waiting, slots.bulkInFlight], [0, 0, 0]);
    }),
    { numRuns: 400 },
  );
});

test('reports the keys with the most waiting calls, per lane', () => {
  const { slots, enter } = setUp();
  enter('runs');
  for (let count = 0; count < 5; count += 1) enter(`a${count}`, { key: 'a' });
  for (let count = 0; count < 2; count += 1) enter(`b${count}`, { key: 'b', project: 'q' });
  for (let key = 0; key < 9; key += 1) enter(`c${key}`, { key: `c${key}`, lane: 'bulk' });
  assert.deepEqual(slots.longestIn('interactive'), [
    { key: 'a', waiting: 5 },
    { key: 'b', waiting: 2 },
  ]);
  assert.equal(slots.longestIn('bulk').length, 5);
});

test('calls beyond a learned concurrency limit wait, and start as the limit grows up to its maximum', () => {
  const { slots, clock, begun, enter } = setUp({ concurrency: 12, auto: { min: 2 } });
  const baselines = new Baselines();
  for (let count = 0; count < 40; count += 1) enter(`i${count}`);
  assert.equal(slots.inFlight, 4);
  for (let round = 0; round < 40; round += 1) {
    clock.advance(300);
    const { auto } = slots;
    assert.ok(auto !== undefined);
    for (let left = slots.inFlight; left > 0; left -= 1) {
      slots.served(auto, baselines, 1, 100);
      slots.leave('interactive');
      enter(`further ${round} ${left}`);
      assert.ok(slots.inFlight <= 12);
    }
  }
  assert.equal(slots.inFlight, 12);
  assert.ok(begun.length > 40);
});

test('a learned concurrency limit survives a reload, and is dropped when its setting is removed', () => {
  const { slots } = setUp({ concurrency: 12, auto: { min: 2 } });
  const { auto } = slots;
  slots.configure({ ...limits, concurrency: 12, auto: { min: 2 }, queue: 5 });
  assert.equal(slots.auto, auto);
  slots.configure({ ...limits, concurrency: 12 });
  assert.deepEqual([slots.auto, slots.held], [undefined, 12]);
});
