/** The money of budgets in a database. */

import { type Kysely, sql, type Transaction } from 'kysely';
import type { BudgetAccount, BudgetBank } from '../core/store.ts';
import { toStorable } from './ledger-rows.ts';
import type { Schema } from './schema.ts';

export function createBudgetBank(db: Kysely<Schema>): BudgetBank {
  return {
    draw(account, node, leastNanos, wantNanos) {
      // Whoever draws holds the account's row until the end: of several nodes at once, each sees what the others were granted.
      return db.transaction().execute(async (trx) => {
        const spentNanos = await lockAccount(trx, account);
        const { outstandingNanos, owedNanos } = await readLeases(trx, account.id, node);
        // What the node spent beyond what it drew is among the spent already: to draw it takes nothing from anyone.
        const freeNanos = account.nanos - spentNanos - outstandingNanos + owedNanos;
        if (freeNanos < Math.max(1, leastNanos)) return { spentNanos, outstandingNanos, grantedNanos: 0 };
        const grantedNanos = Math.min(freeNanos, wantNanos);
        await addToLease(trx, account.id, node, grantedNanos);
        const moreNanos = Math.max(0, grantedNanos - owedNanos);
        return { spentNanos, outstandingNanos: outstandingNanos + moreNanos, grantedNanos };
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

    async release(node) {
      await db.deleteFrom('budget_leases').where('node', '=', node).execute();
    },

    async state(accountId) {
      // One statement, as else an import could come between what is spent and what is outstanding.
      const row = await db
        .selectFrom('budget_accounts')
        .select((account) => [
          'spent_nanos',
          account
            .selectFrom('budget_leases')
            .whereRef('budget_leases.account', '=', 'budget_accounts.id')
            .select(outstandingNanos.as('nanos'))
            .as('outstanding_nanos'),
        ])
        .where('id', '=', accountId)
        .executeTakeFirst();
      return row && { spentNanos: Number(row.spent_nanos), outstandingNanos: Number(row.outstanding_nanos ?? 0) };
    },
  };
}

/** Gives back what the account has spent. The first statement writes, which takes SQLite's lock before anything is read. */
async function lockAccount(trx: Transaction<Schema>, account: BudgetAccount): Promise<number> {
  const endsAt = Number.isFinite(account.endsAtMs) ? account.endsAtMs : null;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('budget_accounts')
    .values({
      id: account.id,
      holder_kind: account.holderKind,
      holder_id: toStorable(account.holderId),
      starts_at: account.startsAtMs,
      ends_at: endsAt,
      spent_nanos: 0,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow();
  const isNew = numInsertedOrUpdatedRows === 1n;
  const spentBeforeNanos = isNew ? await readSpent(trx, account) : 0;
  // It changes nothing where the account was there: it is the lock, in words that both databases know.
  const { spent_nanos } = await trx
    .updateTable('budget_accounts')
    .set(({ ref, eb }) => ({ spent_nanos: eb(ref('spent_nanos'), '+', spentBeforeNanos) }))
    .where('id', '=', account.id)
    .returning('spent_nanos')
    .executeTakeFirstOrThrow();
  return Number(spent_nanos);
}

/** From the sums by day: every period begins with one. */
async function readSpent(trx: Transaction<Schema>, account: BudgetAccount): Promise<number> {
  const { cost } = await trx
    .selectFrom('usage_days')
    .select(({ fn }) => fn.sum('cost_nanos').as('cost'))
    .where('span', '>=', account.startsAtMs)
    .where(account.holderKind, '=', toStorable(account.holderId))
    .executeTakeFirstOrThrow();
  // Of no rows it is null.
  return Number(cost ?? 0);
}

async function readLeases(trx: Transaction<Schema>, accountId: string, node: string) {
  const row = await trx
    .selectFrom('budget_leases')
    .select([
      outstandingNanos.as('outstanding_nanos'),
      sql<SumNanos>`sum(case when node = ${node} and spent_nanos > drawn_nanos then spent_nanos - drawn_nanos else 0 end)`.as(
        'owed_nanos',
      ),
    ])
    .where('account', '=', accountId)
    .executeTakeFirstOrThrow();
  return { outstandingNanos: Number(row.outstanding_nanos ?? 0), owedNanos: Number(row.owed_nanos ?? 0) };
}

/** Sums come as text from some databases, and of no rows as null. */
type SumNanos = number | bigint | string | null;

/** Over some leases. */
const outstandingNanos = sql<SumNanos>`sum(case when drawn_nanos > spent_nanos then drawn_nanos - spent_nanos else 0 end)`;

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
