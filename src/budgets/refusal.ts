/** Builds the error for a client whose budget is used up: which budget, how much is missing, and when to come back. */

import type { BudgetPeriod, HolderKind } from '../core/caps.ts';
import { type ErrorDetails, GatewayError } from '../core/errors.ts';
import type { BudgetAccount } from '../core/store/budgets.ts';
import { toDollars } from '../lib/money.ts';

const dayMs = 86_400_000;

/** The longest time that other nodes keep money they do not need; see `local-allowance.ts`. */
const heldS = 2;

const periodNames: Readonly<Record<BudgetPeriod, string>> = {
  day: 'for this day',
  week: 'for this week',
  month: 'for this month',
  total: 'in all',
};

export interface Shortage {
  readonly account: BudgetAccount;
  readonly period: BudgetPeriod;
  readonly spentNanos: number;
  readonly nanos: number;
  readonly nowMs: number;
}

export class BudgetExceeded extends GatewayError {
  readonly holder: HolderKind;
  readonly period: BudgetPeriod;

  constructor(holder: HolderKind, period: BudgetPeriod, details: ErrorDetails) {
    super('budget_exceeded', details);
    this.holder = holder;
    this.period = period;
  }
}

export function budgetExceeded({ account, period, spentNanos, nanos, nowMs }: Shortage): BudgetExceeded {
  const { holderKind, holderId, endsAtMs } = account;
  // Unspent money would do, but is reserved for other requests, here or at another node.
  const isSpent = spentNanos >= account.nanos;
  const isHeld = !isSpent && account.nanos - spentNanos >= nanos;
  const headers = ['x-should-retry', 'false'];
  const endsInMs = endsAtMs - nowMs;
  if (isHeld) headers.push('Retry-After', String(heldS));
  else if (endsInMs < dayMs) headers.push('Retry-After', String(Math.max(1, Math.ceil(endsInMs / 1_000))));

  const name = JSON.stringify(holderId.length > 80 ? `${holderId.slice(0, 80)}…` : holderId);
  const anew = Number.isFinite(endsAtMs) ? `It begins anew at ${toMinute(endsAtMs)}.` : 'It does not begin anew.';
  const rest = isHeld
    ? 'the rest is reserved for requests in flight, and may be free again in a moment, or '
    : 'send one that can cost less (a lower "max_tokens", fewer inputs), or ';
  return new BudgetExceeded(holderKind, period, {
    message:
      `The budget of the ${holderKind} ${name} ${periodNames[period]} is $${toDollars(account.nanos)}, of which ` +
      `$${toDollars(spentNanos)} is spent, and this request could cost up to $${toDollars(nanos)}: ` +
      `${isSpent ? '' : rest}ask the operator for more. ${anew}`,
    headers,
  });
}

export function moneyUnavailable(cause: unknown): GatewayError {
  return new GatewayError('store_unavailable', {
    message: 'The budgets that this request counts against cannot be looked up just now; try again in a moment.',
    headers: ['Retry-After', '1'],
    cause,
  });
}

/** A time to the minute, as `2026-12-01T00:00Z`. */
function toMinute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}Z`;
}
