/** Sums of requests, errors, usage and cost over a span of time, for the overview page. */

import type { AdminContext } from '../../context.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { overview, overviewQuery } from '../contract/overview.ts';
import { readOverview } from '../overview.ts';
import { createRecently, type Recently } from '../recently.ts';

const keptMs = 3_000;
/** Of each house its own. */
const recent = new WeakMap<AdminContext, Recently>();

function recentlyOf(context: AdminContext): Recently {
  const known = recent.get(context) ?? createRecently(context.clock, keptMs);
  recent.set(context, known);
  return known;
}

export const getOverview = defineEndpoint({
  method: 'GET',
  path: '/api/overview',
  summary: 'Say what happened in the last hour, day, week or month: sums over time, the top ten, and latency',
  tag: 'Overview',
  needs: 'viewer',
  query: overviewQuery,
  answer: overview,
  run: ({ query, context }) =>
    recentlyOf(context)(JSON.stringify(query), () => readOverview(context.store.ledger, query, context.clock.nowMs())),
});
