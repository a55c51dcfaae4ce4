import { test } from 'node:test';
import fc from 'fast-check';
import { budgetOrder, createOpenMemoryAccountStore, playBudgetOrder } from '../../test/support/stores/budget-orders.ts';

test('in any order of reserve, settle, void, expiry, restart and death, balance = credit - settled - reserved', async (t) => {
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
