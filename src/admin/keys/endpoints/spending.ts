/** What a key or a project used day by day, and where its budgets lead. */

import type { BudgetPeriod, Holder } from '../../../core/caps.ts';
import type { AdminContext } from '../../context.ts';
import { implement } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { absentProblem } from '../../resource-write.ts';
import * as contract from '../contract/spending.ts';
import { findKey } from '../key-view.ts';
import { readBurnDown, readSpend } from '../spending.ts';

const findKeyHolder = async (id: string, context: AdminContext): Promise<Holder> => ({
  kind: 'key',
  id,
  caps: (await findKey(id, context)).caps,
});

function findProjectHolder(id: string, { configuration }: AdminContext): Holder {
  const project = configuration.snapshot().projects.get(id);
  if (project === undefined) throw absentProblem('project', id);
  return { kind: 'project', id, caps: project.caps };
}

function showBurnDown({ kind, id, caps }: Holder, period: BudgetPeriod | undefined, context: AdminContext) {
  const { budgets } = caps;
  const budget = period === undefined ? budgets[0] : budgets.find((one) => one.period === period);
  if (budget !== undefined) return readBurnDown({ kind, id, caps }, budget, context);
  const which = period === undefined ? 'a budget' : `a budget by ${period}`;
  throw new Problem('not_found', { detail: `This ${kind} has not got ${which}; set one first.` });
}

export default [
  implement(contract.showKeyUsage, async ({ params: { id }, query: { days }, context }) =>
    readSpend(await findKeyHolder(id, context), days, context),
  ),
  implement(contract.showKeyBurnDown, async ({ params: { id }, query: { period }, context }) =>
    showBurnDown(await findKeyHolder(id, context), period, context),
  ),
  implement(contract.showProjectUsage, ({ params: { id }, query: { days }, context }) =>
    readSpend(findProjectHolder(id, context), days, context),
  ),
  implement(contract.showProjectBurnDown, async ({ params: { id }, query: { period }, context }) =>
    showBurnDown(findProjectHolder(id, context), period, context),
  ),
];
