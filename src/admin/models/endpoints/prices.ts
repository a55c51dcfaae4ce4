/** The dated table of prices that comes with Postern, as it is. */

import { priceTable } from '../../../prices/table.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { pricePage, priceQuery } from '../contract/models.ts';
import { toListedAmounts } from '../price-view.ts';

const rows = priceTable.flatMap(({ family, source, asOf, verified, note, models }) =>
  Object.entries(models).map(([model, price]) => ({
    family,
    model,
    amounts: toListedAmounts(price),
    source,
    asOf,
    verified,
    note: note ?? null,
  })),
);

export const listPrices = defineEndpoint({
  method: 'GET',
  path: '/api/prices',
  summary: 'List what well-known models cost at their makers, as of when, and whether someone checked it',
  tag: 'Models',
  needs: 'viewer',
  query: priceQuery,
  answer: pricePage,
  run({ query: { q = '', before, limit } }) {
    const wanted = q.toLowerCase();
    const fitting = rows.filter(({ family, model }) => `${family} ${model}`.toLowerCase().includes(wanted));
    const from = before === undefined ? 0 : Number.parseInt(before, 10) || 0;
    const next = from + limit < fitting.length ? String(from + limit) : null;
    return { items: fitting.slice(from, from + limit), next, total: fitting.length };
  },
});
