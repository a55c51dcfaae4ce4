/** What a key or a project used day by day, and where its budgets lead. */

import type { Holder } from '../../../core/caps.ts';
import type { AdminContext } from '../../context.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { Problem } from '../../problem.ts';
import { absentProblem } from '../../resource-write.ts';
import { idParam } from '../../shapes/common.ts';
import { burnDown, burnDownQuery, spend, spendQuery } from '../contract/keys.ts';
import { findKey } from '../key-view.ts';
import { readBurnDown, readSpend } from '../spending.ts';

const tag = 'Keys and projects';

type FindHolder = (id: string, context: AdminContext) => Promise<Holder> | Holder;

const toKeyHolder: FindHolder = async (id, context) => ({
  kind: 'key',
  id,
  caps: (await findKey(id, context)).caps,
});

const toProjectHolder: FindHolder = (id, { configuration }) => {
  const project = configuration.snapshot().projects.get(id);
  if (project === undefined) throw absentProblem('project', id);
  return { kind: 'project', id, caps: project.caps };
};

function defineUsage(path: string, what: string, find: FindHolder) {
  return defineEndpoint({
    method: 'GET',
    path: `${path}/usage`,
    summary: `Show what a ${what} used on each of the last days`,
    tag,
    needs: 'viewer',
    params: idParam,
    query: spendQuery,
    answer: spend,
    run: async ({ params: { id }, query: { days }, context }) => readSpend(await find(id, context), days, context),
  });
}

function defineBurnDown(path: string, what: string, find: FindHolder) {
  return defineEndpoint({
    method: 'GET',
    path: `${path}/burn-down`,
    summary: `Show how a budget of a ${what} is spent within its period, and whether it lasts at this pace`,
    tag,
    needs: 'viewer',
    params: idParam,
    query: burnDownQuery,
    answer: burnDown,
    async run({ params: { id }, query: { period }, context }) {
      const holder = await find(id, context);
      const { budgets } = holder.caps;
      const budget = period === undefined ? budgets[0] : budgets.find((one) => one.period === period);
      if (budget !== undefined) return readBurnDown(holder, budget, context);
      const which = period === undefined ? 'a budget' : `a budget by ${period}`;
      throw new Problem('not_found', { detail: `This ${what} has not got ${which}; set one first.` });
    },
  });
}

export const spendingEndpoints = [
  defineUsage('/api/keys/:id', 'key', toKeyHolder),
  defineBurnDown('/api/keys/:id', 'key', toKeyHolder),
  defineUsage('/api/projects/:id', 'project', toProjectHolder),
  defineBurnDown('/api/projects/:id', 'project', toProjectHolder),
];
