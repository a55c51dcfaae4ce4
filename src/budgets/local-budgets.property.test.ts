import { test } from 'node:test';
import fc from 'fast-check';
import { budgetOrder, createOpenMemoryAccountStore, playBudgetOrder } from '../../test/support/stores/budget-orders.ts';

test("a budget's balance is credit - settled - reserved after any order of calls, expiry, restart and node death", async (t) => {
  await fc.assert(
    fc.asyncProperty(budgetOrder, async (order) => {
      try {
        await playBudgetOrder(t, { accountStore: createOpenMemoryAccountStore() }, order);
      } finally {
        t.mock.timers.reset();
      }
    }),
    { numRuns: 150 },
  );
});
