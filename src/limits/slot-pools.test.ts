import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { patientMs } from '../../test/support/time/patience.ts';
import type { SlotArbiter } from '../core/slots.ts';
import { SharedSlots } from '../upstream/slots/shared-slots.ts';
import { Slots } from '../upstream/slots/slots.ts';
import { SlotPools } from './limit-server.ts';

const someCall = { lane: 'interactive', project: 'a project', key: 'a key', work: 1 } as const;
const limits = { concurrency: 8, queue: 100, queueTimeoutMs: 60_000, bulkShare: 0.1 };

/** Processes at one upstream, each with an arbiter that answers a moment later. */
function startParent(t: TestContext, nodes: number, most = limits.concurrency, queue = limits.queue) {
  const pools = new SlotPools();
  let isThere = true;
  const all = Array.from({ length: nodes }, (_, node) => {
    const arbiter: SlotArbiter = {
      get isThere() {
        return isThere;
      },
      nodes,
      async claim(claims) {
        await wait(1);
        return claims.map((claim) => pools.claim(node, nodes, claim, performance.now()));
      },
    };
    const shared = new SharedSlots(arbiter);
    t.after(() => shared.close());
    const slots = new Slots({ ...limits, concurrency: most, queue }, undefined, () => shared.ask('up'));
    shared.add('up', slots);
    return { slots, shared };
  });
  const inFlight = (): number => all.reduce((sum, { slots }) => sum + slots.inFlight, 0);
  return {
    all,
    pools,
    inFlight,
    goAway() {
      isThere = false;
    },
  };
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + patientMs(4_000);
  while (!isSo()) {
    assert.ok(performance.now() < deadlineMs, `not in time: ${what}`);
    await wait(5);
  }
}

/** A call of this duration; resolves with whether it got a slot. */
function call(slots: Slots, ms: number, watch: () => void): Promise<boolean> {
  return new Promise((resolve) => {
    const begin = (): void => {
      watch();
      setTimeout(() => {
        slots.leave('interactive');
        resolve(true);
      }, ms);
    };
    const entry = slots.enter({ ...someCall, entered: begin, timedOut: () => resolve(false) });
    if (entry === 'entered') begin();
    else if (entry === 'full') resolve(false);
  });
}

test('one process may use all slots, and the total is never exceeded', async (t) => {
  const { all, inFlight } = startParent(t, 4);
  const [first] = all;
  assert.ok(first !== undefined);
  let most = 0;
  const calls = Array.from({ length: 40 }, () =>
    call(first.slots, 20, () => {
      most = Math.max(most, inFlight());
    }),
  );
  assert.deepEqual(new Set(await Promise.all(calls)), new Set([true]));
  assert.equal(most, limits.concurrency);
});

for (const [nodes, most] of [
  [2, 8],
  [4, 3],
  [4, 1],
] as const) {
  test(`${nodes} busy processes share ${most} slots, and all make progress`, async (t) => {
    const { all, inFlight } = startParent(t, nodes, most);
    let fullest = 0;
    const ends = all.map(() => 0);
    const calls = all.flatMap(({ slots }, node) =>
      Array.from({ length: 12 }, async () => {
        const served = await call(slots, 10, () => {
          fullest = Math.max(fullest, inFlight());
        });
        ends[node] = performance.now();
        return served;
      }),
    );
    const served = await Promise.all(calls);
    assert.equal(served.filter(Boolean).length, 12 * nodes);
    assert.ok(fullest <= most, `${fullest} at a time`);
  });
}

test('a process can use all slots although another process held idle ones', async (t) => {
  const { all, inFlight } = startParent(t, 2, 4);
  const [first, second] = all;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(await call(second.slots, 1, () => undefined), true);
  assert.ok(second.slots.held > 0);
  let isOver = false;
  const work = Array.from({ length: 8 }, async () => {
    while (!isOver) await call(first.slots, 30, () => undefined);
  });
  await until('it has all of them', () => inFlight() === 4);
  isOver = true;
  await Promise.all(work);
});

test('a process that starts later gets a slot although another process keeps all slots busy', async (t) => {
  const { all } = startParent(t, 2, 4);
  const [busy, late] = all;
  assert.ok(busy !== undefined && late !== undefined);
  let isOver = false;
  const work = Array.from({ length: 8 }, async () => {
    while (!isOver) await call(busy.slots, 5, () => undefined);
  });
  await until('all are busy', () => busy.slots.inFlight === 4);
  assert.equal(await call(late.slots, 5, () => undefined), true);
  isOver = true;
  await Promise.all(work);
});

test('without a queue, a call is refused while all slots are busy in this or another process', async (t) => {
  const { all } = startParent(t, 2, 4, 0);
  const [first, second] = all;
  assert.ok(first !== undefined && second !== undefined);
  const held = Array.from({ length: 4 }, () => call(first.slots, 400, () => undefined));
  await until('all slots are taken', () => first.slots.inFlight === 4);
  assert.equal(await call(first.slots, 1, () => undefined), false);
  assert.equal(await call(second.slots, 1, () => undefined), false);
  assert.deepEqual(await Promise.all(held), [true, true, true, true]);
});

test('slots of a dead process are freed', async (t) => {
  const { all, pools } = startParent(t, 2, 2);
  const [dead, other] = all;
  assert.ok(dead !== undefined && other !== undefined);
  void call(dead.slots, 60_000, () => undefined);
  void call(dead.slots, 60_000, () => undefined);
  await until('it has both', () => dead.slots.inFlight === 2);
  dead.shared.close();
  const waiting = call(other.slots, 1, () => undefined);
  await wait(50);
  assert.equal(other.slots.inFlight, 0);
  pools.leave(0);
  assert.equal(await waiting, true);
});

test('without the parent process as arbiter, each process may use its share of the slots', async (t) => {
  const { all, goAway, inFlight } = startParent(t, 4);
  goAway();
  for (const { slots } of all) for (let time = 0; time < 10; time += 1) void call(slots, 400, () => undefined);
  await until('each has its share', () => all.every(({ slots }) => slots.inFlight === 2));
  assert.equal(inFlight(), 8);
  await until('all were served', () => all.every(({ slots }) => slots.inFlight === 0 && slots.waiting === 0));
});
