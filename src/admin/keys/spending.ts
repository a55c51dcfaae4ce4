/** Reports how much of its budgets a key or project has used, its spending per day, and a forecast. */

import type * as z from 'zod';
import { toAccount } from '../../core/accounting/budget-account.ts';
import { addSums, noSums } from '../../core/accounting/usage-sums.ts';
import type { Budget, Holder } from '../../core/caps.ts';
import type { LedgerFilter } from '../../core/store/ledger.ts';
import { toDollars } from '../../lib/money.ts';
import type { AdminContext } from '../context.ts';
import { toShownSums } from '../ledger/query.ts';
import { toInstant } from '../shapes/common.ts';
import type { budgetState, burnDown, spend } from './contract/keys.ts';

type BudgetState = z.input<typeof budgetState>;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Limit of days that are reported for a budget without a beginning. */
const mostDays = 366;
/** How far back spending is averaged to estimate how long a budget lasts. */
const paceMs = 30 * dayMs;

type Spender = Pick<AdminContext, 'store' | 'clock'>;

const filterOf = ({ kind, id }: Holder): LedgerFilter => (kind === 'project' ? { project: id } : { key: id });

export function toBudgetStates(holder: Holder, context: Spender): Promise<BudgetState[]> {
  const nowMs = context.clock.nowMs();
  return Promise.all(
    holder.caps.budgets.map(async (budget) => (await readState(holder, budget, nowMs, context)).state),
  );
}

async function readState(holder: Holder, budget: Budget, nowMs: number, { store }: Spender) {
  const account = toAccount(holder, budget, nowMs);
  // An unused account begins with the ledger's sums.
  const { spentNanos, outstandingNanos } = (await store.budgets.state(account.id)) ?? {
    spentNanos: await readSpent({ ...filterOf(holder), fromMs: account.startsAtMs }, store.ledger),
    outstandingNanos: 0,
  };
  const endsAtMs = Number.isFinite(account.endsAtMs) ? account.endsAtMs : undefined;
  const state: BudgetState = {
    every: budget.period,
    amount: toDollars(budget.nanos),
    spent: toDollars(spentNanos),
    outstanding: toDollars(outstandingNanos),
    left: toDollars(Math.max(0, budget.nanos - spentNanos - outstandingNanos)),
    startsAt: endsAtMs === undefined ? null : toInstant(account.startsAtMs),
    endsAt: endsAtMs === undefined ? null : toInstant(endsAtMs),
  };
  return { state, spentNanos, startsAtMs: account.startsAtMs, endsAtMs };
}

async function readSpent(filter: LedgerFilter, ledger: Spender['store']['ledger']): Promise<number> {
  const [line] = await ledger.usage(filter, []);
  return Number(line?.sums.costNanos ?? 0n);
}

export async function readSpend(
  holder: Holder,
  days: number,
  { store, clock }: Spender,
): Promise<z.input<typeof spend>> {
  const today = Math.floor(clock.nowMs() / dayMs) * dayMs;
  const fromMs = today - (days - 1) * dayMs;
  const lines = await store.ledger.usage({ ...filterOf(holder), fromMs }, ['day']);
  const byDay = new Map(lines.map(({ by, sums }) => [by.day, sums]));
  const all = Array.from({ length: days }, (_, index) => {
    const day = toInstant(fromMs + index * dayMs).slice(0, 10);
    return { day, sums: byDay.get(day) ?? noSums };
  });
  return {
    days: all.map(({ day, sums }) => ({ day, ...toShownSums(sums) })),
    total: toShownSums(all.reduce((total, { sums }) => addSums(total, sums), noSums)),
  };
}

export async function readBurnDown(
  holder: Holder,
  budget: Budget,
  context: Spender,
): Promise<z.input<typeof burnDown>> {
  const nowMs = context.clock.nowMs();
  const { state, spentNanos, startsAtMs, endsAtMs } = await readState(holder, budget, nowMs, context);
  const step = budget.period === 'day' ? 'hour' : 'day';
  const stepMs = step === 'hour' ? hourMs : dayMs;
  const lines = await context.store.ledger.usage({ ...filterOf(holder), fromMs: startsAtMs }, [step]);
  const steps = lines.map(({ by, sums }) => ({
    atMs: Date.parse(by[step] ?? ''),
    nanos: Number(sums.costNanos),
  }));
  const firstMs = endsAtMs === undefined ? (steps[0]?.atMs ?? Math.floor(nowMs / stepMs) * stepMs) : startsAtMs;
  return {
    budget: state,
    step,
    points: toPoints(steps, { firstMs, nowMs, stepMs }, spentNanos),
    projected: project(budget.nanos, spentNanos, paceOf(steps, spentNanos, firstMs, endsAtMs, nowMs), endsAtMs, nowMs),
  };
}

interface Step {
  readonly atMs: number;
  readonly nanos: number;
}

/** The sum spent by the end of each step; the last point is the budget's present state. */
function toPoints(
  steps: readonly Step[],
  { firstMs, nowMs, stepMs }: { readonly firstMs: number; readonly nowMs: number; readonly stepMs: number },
  spentNanos: number,
) {
  const fromMs = Math.max(firstMs, Math.floor(nowMs / stepMs) * stepMs - mostDays * stepMs);
  const nanosAt = new Map(steps.map(({ atMs, nanos }) => [atMs, nanos]));
  let sum = steps.reduce((before, { atMs, nanos }) => before + (atMs < fromMs ? nanos : 0), 0);
  const points = [{ at: toInstant(fromMs), spent: toDollars(sum) }];
  for (let atMs = fromMs; atMs + stepMs <= nowMs; atMs += stepMs) {
    sum += nanosAt.get(atMs) ?? 0;
    points.push({ at: toInstant(atMs + stepMs), spent: toDollars(sum) });
  }
  points.push({ at: toInstant(nowMs), spent: toDollars(spentNanos) });
  return points;
}

/** The rate of spending, in nano-dollars per millisecond: over the period so far, or over the last days for a budget without one. */
function paceOf(
  steps: readonly Step[],
  spentNanos: number,
  firstMs: number,
  endsAtMs: number | undefined,
  nowMs: number,
): number {
  if (endsAtMs !== undefined) return spentNanos / Math.max(1, nowMs - firstMs);
  const sinceMs = Math.max(firstMs, nowMs - paceMs);
  const recent = steps.reduce((sum, { atMs, nanos }) => sum + (atMs >= sinceMs - dayMs ? nanos : 0), 0);
  return recent / Math.max(dayMs, nowMs - sinceMs);
}

function project(amountNanos: number, spentNanos: number, pace: number, endsAtMs: number | undefined, nowMs: number) {
  const atEnd = endsAtMs === undefined ? undefined : Math.round(spentNanos + pace * (endsAtMs - nowMs));
  const runsOutAtMs = nowMs + Math.max(0, amountNanos - spentNanos) / pace;
  const lasts = !Number.isFinite(runsOutAtMs) || runsOutAtMs >= (endsAtMs ?? nowMs + mostDays * 10 * dayMs);
  return {
    atEnd: atEnd === undefined ? null : toDollars(atEnd),
    runsOutAt: lasts && spentNanos < amountNanos ? null : toInstant(Number.isFinite(runsOutAtMs) ? runsOutAtMs : nowMs),
  };
}
