/** What other gateways say of a key or a team beside its secret, in the words of `keys` and `projects`. */

import type { Part } from './part.ts';

export interface Terms {
  readonly models?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly expires?: string | undefined;
  readonly project?: string | undefined;
  readonly limits?: Readonly<Record<string, number | undefined>> | undefined;
  readonly budgets?: readonly Budget[] | undefined;
}

interface Budget {
  readonly every: string;
  readonly amount: number;
}

const periods: readonly (readonly [written: RegExp, period: string])[] = [
  [/^(1d|24h|daily)$/, 'day'],
  [/^(7d|1w|weekly)$/, 'week'],
  [/^(28d|30d|31d|1mo|1M|monthly)$/, 'month'],
];

/** Of another length there is none here; then it is said. One without a length is spent once. */
export function budgetOf(part: Part, amountKey: string, durationKey: string): Budget | undefined {
  const amount = part.number(amountKey);
  const duration = part.text(durationKey);
  if (amount === undefined) return undefined;
  const every = duration === undefined ? 'total' : periods.find(([written]) => written.test(duration))?.[1];
  if (every === undefined) part.note(`there is no budget of ${duration} here; day, week, month or total`, durationKey);
  return every === undefined || amount <= 0 ? undefined : { every, amount };
}

/** Undefined where nothing is in it, so that nothing is written. */
export function filled<T extends object>(values: T): T | undefined {
  return Object.values(values).some((value) => value !== undefined) ? values : undefined;
}

/** What an ID may be made of. */
export function toId(text: string): string {
  return (
    text
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 60) || 'key'
  );
}
