/** Books what rows cost to budgets. */

import type { Transaction } from 'kysely';
import type { LedgerTable, Schema } from '../schema.ts';
import { compareTexts, inParts, mostPerStatement, plus } from './ledger-insert.ts';

/** A row and the accounts that it carries. */
interface Entry {
  readonly row: LedgerTable;
  readonly accounts: readonly string[];
}

/** What rows cost, on the accounts they carry; an account that is not there is nobody's any more. */
export async function bookCosts(trx: Transaction<Schema>, rows: readonly Entry[]): Promise<void> {
  const { costs, leases } = toCosts(rows);
  for (const part of inParts([...costs.keys()].sort(compareTexts), mostPerStatement)) {
    const accounts = await trx
      .selectFrom('budget_accounts')
      .selectAll()
      .where('id', 'in', part)
      .orderBy('id')
      .execute();
    if (accounts.length === 0) continue;
    // An insertion of what is there already: unlike an update, it takes its locks in the order of its rows.
    await trx
      .insertInto('budget_accounts')
      .values(accounts.map((account) => ({ ...account, spent_nanos: costs.get(account.id) ?? 0 })))
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ spent_nanos: plus('budget_accounts', 'spent_nanos') }),
      )
      .execute();
    const there = new Set(accounts.map(({ id }) => id));
    const spent = leases.filter(({ account }) => there.has(account));
    for (const some of inParts(spent, mostPerStatement)) {
      await trx
        .insertInto('budget_leases')
        .values(some)
        .onConflict((conflict) =>
          conflict.columns(['account', 'node']).doUpdateSet({ spent_nanos: plus('budget_leases', 'spent_nanos') }),
        )
        .execute();
    }
  }
}

interface LeaseCost {
  readonly account: string;
  readonly node: string;
  readonly drawn_nanos: number;
  spent_nanos: number;
}

function toCosts(rows: readonly Entry[]): { costs: Map<string, number>; leases: LeaseCost[] } {
  const costs = new Map<string, number>();
  const leases = new Map<string, LeaseCost>();
  for (const { row, accounts } of rows) {
    const cost = row.cost_nanos;
    if (cost === null || cost === 0) continue;
    for (const account of accounts) {
      costs.set(account, addNanos(costs.get(account) ?? 0, cost));
      const name = `${account}\0${row.node}`;
      const lease = leases.get(name);
      if (lease !== undefined) lease.spent_nanos = addNanos(lease.spent_nanos, cost);
      else leases.set(name, { account, node: row.node, drawn_nanos: 0, spent_nanos: cost });
    }
  }
  return { costs, leases: [...leases].sort(([a], [b]) => compareTexts(a, b)).map(([, lease]) => lease) };
}

/** Beyond what a number holds exactly it stays there: nine million dollars in one import. */
const addNanos = (one: number, other: number): number => Math.min(one + other, Number.MAX_SAFE_INTEGER);
