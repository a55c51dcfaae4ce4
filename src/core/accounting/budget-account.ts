/** Computes the budget period (in UTC) that a moment falls into, and names the account that counts the money spent in it. */

import type { Budget, BudgetPeriod, Holder } from '../caps.ts';
import type { BudgetAccount } from '../store/budgets.ts';

const dayMs = 86_400_000;

/** The account of a holder's budget for the period that `nowMs` falls into. */
export function toAccount({ kind, id }: Holder, { period, nanos }: Budget, nowMs: number): BudgetAccount {
  const startsAtMs = startOf(period, nowMs);
  return Object.freeze({
    id: `${kind}/${toSegment(id)}/${period}/${toDay(startsAtMs)}`,
    holderKind: kind,
    holderId: id,
    startsAtMs,
    endsAtMs: endOf(period, startsAtMs),
    nanos,
  });
}

function startOf(period: BudgetPeriod, nowMs: number): number {
  const day = nowMs - (((nowMs % dayMs) + dayMs) % dayMs);
  switch (period) {
    case 'day':
      return day;
    case 'week':
      // Sunday is day 0.
      return day - ((new Date(day).getUTCDay() + 6) % 7) * dayMs;
    case 'month':
      return day - (new Date(day).getUTCDate() - 1) * dayMs;
    case 'total':
      return 0;
  }
}

function endOf(period: BudgetPeriod, startsAtMs: number): number {
  switch (period) {
    case 'day':
      return startsAtMs + dayMs;
    case 'week':
      return startsAtMs + 7 * dayMs;
    case 'month': {
      const start = new Date(startsAtMs);
      return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
    }
    case 'total':
      return Number.POSITIVE_INFINITY;
  }
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Encodes an ID for an account's name: IDs may hold slashes, and two holders must not share an account. */
function toSegment(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}
