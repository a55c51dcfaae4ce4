/** Several nodes spending from the same budgets in any order of events, and invariants that always hold. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import type { BudgetHold, LocalBudgets } from '../../../src/budgets/local-budgets.ts';

import { GatewayError } from '../../../src/core/errors.ts';
import type { BudgetAccountStore } from '../../../src/core/store/budgets.ts';
import { budgetOf, createNodesOver, holderOf } from './budget-nodes.ts';
import { createMemoryAccountStore } from './memory-account-store.ts';

/** The facts of an imported row for an account store. */
export interface BookedRow {
  readonly node: string;
  readonly key: string;
  readonly project: string;
  readonly accounts: readonly string[];
  readonly startedAtMs: number;
  readonly costNanos: number;
}

/** An account store whose contents a test can read. */
export interface OpenAccountStore extends BudgetAccountStore {
  book(row: BookedRow): Promise<void>;
  /** Spent and outstanding. */
  takenOf(accountId: string): Promise<number>;
  drawnBy(accountId: string, node: string): Promise<number>;
}

const names = ['a', 'b', 'c'] as const;
const node = fc.constantFrom(...names);
const which = fc.nat({ max: 40 });
const dayMs = 86_400_000;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      node,
      nanos: fc.integer({ min: 0, max: 60 }),
      both: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), which, share: fc.integer({ min: 0, max: 130 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('void' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('settle again' as const), which, nanos: fc.nat({ max: 50 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('import' as const), node }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(10, 60, 300, 2_500, 11_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('next day' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), node }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), node }) },
);

export const budgetOrder = fc.record({
  nanosOfKey: fc.integer({ min: 1, max: 300 }),
  nanosOfProject: fc.integer({ min: 1, max: 300 }),
  steps: fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }),
});
type BudgetOrder = typeof budgetOrder extends fc.Arbitrary<infer T> ? T : never;

interface Taken {
  readonly hold: BudgetHold;
  readonly node: string;
  readonly atMs: number;
  readonly nanos: number;
  costNanos: number | undefined;
}

export interface Stage {
  readonly accountStore: OpenAccountStore;
  /** Part of the names of holders and nodes: an account store may see many orders. */
  readonly name?: string;
  readonly accountStoreTicks?: number;
}

/** Throws where a balance is not credit less settled less reserved, or a node took what it had not drawn. */
export async function playBudgetOrder(
  t: TestContext,
  { accountStore, name = '', accountStoreTicks = 1 }: Stage,
  { nanosOfKey, nanosOfProject, steps }: BudgetOrder,
): Promise<void> {
  const { clock, start, kill, answerOf, pass, timeOf } = createNodesOver(t, accountStore, { accountStoreTicks });
  const key = holderOf([budgetOf(nanosOfKey)], 'key', `dev${name}`);
  const project = holderOf([budgetOf(nanosOfProject, 'month')], 'project', `p${name}`);
  const nanosOf = (id: string): number => (id.startsWith('key/') ? nanosOfKey : nanosOfProject);
  /** A day has an account of its own, and so has a month. */
  const accounts = new Set<string>();
  /** Of an account, at all nodes or at one: settled, reserved, and what was settled beyond its reservation. */
  const sums = (id: string, of?: string) => {
    let settled = 0;
    let reserved = 0;
    let excess = 0;
    for (const { hold, node: by, nanos, costNanos } of all) {
      if (!hold.accounts.includes(id) || (of !== undefined && by !== of)) continue;
      settled += costNanos ?? 0;
      if (costNanos === undefined) reserved += nanos;
      excess += Math.max(0, (costNanos ?? 0) - nanos);
    }
    return { settled, reserved, excess };
  };
  const all: Taken[] = [];
  const journal: BookedRow[] = [];
  let started = 0;
  const running = new Map<string, { budgets: LocalBudgets; node: string }>();
  const run = (node: string) => {
    started += 1;
    const incarnation = `${name}${node}${started}`;
    running.set(node, { budgets: start(incarnation), node: incarnation });
  };
  names.forEach(run);
  const at = (node: string) => running.get(node) ?? assert.fail();

  const writeDown = (taken: Taken, costNanos: number) => {
    taken.costNanos = costNanos;
    const isOfKey = taken.hold.accounts.some((id) => id.startsWith('key/'));
    journal.push({
      node: taken.node,
      key: isOfKey ? key.id : `other${name}`,
      project: project.id,
      accounts: taken.hold.accounts,
      startedAtMs: taken.atMs,
      costNanos,
    });
  };
  const settle = (taken: Taken | undefined, costNanos: number) => {
    if (taken === undefined || taken.costNanos !== undefined) return;
    taken.hold.settle(costNanos);
    writeDown(taken, costNanos);
  };
  const importRows = async (incarnation: string) => {
    for (const row of journal.filter((each) => each.node === incarnation)) {
      journal.splice(journal.indexOf(row), 1);
      await accountStore.book(row);
    }
  };
  /** What the importer does with what a process left. */
  const release = async (incarnation: string) => {
    await importRows(incarnation);
    await accountStore.release(incarnation);
  };

  for (const each of steps) {
    switch (each.kind) {
      case 'reserve': {
        const { budgets, node: incarnation } = at(each.node);
        const atMs = clock.nowMs();
        const hold = await answerOf(() => budgets.reserve(each.both ? [key, project] : [project], each.nanos));
        if (hold instanceof GatewayError) {
          assert.equal(hold.code, 'budget_exceeded');
          break;
        }
        for (const id of hold.accounts) accounts.add(id);
        all.push({ hold, node: incarnation, atMs, nanos: each.nanos, costNanos: undefined });
        break;
      }
      case 'settle': {
        const taken = all[each.which % all.length];
        settle(taken, Math.floor(((taken?.nanos ?? 0) * each.share) / 100));
        break;
      }
      case 'void':
        settle(all[each.which % all.length], 0);
        break;
      case 'settle again':
        if (all[each.which % all.length]?.costNanos !== undefined)
          all[each.which % all.length]?.hold.settle(each.nanos);
        break;
      case 'import':
        await importRows(at(each.node).node);
        break;
      case 'wait':
        await pass(each.ms);
        break;
      case 'next day':
        clock.advance(dayMs);
        break;
      case 'end': {
        const { budgets, node: incarnation } = at(each.node);
        for (const taken of all) if (taken.node === incarnation) settle(taken, taken.nanos);
        await timeOf(budgets.close());
        await release(incarnation);
        run(each.node);
        break;
      }
      case 'kill': {
        // The result of running requests is unknown: their rows cost what was reserved.
        const { node: incarnation } = at(each.node);
        const lost = all.filter((taken) => taken.node === incarnation && taken.costNanos === undefined);
        for (const taken of lost) writeDown(taken, taken.nanos);
        kill(incarnation);
        await release(incarnation);
        run(each.node);
        break;
      }
    }
    for (const id of accounts) {
      const { settled, reserved, excess } = sums(id);
      const nanos = nanosOf(id);
      assert.ok(nanos - settled - reserved >= -excess, `${id}: ${nanos} - ${settled} - ${reserved}, excess ${excess}`);
      const taken = await accountStore.takenOf(id);
      assert.ok(taken <= nanos + excess, `${id}: the account store says ${taken}`);
      for (const { node: incarnation } of running.values()) {
        const own = sums(id, incarnation);
        const drawn = await accountStore.drawnBy(id, incarnation);
        assert.ok(
          own.settled + own.reserved - own.excess <= drawn,
          `${incarnation} took what it had not drawn from ${id}`,
        );
      }
    }
  }

  for (const taken of all) settle(taken, taken.nanos);
  for (const { budgets, node: incarnation } of running.values()) {
    await timeOf(budgets.close());
    await release(incarnation);
  }
  for (const id of accounts) {
    const state = await accountStore.state(id);
    if (state !== undefined)
      assert.deepEqual(state, { spentNanos: sums(id).settled, outstandingNanos: 0, holdingNodes: 0 });
  }
}

/** The account store in memory, for one order. */
export function createOpenMemoryAccountStore(): OpenAccountStore {
  const accountStore = createMemoryAccountStore();
  return {
    ...accountStore,
    async book({ accounts, node: by, costNanos }) {
      for (const id of accounts) accountStore.book(id, by, costNanos);
    },
    takenOf: async (id) => accountStore.takenOf(id),
    drawnBy: async (id, by) => accountStore.drawnBy(id, by),
  };
}
