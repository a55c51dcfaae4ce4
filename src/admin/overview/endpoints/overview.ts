/** Sums of requests, errors, usage and cost over a span of time, for the overview page. */

import type { AdminContext } from '../../context.ts';
import { implement } from '../../implement.ts';
import * as contract from '../contract/overview.ts';
import { readOverview } from '../overview.ts';
import { createRecently, type Recently } from '../recently.ts';

const keptMs = 3_000;
/** Of each context its own. */
const recent = new WeakMap<AdminContext, Recently>();

function recentlyOf(context: AdminContext): Recently {
  const known = recent.get(context) ?? createRecently(context.clock, keptMs);
  recent.set(context, known);
  return known;
}

const getOverview = implement(contract.getOverview, ({ query, context }) =>
  recentlyOf(context)(JSON.stringify(query), () => readOverview(context.store.ledger, query, context.clock.nowMs())),
);

export default [getOverview];
