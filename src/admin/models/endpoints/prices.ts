/** The dated table of prices that comes with Postern, as it is. */

import { priceTable } from '../../../prices/table.ts';
import { implement } from '../../implement.ts';
import * as contract from '../contract/prices.ts';
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

const listPrices = implement(contract.listPrices, ({ query: { q = '', before, limit } }) => {
  const wanted = q.toLowerCase();
  const fitting = rows.filter(({ family, model }) => `${family} ${model}`.toLowerCase().includes(wanted));
  const from = before === undefined ? 0 : Number.parseInt(before, 10) || 0;
  const next = from + limit < fitting.length ? String(from + limit) : null;
  return { items: fitting.slice(from, from + limit), next, total: fitting.length };
});

export default [listPrices];
