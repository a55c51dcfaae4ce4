/** Endpoints: current target and upstream states, rates, spending, budgets and open alerts. */

import { wholeStretch } from '../../../core/store/series.ts';
import { toDollars } from '../../../lib/money.ts';
import { readOpenAlerts } from '../../alerts/endpoints/alerts.ts';
import type { AdminContext } from '../../context.ts';
import { implement } from '../../implement.ts';
import { budgetShare, readSpentBudgets, type SpentBudget } from '../../overview/notices.ts';
import { lookAtField } from '../../problem.ts';
import { createRecently } from '../../recently.ts';
import { toInstant } from '../../shapes/common.ts';
import * as contract from '../contract/series.ts';
import { readStates } from '../states.ts';
import { toFigures } from './series.ts';

const windowMs = 5 * 60_000;
const dayMs = 86_400_000;
const most = { upstreams: 100, budgets: 20 };

export const listStates = implement(contract.listStates, async ({ query, context }) => {
  const { model, upstream, state, before, limit } = query;
  const first = before === undefined ? 0 : Number(before);
  if (!Number.isSafeInteger(first) || first < 0) {
    throw lookAtField('before', 'This is no cursor of the states; give the `next` of the page before as it came.');
  }
  const { targets } = await readStates(context);
  const fitting = targets.filter(
    (target) =>
      (model === undefined || target.model === model) &&
      (upstream === undefined || target.upstream === upstream) &&
      (state === undefined || target.state === state),
  );
  return {
    items: fitting.slice(first, first + limit),
    next: fitting.length > first + limit ? String(first + limit) : null,
  };
});

const recently = createRecently(3_000);

export const getNow = implement(contract.getNow, ({ context }) => recently(context, 'now', () => readNow(context)));

async function readNow(context: AdminContext) {
  const { series, store, clock } = context;
  const atMs = clock.nowMs();
  const midnight = Math.floor(atMs / dayMs) * dayMs;
  const [recent, states, budgets, [today], open] = await Promise.all([
    series.read({ ...wholeStretch, fromMs: atMs - windowMs, toMs: atMs }),
    readStates(context),
    readSpentBudgets(context),
    store.ledger.usage({ fromMs: midnight }, []),
    readOpenAlerts(context),
  ]);
  const { figures } = recent.total;
  const judged = figures.succeeded + figures.failed;
  return {
    at: toInstant(atMs),
    windowMs: recent.toMs - recent.fromMs,
    requestsPerSecond: figures.requests / ((atMs - recent.fromMs) / 1_000),
    p95Ms: figures.duration?.p95 ?? null,
    failedShare: judged === 0 ? null : figures.failed / judged,
    figures: toFigures(figures),
    today: {
      from: toInstant(midnight),
      cost: toDollars(today?.sums.costNanos ?? 0n),
      requests: today?.sums.requests ?? 0,
      budget: toBudgetOfToday(budgets),
    },
    upstreams: states.upstreams.slice(0, most.upstreams),
    upstreamCount: states.upstreams.length,
    budgets: budgets
      .filter(({ share }) => share >= budgetShare)
      .sort((a, b) => b.share - a.share)
      .slice(0, most.budgets)
      .map(toNearBudget),
    alerts: open,
  };
}

/** Of projects if any has a daily budget, as their keys share it. */
function toBudgetOfToday(budgets: readonly SpentBudget[]): string | null {
  const daily = budgets.filter(({ budget }) => budget.period === 'day');
  const ofProjects = daily.filter(({ holder }) => holder.kind === 'project');
  const counted = ofProjects.length > 0 ? ofProjects : daily.filter(({ holder }) => holder.kind === 'key');
  return counted.length === 0 ? null : toDollars(counted.reduce((sum, { budget }) => sum + budget.nanos, 0));
}

function toNearBudget({ holder, budget, spentNanos, share, endsAtMs }: SpentBudget) {
  return {
    kind: holder.kind,
    id: holder.id,
    name: holder.name || holder.id,
    period: budget.period,
    spent: toDollars(spentNanos),
    amount: toDollars(budget.nanos),
    share,
    endsAt: endsAtMs === undefined ? null : toInstant(endsAtMs),
  };
}
