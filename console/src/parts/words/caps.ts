/** Writes the limits and budgets of a key, project or model in words. */

import type { BudgetPeriod, LimitName } from '../../../../src/admin/contract.ts';

export const limitLabels: Readonly<Record<LimitName, string>> = {
  requests_per_minute: 'Requests a minute',
  requests_per_day: 'Requests a day',
  tokens_per_minute: 'Tokens a minute',
  tokens_per_day: 'Tokens a day',
  items_per_minute: 'Items a minute',
  items_per_day: 'Items a day',
  concurrency: 'Requests at a time',
};

/** Words for a budget's period, which follow the amount. */
export const periodWords: Readonly<Record<BudgetPeriod, string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in total',
};

/** The periods to choose from, the usual one first. */
export const periodChoices: readonly { readonly value: BudgetPeriod; readonly label: string }[] = [
  { value: 'month', label: 'Every month' },
  { value: 'week', label: 'Every week' },
  { value: 'day', label: 'Every day' },
  { value: 'total', label: 'In total' },
];

/** Shares of a new budget at which alerts are sent. */
export const standardAlerts: readonly string[] = ['80%', '100%'];
