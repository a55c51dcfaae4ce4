import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { promotedBytes } from '../../test/support/time/promoted.ts';
import type { MemoryLease } from '../core/memory-lease.ts';
import { BodyBudget, type LeaseWaiter, smallBytes } from './body-budget.ts';

const MiB = 1024 ** 2;

/** 16 MiB a key, 60 MiB for bodies that are not small; the longest body is 32 MiB. */
const stage = () => new BodyBudget({ totalBytes: 64 * MiB, largestBytes: 32 * MiB });

function lease(found: MemoryLease | undefined): MemoryLease {
  assert.ok(found !== undefined, 'there is room');
  return found;
}

function waiterFor(key: string, bytes: number, entered: (lease: MemoryLease) => void = () => undefined): LeaseWaiter {
  return { key, bytes, entered };
}

test('a key holds at most a quarter of the memory, plus one larger body', () => {
  const budget = stage();
  const first = lease(budget.take('a', 10 * MiB));
  assert.equal(budget.take('a', 7 * MiB), undefined);
  lease(budget.take('a', 6 * MiB));
  const long = lease(budget.take('a', 32 * MiB));
  assert.equal(budget.take('a', 17 * MiB), undefined);
  assert.equal(budget.heldBy('a'), 48 * MiB);
  lease(budget.take('b', 12 * MiB));
  assert.equal(budget.take('b', MiB), undefined, 'what is kept for small bodies is not for others');
  long.release();
  first.release();
  assert.equal(budget.heldBytes, 18 * MiB);
  lease(budget.take('a', 17 * MiB));
});

test("growing a body's memory follows the rules of taking it, and a refusal keeps what the body has", () => {
  const budget = stage();
  const growing = lease(budget.take('a', MiB));
  lease(budget.take('a', 8 * MiB));
  assert.equal(growing.growTo(8 * MiB), true);
  const other = lease(budget.take('b', 16 * MiB));
  assert.equal(growing.growTo(9 * MiB), true, 'one body of a key always goes on, beside its quarter');
  const second = lease(budget.take('a', 8 * MiB));
  assert.equal(second.growTo(9 * MiB), false);
  assert.equal(second.bytes, 8 * MiB);
  assert.equal(budget.outgrown, 1);
  second.release();
  other.release();
  assert.equal(growing.growTo(17 * MiB), true);
  assert.equal(growing.growTo(32 * MiB), true);
  assert.equal(growing.growTo(80 * MiB), true, 'it counts for no more than a body can come to');
  assert.equal(growing.bytes, 32 * MiB);
  growing.shrinkTo(2 * MiB);
  assert.equal(budget.heldBy('a'), 10 * MiB);
  assert.equal(budget.take('a', 7 * MiB), undefined);
  assert.equal(growing.growTo(7 * MiB), true, 'it does so again');
});

test('memory is released once, and a released lease cannot grow', () => {
  const budget = stage();
  const one = lease(budget.take('a', MiB));
  lease(budget.take('a', MiB));
  one.release();
  one.release();
  one.shrinkTo(0);
  assert.equal(one.growTo(2 * MiB), false);
  assert.equal(budget.heldBytes, MiB);
});

test('small bodies get memory that is reserved for them while larger bodies are refused', () => {
  const budget = stage();
  for (const key of ['a', 'b', 'c']) lease(budget.take(key, 16 * MiB));
  lease(budget.take('d', 12 * MiB));
  assert.equal(budget.take('e', MiB), undefined);
  lease(budget.take('e', smallBytes));
  lease(budget.take('a', smallBytes));
  let small = 0;
  while (budget.take('a', smallBytes) !== undefined) small += 1;
  assert.equal(small, 7, 'a key has a quarter of what is kept for them');
});

test('waiting bodies of one key get memory in order of arrival, and keys take turns', () => {
  const budget = stage();
  const holders = ['a', 'b', 'c'].map((key) => lease(budget.take(key, 16 * MiB)));
  const last = lease(budget.take('d', 12 * MiB));
  const order: string[] = [];
  const enters = (key: string, name: string, bytes = 4 * MiB) => waiterFor(key, bytes, () => order.push(name));
  for (const waiter of [
    enters('e', 'e1'),
    enters('e', 'e2'),
    enters('f', 'f1'),
    enters('e', 'e3'),
    enters('g', 'g1'),
  ]) {
    assert.equal(budget.wait(waiter), 'waiting');
  }
  assert.deepEqual(order, []);
  last.release();
  assert.deepEqual(order, ['e1', 'f1', 'g1']);
  assert.equal(budget.take('h', MiB), undefined, 'nobody is let in ahead of those who wait');
  holders[0]?.release();
  assert.deepEqual(order, ['e1', 'f1', 'g1', 'e2', 'e3']);
  assert.equal(budget.waiting, 0);
});

test("a request that waits for its own key's memory blocks no other key", () => {
  const budget = stage();
  const own = lease(budget.take('a', 16 * MiB));
  const order: string[] = [];
  budget.wait(waiterFor('a', 2 * MiB, () => order.push('a')));
  lease(budget.take('b', 2 * MiB));
  assert.equal(budget.take('a', MiB), undefined, 'but those of the same key');
  own.shrinkTo(8 * MiB);
  assert.deepEqual(order, ['a']);
});

test('a long waiting body is not overtaken, and others proceed when it withdraws', () => {
  const budget = stage();
  const held = ['a', 'b', 'c'].map((key) => lease(budget.take(key, 12 * MiB)));
  const order: string[] = [];
  const long = waiterFor('d', 32 * MiB, () => order.push('long'));
  budget.wait(long);
  assert.equal(budget.take('e', MiB), undefined);
  budget.wait(waiterFor('e', MiB, () => order.push('e')));
  held[0]?.release();
  assert.deepEqual(order, ['long', 'e']);
  const again = waiterFor('f', 32 * MiB, () => order.push('again'));
  budget.wait(again);
  budget.wait(waiterFor('g', MiB, () => order.push('g')));
  assert.deepEqual(order, ['long', 'e']);
  budget.withdraw(again);
  budget.withdraw(again);
  assert.deepEqual(order, ['long', 'e', 'g']);
});

test('limits the number of waiters, in total and per key', () => {
  const budget = stage();
  lease(budget.take('a', 16 * MiB));
  const ofOne = Array.from({ length: 65 }, () => budget.wait(waiterFor('a', MiB)));
  assert.equal(ofOne.filter((answer) => answer === 'waiting').length, 64);
  assert.equal(ofOne.at(-1), 'key-full');
  for (const key of ['b', 'c']) lease(budget.take(key, 16 * MiB));
  lease(budget.take('d', 12 * MiB));
  const others = Array.from({ length: 300 }, (_, no) => budget.wait(waiterFor(`k${no}`, MiB)));
  assert.equal(others.filter((answer) => answer === 'waiting').length, 256 - 64);
  assert.equal(others.at(-1), 'full');
});

test('changed limits apply to waiting bodies at once, and take no memory from bodies that have it', () => {
  const budget = stage();
  const held = lease(budget.take('a', 16 * MiB));
  const order: string[] = [];
  budget.wait(waiterFor('a', 8 * MiB, () => order.push('a')));
  budget.configure({ totalBytes: 128 * MiB, largestBytes: 32 * MiB });
  assert.deepEqual(order, ['a']);
  budget.configure({ totalBytes: 8 * MiB, largestBytes: 4 * MiB });
  assert.equal(budget.heldBytes, 24 * MiB);
  assert.equal(budget.take('b', MiB), undefined);
  held.release();
  assert.equal(budget.heldBytes, 8 * MiB);
});

type Step =
  | { readonly do: 'come'; readonly key: number; readonly kib: number }
  | { readonly do: 'grow' | 'shrink'; readonly which: number; readonly kib: number }
  | { readonly do: 'release' | 'leave'; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('come' as const), key: fc.nat(5), kib: fc.nat(32 * 1024) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('grow' as const, 'shrink' as const),
      which: fc.nat(99),
      kib: fc.nat(32 * 1024),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'leave' as const), which: fc.nat(99) }) },
);

test('in any order of events the memory limit holds, no waiter is lost, and all memory returns', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (story: readonly Step[]) => {
      const budget = stage();
      const leases: { readonly key: string; readonly lease: MemoryLease }[] = [];
      const waiters: LeaseWaiter[] = [];
      const keep = (key: string, found: MemoryLease): void => void leases.push({ key, lease: found });
      const pick = <T>(list: readonly T[], which: number): T | undefined => list[which % Math.max(1, list.length)];
      for (const one of story) {
        if (one.do === 'come') {
          const key = `k${one.key}`;
          const bytes = one.kib * 1024;
          const found = budget.take(key, bytes);
          const waiter = waiterFor(key, bytes, (entered) => {
            waiters.splice(waiters.indexOf(waiter), 1);
            keep(key, entered);
          });
          if (found !== undefined) keep(key, found);
          else {
            waiters.push(waiter);
            if (budget.wait(waiter) !== 'waiting') waiters.splice(waiters.indexOf(waiter), 1);
          }
        } else if (one.do === 'leave') {
          const waiter = pick(waiters, one.which);
          if (waiter !== undefined) {
            waiters.splice(waiters.indexOf(waiter), 1);
            budget.withdraw(waiter);
          }
        } else {
          const picked = pick(leases, one.which)?.lease;
          if (one.do === 'grow') picked?.growTo(one.kib * 1024);
          else if (one.do === 'shrink') picked?.shrinkTo(one.kib * 1024);
          else picked?.release();
          if (one.do === 'release' && picked !== undefined) {
            leases.splice(
              leases.findIndex(({ lease }) => lease === picked),
              1,
            );
          }
        }
        const held = leases.reduce((sum, { lease }) => sum + lease.bytes, 0);
        assert.equal(budget.heldBytes, held);
        assert.equal(budget.waiting, waiters.length);
        assert.ok(held <= 64 * MiB);
        for (const key of new Set(leases.map((entry) => entry.key))) {
          const own = leases.filter((entry) => entry.key === key).map(({ lease }) => lease.bytes);
          const besideTheLongest = own.reduce((sum, bytes) => sum + bytes, 0) - Math.max(...own);
          assert.ok(besideTheLongest <= 17 * MiB);
        }
      }
      while (leases.length > 0 || waiters.length > 0) {
        const next = leases.shift();
        assert.ok(next !== undefined, 'somebody waits although nobody holds anything');
        next.lease.release();
      }
      assert.equal(budget.heldBytes, 0);
      assert.equal(budget.heldBy('k0'), 0);
    }),
    { numRuns: 200 },
  );
});

test('keys that come and go leave no memory behind', () => {
  const budget = stage();
  const leases: MemoryLease[] = [];
  const bytes = promotedBytes((index) => {
    leases.push(lease(budget.take(`key-${index % 200}`, 1_000)));
    if (leases.length > 64) leases.shift()?.release();
  });
  assert.ok(bytes < 500_000, `${bytes} bytes were kept of what 20,000 bodies held`);
});
