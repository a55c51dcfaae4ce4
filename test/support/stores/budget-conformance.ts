/** Conformance tests of every budget account store. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { LedgerRow } from '../../../src/core/accounting/ledger-row.ts';
import type { HolderKind } from '../../../src/core/caps.ts';
import type { BudgetAccount } from '../../../src/core/store/budgets.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { mostNanos } from '../../../src/lib/money.ts';
import { imported } from '../ledger/ledger-rows.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { createMemoryAccountStore } from './memory-account-store.ts';
import type { OpenStore } from './store-conformance.ts';

/** Two stores over one empty database, as two processes have them. */
export type OpenTwoStores = (t: TestContext, clock: Clock) => Promise<readonly [Store, Store]>;

const dayMs = 86_400_000;
const startsAtMs = Date.UTC(2027, 0, 1);

function account(nanos: number, more: Partial<BudgetAccount> = {}): BudgetAccount {
  return {
    id: 'key/dev/day/2027-01-01',
    holderKind: 'key',
    holderId: 'dev',
    startsAtMs,
    endsAtMs: startsAtMs + dayMs,
    nanos,
    ...more,
  };
}

let imports = 0;

/** A row of a node, taken into the ledger, with the accounts that it is charged to. */
async function spend(store: Store, node: string, costNanos: number | null, accounts: readonly string[], row = {}) {
  imports += 1;
  const more: Partial<LedgerRow> = { node, costNanos, startedAtMs: startsAtMs + 1_000, ...row };
  await store.ledger.import('journal', [imported(more, accounts)], { segment: 1, offset: imports });
}

/** `pass` lets time pass for a store that has a clock of its own. */
export function describeBudgetAccountStore(
  name: string,
  openStore: OpenStore,
  openTwoStores?: OpenTwoStores,
  pass: (ms: number) => Promise<unknown> = async () => undefined,
): void {
  const open = (t: TestContext): Promise<Store> => openStore(t, createFakeClock());

  describe(`the budgets of ${name}`, () => {
    test("a daily account that ended is separate from the next day's", async (t) => {
      const store = await open(t);
      await spend(store, 'n', 30, []);
      await spend(store, 'n', 500, [], { startedAtMs: startsAtMs + dayMs + 1 });
      assert.equal((await store.budgets.draw(account(100), 'a', 10, 10)).spentNanos, 30);
    });

    test('a draw is granted fully, partly or not at all', async (t) => {
      const { budgets } = await open(t);
      const budget = account(100);
      assert.partialDeepStrictEqual(await budgets.draw(budget, 'a', 10, 30), {
        spentNanos: 0,
        outstandingNanos: 30,
        grantedNanos: 30,
      });
      assert.partialDeepStrictEqual(await budgets.draw(budget, 'b', 71, 90), {
        spentNanos: 0,
        outstandingNanos: 30,
        grantedNanos: 0,
      });
      assert.partialDeepStrictEqual(await budgets.draw(budget, 'b', 70, 90), {
        spentNanos: 0,
        outstandingNanos: 100,
        grantedNanos: 70,
      });
      assert.partialDeepStrictEqual(await budgets.draw(budget, 'a', 1, 1), {
        spentNanos: 0,
        outstandingNanos: 100,
        grantedNanos: 0,
      });
      assert.partialDeepStrictEqual(await budgets.state(budget.id), { spentNanos: 0, outstandingNanos: 100 });
    });

    test('an account is unknown until the first draw from it', async (t) => {
      const { budgets } = await open(t);
      assert.equal(await budgets.state('key/dev/day/2027-01-01'), undefined);
      await budgets.giveBack('key/dev/day/2027-01-01', 'a', 5);
      await budgets.release('a');
      assert.equal(await budgets.state('key/dev/day/2027-01-01'), undefined);
    });

    test('returned money can be drawn by others, and no more than drawn can be returned', async (t) => {
      const { budgets } = await open(t);
      const budget = account(100);
      await budgets.draw(budget, 'a', 100, 100);
      await budgets.giveBack(budget.id, 'a', 40);
      assert.equal((await budgets.draw(budget, 'b', 1, 100)).grantedNanos, 40);
      await budgets.giveBack(budget.id, 'a', 1_000);
      await budgets.giveBack(budget.id, 'c', 1_000);
      assert.partialDeepStrictEqual(await budgets.state(budget.id), { spentNanos: 0, outstandingNanos: 40 });
    });

    test('imported rows turn reserved into spent amounts, once', async (t) => {
      const store = await open(t);
      const budget = account(100);
      await store.budgets.draw(budget, 'a', 50, 50);
      const row = imported({ node: 'a', costNanos: 20, startedAtMs: startsAtMs }, [budget.id]);
      for (const offset of [1, 2]) await store.ledger.import('journal', [row], { segment: 1, offset });
      assert.partialDeepStrictEqual(await store.budgets.state(budget.id), { spentNanos: 20, outstandingNanos: 30 });
      await store.budgets.giveBack(budget.id, 'a', 50);
      assert.partialDeepStrictEqual(await store.budgets.state(budget.id), { spentNanos: 20, outstandingNanos: 0 });
      assert.equal((await store.budgets.draw(budget, 'b', 80, 100)).grantedNanos, 80);
    });

    test("a row is charged to each of its accounts, and to its node's draw", async (t) => {
      const store = await open(t);
      const key = account(100);
      const project = account(500, { id: 'project/p/day/2027-01-01', holderKind: 'project', holderId: 'p' });
      for (const budget of [key, project]) await store.budgets.draw(budget, 'a', 50, 50);
      await spend(store, 'a', 20, [key.id, project.id, 'key/gone/day/2027-01-01']);
      for (const budget of [key, project]) {
        assert.partialDeepStrictEqual(await store.budgets.state(budget.id), { spentNanos: 20, outstandingNanos: 30 });
      }
      assert.equal(await store.budgets.state('key/gone/day/2027-01-01'), undefined);
    });

    test('beyond its need a node is granted its share of half the remainder, and all together no more', async (t) => {
      const { budgets } = await open(t);
      const budget = account(10_000);
      assert.deepEqual(await budgets.draw(budget, 'a', 10, 30, 10), {
        ...{ spentNanos: 0, outstandingNanos: 5_000, holdingNodes: 1, grantedNanos: 5_000 },
      });
      // Half is held already: there is what is needed.
      assert.deepEqual(await budgets.draw(budget, 'b', 10, 30, 10), {
        ...{ spentNanos: 0, outstandingNanos: 5_030, holdingNodes: 2, grantedNanos: 30 },
      });
      await budgets.giveBack(budget.id, 'a', 2_500);
      assert.deepEqual(await budgets.draw(budget, 'b', 10, 10, 10), {
        ...{ spentNanos: 0, outstandingNanos: 5_000, holdingNodes: 2, grantedNanos: 2_470 },
      });
      // Its part would be worth less than sixteen requests.
      assert.equal((await budgets.draw(budget, 'c', 200, 200, 200)).grantedNanos, 200);
      assert.equal((await budgets.state(budget.id))?.holdingNodes, 3);
    });

    test('reads several accounts at once, leaving out unknown ones', async (t) => {
      const store = await open(t);
      const [one, other] = [account(100), account(100, { id: 'key/other/day/2027-01-01', holderId: 'other' })];
      await store.budgets.draw(one, 'a', 50, 50);
      await store.budgets.draw(one, 'b', 10, 10);
      await store.budgets.draw(other, 'a', 50, 50);
      await spend(store, 'a', 50, [other.id]);
      assert.deepEqual(
        await store.budgets.states([other.id, 'key/gone/day/2027-01-01', one.id]),
        new Map([
          [one.id, { spentNanos: 0, outstandingNanos: 60, holdingNodes: 2 }],
          [other.id, { spentNanos: 50, outstandingNanos: 0, holdingNodes: 0 }],
        ]),
      );
      assert.deepEqual(await store.budgets.states([]), new Map());
    });

    for (const text of ['a\0b', '\ud800', "'; drop table budget_accounts; --", 'é e\u0301']) {
      test(`an account is found by the ID it was drawn from, even ${JSON.stringify(text)}`, async (t) => {
        const { budgets } = await open(t);
        const budget = account(100, { id: `model/${text}/total`, holderKind: 'model', holderId: text });
        await budgets.draw(budget, text, 50, 50);
        await budgets.giveBack(budget.id, text, 10);
        const state = { spentNanos: 0, outstandingNanos: 40, holdingNodes: 1 };
        assert.deepEqual(await budgets.state(budget.id), state);
        assert.deepEqual(await budgets.states([budget.id]), new Map([[budget.id, state]]));
        await budgets.release(text);
        assert.equal((await budgets.state(budget.id))?.outstandingNanos, 0);
      });
    }

    test('a node silent for an hour loses its draws, and learns so when it returns', async (t) => {
      const clock = createFakeClock();
      const store = await openStore(t, clock);
      const { budgets } = store;
      const advance = async (ms: number) => {
        clock.advance(ms);
        await pass(ms);
      };
      const budget = account(100);
      assert.equal(await budgets.renew('a'), false, 'it is new');
      assert.equal(await budgets.renew('b'), false);
      await budgets.draw(budget, 'a', 60, 60);
      await budgets.draw(budget, 'b', 20, 20);
      await spend(store, 'a', 25, [budget.id]);
      await advance(3_599_000);
      assert.equal(await budgets.renew('b'), true);
      assert.partialDeepStrictEqual(await budgets.state(budget.id), { spentNanos: 25, outstandingNanos: 55 });
      await advance(2_000);
      assert.equal(await budgets.renew('b'), true);
      assert.partialDeepStrictEqual(await budgets.state(budget.id), { spentNanos: 25, outstandingNanos: 20 });
      assert.equal(await budgets.renew('a'), false);
      assert.equal(await budgets.renew('a'), true);
      // What it spent out of hearing is booked when its rows come.
      await spend(store, 'a', 10, [budget.id]);
      assert.partialDeepStrictEqual(await budgets.state(budget.id), { spentNanos: 35, outstandingNanos: 20 });
      await advance(3_601_000);
      assert.equal(await budgets.renew('b'), false, 'nobody asked meanwhile, and it is lost all the same');
      assert.partialDeepStrictEqual(await budgets.state(budget.id), { spentNanos: 35, outstandingNanos: 0 });
    });

    test("a removed node's unspent money is free for others", async (t) => {
      const store = await open(t);
      const budget = account(100);
      const other = account(100, { id: 'key/other/day/2027-01-01', holderId: 'other' });
      await store.budgets.draw(budget, 'a', 60, 60);
      await store.budgets.draw(other, 'a', 60, 60);
      await store.budgets.draw(budget, 'b', 10, 10);
      await spend(store, 'a', 20, [budget.id]);
      await store.budgets.release('a');
      assert.partialDeepStrictEqual(await store.budgets.state(budget.id), { spentNanos: 20, outstandingNanos: 10 });
      assert.partialDeepStrictEqual(await store.budgets.state(other.id), { spentNanos: 0, outstandingNanos: 0 });
      await spend(store, 'a', 5, [budget.id]);
      assert.partialDeepStrictEqual(await store.budgets.state(budget.id), { spentNanos: 25, outstandingNanos: 10 });
    });

    test('cost above the draw is spent, and a later draw for it is not counted twice', async (t) => {
      const store = await open(t);
      const budget = account(100);
      await store.budgets.draw(budget, 'a', 30, 30);
      await spend(store, 'a', 50, [budget.id]);
      assert.partialDeepStrictEqual(await store.budgets.state(budget.id), { spentNanos: 50, outstandingNanos: 0 });
      await store.budgets.giveBack(budget.id, 'a', 10);
      // 20 that it owes, and 50 that are left.
      assert.equal((await store.budgets.draw(budget, 'a', 71, 71)).grantedNanos, 0);
      assert.equal((await store.budgets.draw(budget, 'a', 70, 70)).grantedNanos, 70);
      assert.partialDeepStrictEqual(await store.budgets.state(budget.id), { spentNanos: 50, outstandingNanos: 50 });
    });

    test('a lowered budget grants nothing until it fits, and a raised one grants more', async (t) => {
      const { budgets } = await open(t);
      await budgets.draw(account(100), 'a', 80, 80);
      assert.equal((await budgets.draw(account(50), 'a', 1, 10)).grantedNanos, 0);
      assert.equal((await budgets.draw(account(200), 'b', 1, 500)).grantedNanos, 120);
    });

    test("a new account begins with its holder's spending in the period", async (t) => {
      const store = await open(t);
      const row = { key: 'k', project: 'p', model: 'm', upstream: 'u' };
      await spend(store, 'a', 7, [], { ...row, startedAtMs: startsAtMs - 1 });
      await spend(store, 'a', 20, [], { ...row, startedAtMs: startsAtMs });
      await spend(store, 'a', 30, [], { ...row, startedAtMs: startsAtMs + dayMs - 1, outcome: 'error' });
      await spend(store, 'a', null, [], { ...row, startedAtMs: startsAtMs + 1 });
      await spend(store, 'a', 500, [], { key: 'x', project: null, model: null, upstream: null });
      for (const [holderKind, holderId] of [
        ['key', 'k'],
        ['project', 'p'],
        ['model', 'm'],
        ['upstream', 'u'],
      ] satisfies [HolderKind, string][]) {
        const budget = account(1_000, { id: `${holderKind}/${holderId}/day/2027-01-01`, holderKind, holderId });
        assert.equal((await store.budgets.draw(budget, 'a', 1, 1)).spentNanos, 50, holderKind);
        const all = { ...budget, id: `${holderKind}/${holderId}/total/1970-01-01`, startsAtMs: 0, endsAtMs: Infinity };
        assert.equal((await store.budgets.draw(all, 'a', 1, 1)).spentNanos, 57, holderKind);
      }
      const nobody = account(1_000, { id: 'key/nobody/day/2027-01-01', holderId: 'nobody' });
      assert.equal((await store.budgets.draw(nobody, 'a', 1, 1)).spentNanos, 0);
    });

    test('a new account of a holder that has spent it grants nothing', async (t) => {
      const store = await open(t);
      await spend(store, 'a', 100, []);
      assert.partialDeepStrictEqual(await store.budgets.draw(account(100), 'a', 1, 10), {
        spentNanos: 100,
        outstandingNanos: 0,
        grantedNanos: 0,
      });
    });

    test('the largest amounts are exact', async (t) => {
      const store = await open(t);
      const budget = account(mostNanos);
      assert.equal((await store.budgets.draw(budget, 'a', mostNanos, mostNanos)).grantedNanos, mostNanos);
      await spend(store, 'a', mostNanos - 1, [budget.id]);
      assert.partialDeepStrictEqual(await store.budgets.state(budget.id), {
        spentNanos: mostNanos - 1,
        outstandingNanos: 1,
      });
    });

    test('account holders with SQL metacharacters or control characters in their names are stored as data', async (t) => {
      const { budgets } = await open(t);
      const names = ["'; drop table budget_accounts; --", '%', '_', '\\', '$1', '?1', 'a/b', 'a\0b', '無', ' '];
      for (const [index, holderId] of names.entries()) {
        const budget = account(100, { id: `key/${index}/day/2027-01-01`, holderId });
        assert.equal((await budgets.draw(budget, `node ${index}`, 100, 100)).grantedNanos, 100, holderId);
      }
    });

    test('parallel draws are never granted more than there is', async (t) => {
      const { budgets } = await open(t);
      const draws = Array.from({ length: 80 }, (_, index) =>
        budgets.draw(account(1_000), `node ${index % 4}`, 100, 100),
      );
      const granted = (await Promise.all(draws)).map(({ grantedNanos }) => grantedNanos);
      assert.equal(granted.filter((nanos) => nanos === 100).length, 10);
      assert.equal(granted.filter((nanos) => nanos === 0).length, 70);
    });

    test('parallel imports and draws all complete with correct sums', async (t) => {
      const store = await open(t);
      const budget = account(1_000_000);
      await store.budgets.draw(budget, 'a', 1, 1);
      await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          const node = `node ${index % 3}`;
          await store.budgets.draw(budget, node, 100, 100);
          await Promise.all([spend(store, node, 60, [budget.id]), store.budgets.giveBack(budget.id, node, 10)]);
        }),
      );
      assert.partialDeepStrictEqual(await store.budgets.state(budget.id), { spentNanos: 1_800, outstandingNanos: 901 });
    });

    test('in any order of events, the account store follows its rules', async (t) => {
      const store = await open(t);
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 300 }), fc.array(step, { maxLength: 25 }), async (nanos, steps) => {
          run += 1;
          await compareWithModel(
            store,
            account(nanos, { id: `key/run${run}/day/2027-01-01`, holderId: `run${run}` }),
            steps,
          );
        }),
        { numRuns: 60 },
      );
    });

    if (openTwoStores === undefined) return;
    test('two processes on one database cannot be granted the same money', async (t) => {
      const stores = await openTwoStores(t, createFakeClock());
      const draws = Array.from({ length: 60 }, (_, index) =>
        stores[index % 2 === 0 ? 0 : 1].budgets.draw(account(1_000), `node ${index % 2}`, 100, 100),
      );
      const granted = (await Promise.all(draws)).filter(({ grantedNanos }) => grantedNanos === 100);
      assert.equal(granted.length, 10);
      assert.partialDeepStrictEqual(await stores[0].budgets.state(account(1_000).id), {
        spentNanos: 0,
        outstandingNanos: 1_000,
      });
    });
  });
}

const amount = fc.integer({ min: 1, max: 120 });
const node = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ kind: fc.constant('draw' as const), node, least: amount, more: fc.integer({ min: 0, max: 60 }) }),
  fc.record({ kind: fc.constant('give back' as const), node, nanos: amount }),
  fc.record({ kind: fc.constant('spend' as const), node, nanos: amount }),
  fc.record({ kind: fc.constant('release' as const), node }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Also checks that nothing is granted beyond the budget, save for what rows cost beyond the allowance drawn for them. */
async function compareWithModel(store: Store, budget: BudgetAccount, steps: readonly Step[]): Promise<void> {
  const model = createMemoryAccountStore();
  // Nodes of their own, as a release reaches all accounts of one.
  const nameOf = (name: string): string => `${budget.holderId} ${name}`;
  const drawn = new Map<string, number>();
  const spent = new Map<string, number>();
  let excess = 0;
  await store.budgets.draw(budget, nameOf('a'), budget.nanos + 1, budget.nanos + 1);
  await model.draw(budget, nameOf('a'), budget.nanos + 1, budget.nanos + 1);
  for (const each of steps) {
    const name = nameOf(each.node);
    switch (each.kind) {
      case 'draw': {
        const answer = await store.budgets.draw(budget, name, each.least, each.least + each.more);
        assert.deepEqual(answer, await model.draw(budget, name, each.least, each.least + each.more));
        assert.ok(answer.grantedNanos === 0 || answer.grantedNanos >= each.least);
        drawn.set(name, (drawn.get(name) ?? 0) + answer.grantedNanos);
        break;
      }
      case 'give back':
        await store.budgets.giveBack(budget.id, name, each.nanos);
        await model.giveBack(budget.id, name, each.nanos);
        break;
      case 'spend':
        await spend(store, name, each.nanos, [budget.id], { key: budget.holderId });
        model.book(budget.id, name, each.nanos);
        spent.set(name, (spent.get(name) ?? 0) + each.nanos);
        // Given back or released before: then it is more than was drawn.
        excess += each.nanos;
        break;
      case 'release':
        await store.budgets.release(name);
        await model.release(name);
        break;
    }
    const state = await store.budgets.state(budget.id);
    assert.deepEqual(state, await model.state(budget.id));
    assert.ok(state !== undefined && state.spentNanos + state.outstandingNanos <= budget.nanos + excess);
    assert.equal(
      state.spentNanos,
      [...spent.values()].reduce((sum, nanos) => sum + nanos, 0),
    );
  }
}
