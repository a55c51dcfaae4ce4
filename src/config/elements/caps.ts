/** Parses limits and budgets as operators write them in the file, on the command line and in the admin API. */

import type * as z from 'zod';
import {
  type Budget,
  budgetPeriods,
  type Caps,
  type LimitName,
  measures,
  noCaps,
  type Rate,
  rateWindows,
} from '../../core/caps.ts';
import type { CapsDocument } from '../../core/key.ts';
import { mostNanos, toDollars } from '../../lib/money.ts';
import { createFirsts, type Location, type Reporting } from './context.ts';
import { dollars, list, mapping, oneOf, share, wholeNumber } from './fields.ts';

/** Upper bound of a limit: far above any use, and small enough for exact sums. */
const mostCounted = 1_000_000_000_000;

const most = (what: string) => wholeNumber(1, mostCounted).optional().describe(what);

export const rateFields = {
  requests_per_minute: most('Requests per minute.'),
  requests_per_day: most('Requests per 24 hours.'),
  tokens_per_minute: most('Input and output tokens per minute.'),
  tokens_per_day: most('Input and output tokens per 24 hours.'),
  items_per_minute: most('Inputs, prompts and documents per minute.'),
  items_per_day: most('Inputs, prompts and documents per 24 hours.'),
} satisfies Record<Exclude<LimitName, 'concurrency'>, unknown>;

const standardAlerts = ['80%', '100%'];

const budget = mapping({
  every: oneOf(budgetPeriods).describe(
    'Period, in UTC; weeks begin on Monday, `total` never resets. At most one budget a period.',
  ),
  amount: dollars(1, mostNanos).describe('US dollars, with at most nine decimals.').meta({ kind: 'amount' }),
  alerts: list(share(1), 'a list of percentages')
    .prefault(standardAlerts)
    .describe('Alert thresholds, in percent.')
    .meta({
      kind: 'list of percentages',
      defaultText: `\`${JSON.stringify(standardAlerts)}\``,
    }),
});

export const budgetsField = () =>
  list(budget).default([]).describe('Budgets; a request whose worst case does not fit is refused.');

/** The limits and budgets of every holder except upstreams, whose `limits` have more fields. */
export const capsFields = {
  limits: mapping({
    ...rateFields,
    concurrency: wholeNumber(1, 1_000_000).optional().describe('Concurrent requests.'),
  })
    .prefault({})
    .describe('Rate limits and concurrency.'),
  budgets: budgetsField(),
};

interface WrittenCaps {
  readonly limits: Readonly<Partial<Record<LimitName, number | undefined>>>;
  readonly budgets: readonly z.output<typeof budget>[];
}

export function toCaps({ limits, budgets }: WrittenCaps, location: Location<Reporting>): Caps {
  const rates = toRates(limits);
  if (rates.length === 0 && budgets.length === 0 && limits.concurrency === undefined) return noCaps;
  return Object.freeze({
    rates: Object.freeze(rates),
    concurrency: limits.concurrency,
    budgets: Object.freeze(toBudgets(budgets, location.at('budgets'))),
  });
}

function toRates(limits: WrittenCaps['limits']): Rate[] {
  return measures.flatMap((measure) =>
    rateWindows.flatMap((window) => {
      const most = limits[`${measure}_per_${window}`];
      return most === undefined ? [] : [Object.freeze({ measure, window, most })];
    }),
  );
}

function toBudgets(written: WrittenCaps['budgets'], location: Location<Reporting>): Budget[] {
  const firstOf = createFirsts<Location<Reporting>>();
  return written.flatMap(({ every: period, amount: nanos, alerts }, index) => {
    const budget = location.at(index);
    const first = firstOf(period, budget);
    if (first !== undefined) {
      const both = `has the same period (${period}) as ${first.inWords()}`;
      budget.at('every').fault(`${both}; there is one budget for each period, so keep one of the two`);
      return [];
    }
    const percentages = [...new Set(alerts.map(({ percent }) => percent))].sort((a, b) => a - b);
    return [Object.freeze({ period, nanos, alerts: Object.freeze(percentages) })];
  });
}

export function describeCaps({ rates, concurrency, budgets }: Caps): CapsDocument {
  return {
    limits: Object.fromEntries<number>([
      ...rates.map(({ measure, window, most }) => [`${measure}_per_${window}`, most] as const),
      ...(concurrency === undefined ? [] : [['concurrency', concurrency] as const]),
    ]),
    budgets: budgets.map(({ period, nanos, alerts }) => ({
      every: period,
      amount: toDollars(nanos),
      alerts: alerts.map((percent) => `${percent}%`),
    })),
  };
}
