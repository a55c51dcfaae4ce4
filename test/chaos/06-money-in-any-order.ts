/** Promise 6: in any order of reserve, settle, void, expiry, restart and death, a balance is credit less settled less reserved. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import type { Store } from '../../src/core/store/store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { imported } from '../support/ledger/ledger-rows.ts';
import {
  type BookedRow,
  budgetOrder,
  createOpenMemoryAccountStore,
  type OpenAccountStore,
  playBudgetOrder,
  type Stage,
} from '../support/stores/budget-orders.ts';
import { type ChaosRig, definePromise, type Figure, type Scale } from './promise.ts';
import { none } from './support/readings/findings.ts';

const orders: Readonly<Record<Scale, { readonly memory: number; readonly sqlite: number }>> = {
  long: { memory: 5_000, sqlite: 250 },
  short: { memory: 200, sqlite: 15 },
};
const shownReportCharacters = 2_000;
/** What SQLite answers in this thread is there after a few turns of the event loop. */
const sqliteTurns = 200;

export default definePromise({
  no: 6,
  title: 'reservations, settlements, expiry, restarts and crashes in any order',
  async run(rig) {
    const { memory, sqlite } = orders[rig.scale];
    const figures = [await playOrders(rig, 'memory', memory, () => ({ accountStore: createOpenMemoryAccountStore() }))];

    const directory = await mkdtemp(join(tmpdir(), 'postern-orders-'));
    rig.t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
    const file = join(directory, 'postern.db');
    const store = await openStore(`sqlite:${file}`, { cwd: directory });
    rig.t.after(() => store.close());
    const { accountStore, booked } = openSqliteBank(rig.t, store, file);
    let order = 0;
    figures.push(
      await playOrders(rig, 'SQLite', sqlite, () => {
        order += 1;
        return { accountStore, name: `-${order}-`, accountStoreTicks: sqliteTurns };
      }),
      none(
        'SQLite: hours whose sums are not those of their rows, afterwards',
        await store.ledger.verify(0, Number.MAX_SAFE_INTEGER),
        `${booked()} rows`,
      ),
    );
    return figures;
  },
});

/** The first order that breaks a rule ends it, in its shortest form. */
async function playOrders(
  { t, seed, progress }: ChaosRig,
  name: string,
  count: number,
  setStage: () => Stage,
): Promise<Figure> {
  let played = 0;
  let steps = 0;
  const result = await fc.check(
    fc.asyncProperty(budgetOrder, async (order) => {
      played += 1;
      steps += order.steps.length;
      progress(`${name}: order ${played} of ${count}`);
      try {
        await playBudgetOrder(t, setStage(), order);
      } finally {
        t.mock.timers.reset();
      }
    }),
    { numRuns: count, seed },
  );
  const report = result.failed ? (fc.defaultReportMessage(result) ?? 'no report').slice(0, shownReportCharacters) : '';
  return {
    name: `${name}: orders of events in which a balance was wrong, went below nothing, or did not end with what was settled`,
    bar: '0',
    measured: result.failed ? report : `0 of ${played} (${steps} events at 3 nodes)`,
    met: !result.failed && played >= count,
    broken: result.failed || played < count,
  };
}

/** The account store of a real database. What each node drew stands only in the file. */
function openSqliteBank(
  t: TestContext,
  store: Store,
  file: string,
): { readonly accountStore: OpenAccountStore; readonly booked: () => number } {
  const reader = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  t.after(() => reader.close());
  const drawn = reader.prepare('select drawn_nanos from budget_leases where account = ? and node = ?');
  let booked = 0;
  const accountStore: OpenAccountStore = {
    ...store.budgets,
    async book({ accounts, ...row }: BookedRow) {
      booked += 1;
      await store.ledger.import('journal', [imported(row, accounts)], { segment: 1, offset: booked });
    },
    async takenOf(id) {
      const state = await store.budgets.state(id);
      return state === undefined ? 0 : state.spentNanos + state.outstandingNanos;
    },
    drawnBy: async (id, node) => Number(drawn.get(id, node)?.drawn_nanos ?? 0),
  };
  return { accountStore, booked: () => booked };
}
