/** Stores budget accounts in the database: what each has spent, and what nodes have drawn from it. */

import { type Kysely, sql, type Transaction } from 'kysely';
import {
  type AccountState,
  type BudgetAccount,
  type BudgetAccountStore,
  lostAfterMs,
  shareAheadNanos,
} from '../core/store/budgets.ts';

import type { Clock } from '../lib/clock.ts';
import { inParts, insertNew, isSqlite, lockAccounts } from './ledger/ledger-insert.ts';
import { toStorable } from './ledger/ledger-rows.ts';
import type { Schema } from './schema.ts';

const accountsAtOnce = 500;
const databaseNowMs = sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;

export function createBudgetAccountStore(db: Kysely<Schema>, clock: Pick<Clock, 'nowMs'>): BudgetAccountStore {
  return {
    draw(account, node, leastNanos, wantNanos, unitNanos = 0) {
      // The account's row stays locked until the end: nodes that draw at once each see what the others were granted.
      return db.transaction().execute(async (trx) => {
        const spentNanos = await lockAccount(trx, account);
        const { outstandingNanos, owedNanos, ownNanos, holdingNodes } = await readLeases(trx, account.id, node);
        // What the node overspent counts as spent already: covering it by a draw takes nothing from other nodes.
        const freeNanos = account.nanos - spentNanos - outstandingNanos + owedNanos;
        if (freeNanos < Math.max(1, leastNanos)) return { spentNanos, outstandingNanos, holdingNodes, grantedNanos: 0 };
        const neededNanos = Math.min(freeNanos, wantNanos);
        const others = ownNanos > 0 ? holdingNodes - 1 : holdingNodes;
        const leftNanos = account.nanos - spentNanos;
        const moreNanos = Math.max(0, neededNanos - owedNanos);
        const aheadNanos = Math.min(
          shareAheadNanos(leftNanos, others + 1, unitNanos) - ownNanos - moreNanos,
          Math.floor(leftNanos / 2) - outstandingNanos - moreNanos,
          freeNanos - neededNanos,
        );
        const grantedNanos = neededNanos + Math.max(0, aheadNanos);
        await addToLease(trx, account.id, node, grantedNanos);
        const takenNanos = Math.max(0, grantedNanos - owedNanos);
        return {
          spentNanos,
          outstandingNanos: outstandingNanos + takenNanos,
          holdingNodes: ownNanos + takenNanos > 0 ? others + 1 : others,
          grantedNanos,
        };
      });
    },

    async giveBack(accountId, node, nanos) {
      // Never below what was spent, and never more than was drawn.
      const least = sql<number>`case when drawn_nanos < spent_nanos then drawn_nanos else spent_nanos end`;
      await db
        .updateTable('budget_leases')
        .set({
          drawn_nanos: sql<number>`case when drawn_nanos - ${nanos} > ${least} then drawn_nanos - ${nanos} else ${least} end`,
        })
        .where('account', '=', accountId)
        .where('node', '=', node)
        .execute();
    },

    release: (node) => db.transaction().execute((trx) => releaseAll(trx, [node])),

    async state(accountId) {
      return (await readStates(db, [accountId])).get(accountId);
    },

    async states(accountIds) {
      const states = new Map<string, AccountState>();
      for (const some of inParts(accountIds, accountsAtOnce)) {
        for (const [id, state] of await readStates(db, some)) states.set(id, state);
      }
      return states;
    },

    renew(node) {
      // One clock for all nodes: one that is an hour fast would take the others for lost, and spend their money again.
      const nowMs = isSqlite(db) ? sql<number>`${clock.nowMs()}` : databaseNowMs;
      return db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('budget_nodes')
          .set({ heard_at: nowMs })
          .where('node', '=', node)
          .where('heard_at', '>=', sql<number>`${nowMs} - ${lostAfterMs}`)
          .executeTakeFirstOrThrow();
        const lost = await trx
          .selectFrom('budget_nodes')
          .select('node')
          .where('heard_at', '<', sql<number>`${nowMs} - ${lostAfterMs}`)
          .execute();
        const silent = lost.map((one) => one.node);
        if (silent.length > 0) await releaseAll(trx, silent);
        if (numUpdatedRows > 0n) return true;
        await trx.insertInto('budget_nodes').values({ node, heard_at: nowMs }).execute();
        return false;
      });
    },
  };
}

/** Deletes what the nodes drew, so that unspent money is available again. */
async function releaseAll(trx: Transaction<Schema>, nodes: readonly string[]): Promise<void> {
  await trx.deleteFrom('budget_leases').where('node', 'in', nodes).execute();
  await trx.deleteFrom('budget_nodes').where('node', 'in', nodes).execute();
}

/** Reads the accounts in one statement: between two, an import could move money from outstanding to spent. */
async function readStates(db: Kysely<Schema>, accountIds: readonly string[]): Promise<Map<string, AccountState>> {
  const rows = await db
    .selectFrom('budget_accounts')
    .leftJoin('budget_leases', 'budget_leases.account', 'budget_accounts.id')
    .select([
      'budget_accounts.id',
      'budget_accounts.spent_nanos',
      outstandingNanos.as('outstanding'),
      holdingNodes.as('holding'),
    ])
    .where('budget_accounts.id', 'in', accountIds)
    .groupBy(['budget_accounts.id', 'budget_accounts.spent_nanos'])
    .execute();
  const stored = new Map(rows.map((row) => [row.id, row]));
  const states = new Map<string, AccountState>();
  // By the requested IDs, as the database may have stored other characters for them.
  for (const id of accountIds) {
    const row = stored.get(toStorable(id));
    if (row === undefined) continue;
    states.set(id, {
      spentNanos: Number(row.spent_nanos),
      outstandingNanos: Number(row.outstanding ?? 0),
      holdingNodes: Number(row.holding ?? 0),
    });
  }
  return states;
}

/** Locks the account and returns what it has spent. The first statement writes, which takes SQLite's lock before anything is read. */
async function lockAccount(trx: Transaction<Schema>, account: BudgetAccount): Promise<number> {
  const endsAt = Number.isFinite(account.endsAtMs) ? account.endsAtMs : null;
  const row = {
    id: account.id,
    holder_kind: account.holderKind,
    holder_id: toStorable(account.holderId),
    starts_at: account.startsAtMs,
    ends_at: endsAt,
    spent_nanos: 0,
  };
  const isNew = (await insertNew(trx, 'budget_accounts', [row])) === 1;
  const spentBeforeNanos = isNew ? await readSpent(trx, account) : 0;
  // It changes nothing in an existing account: it is the lock, in SQL that both databases know.
  const { spent_nanos } = await trx
    .updateTable('budget_accounts')
    .set(({ ref, eb }) => ({ spent_nanos: eb(ref('spent_nanos'), '+', spentBeforeNanos) }))
    .where('id', '=', account.id)
    .returning('spent_nanos')
    .executeTakeFirstOrThrow();
  return Number(spent_nanos);
}

/** What an account has spent by the daily sums: every period begins with a day, and late rows of its last day arrive soon after. */
async function readSpent(trx: Transaction<Schema>, account: BudgetAccount): Promise<number> {
  await lockAccounts(trx, 'alone');
  const { cost } = await trx
    .selectFrom('usage_all_days')
    .select(({ fn }) => fn.sum('cost_nanos').as('cost'))
    .where('span', '>=', account.startsAtMs)
    .where('span', '<', Math.min(account.endsAtMs, Number.MAX_SAFE_INTEGER))
    .where(account.holderKind, '=', toStorable(account.holderId))
    .executeTakeFirstOrThrow();
  // Null without rows.
  return Number(cost ?? 0);
}

async function readLeases(trx: Transaction<Schema>, accountId: string, node: string) {
  const row = await trx
    .selectFrom('budget_leases')
    .select([
      outstandingNanos.as('outstanding_nanos'),
      holdingNodes.as('holding'),
      // Negative where it spent more than it drew.
      sql<SumNanos>`sum(case when node = ${node} then drawn_nanos - spent_nanos else 0 end)`.as('own_nanos'),
    ])
    .where('account', '=', accountId)
    .executeTakeFirstOrThrow();
  const ownNanos = Number(row.own_nanos ?? 0);
  return {
    outstandingNanos: Number(row.outstanding_nanos ?? 0),
    holdingNodes: Number(row.holding ?? 0),
    ownNanos: Math.max(0, ownNanos),
    owedNanos: Math.max(0, -ownNanos),
  };
}

/** A sum from the database; some databases return sums as text, and null if there are no rows. */
type SumNanos = number | bigint | string | null;

/** Money that nodes have drawn and not spent, summed over leases; the account has a column of the same name. */
const outstandingNanos = sql<SumNanos>`sum(case when budget_leases.drawn_nanos > budget_leases.spent_nanos then budget_leases.drawn_nanos - budget_leases.spent_nanos else 0 end)`;
const holdingNodes = sql<SumNanos>`sum(case when budget_leases.drawn_nanos > budget_leases.spent_nanos then 1 else 0 end)`;

async function addToLease(trx: Transaction<Schema>, account: string, node: string, nanos: number): Promise<void> {
  await trx
    .insertInto('budget_leases')
    .values({ account, node, drawn_nanos: nanos, spent_nanos: 0 })
    .onConflict((conflict) =>
      conflict.columns(['account', 'node']).doUpdateSet({
        drawn_nanos: sql<number>`budget_leases.drawn_nanos + excluded.drawn_nanos`,
      }),
    )
    .execute();
}
