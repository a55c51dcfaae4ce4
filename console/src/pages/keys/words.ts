/** What a key or a project may do, as people say it. */

import type { BudgetState, Key } from '../../../../src/admin/contract.ts';
import { formatCount } from '../../parts/format.ts';

export type Period = BudgetState['every'];

export const periodWords: Readonly<Record<Period, string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in total',
};

const measureNames = ['requests', 'tokens', 'items'] as const;
const windowNames = ['minute', 'day'] as const;

/** Names of limits in the order in which they are shown. */
export const limitNames = [
  ...measureNames.flatMap((measure) => windowNames.map((window) => `${measure}_per_${window}` as const)),
  'concurrency' as const,
];
export type LimitName = (typeof limitNames)[number];

export const limitLabels: Readonly<Record<LimitName, string>> = {
  requests_per_minute: 'Requests a minute',
  requests_per_day: 'Requests a day',
  tokens_per_minute: 'Tokens a minute',
  tokens_per_day: 'Tokens a day',
  items_per_minute: 'Items a minute',
  items_per_day: 'Items a day',
  concurrency: 'Requests at a time',
};

export function limitsInWords(limits: Readonly<Record<string, number>>): string[] {
  return limitNames.flatMap((name) => {
    const most = limits[name];
    if (most === undefined) return [];
    if (name === 'concurrency') return [`${formatCount(most)} at a time`];
    const [measure = '', window = ''] = name.split('_per_');
    return [`${formatCount(most)} ${most === 1 ? measure.slice(0, -1) : measure} a ${window}`];
  });
}

export function modelsInWords(models: readonly string[]): string {
  if (models.includes('*')) return 'Every model';
  const [first, second, ...others] = models;
  const named = [first, second].filter((id) => id !== undefined).join(', ');
  return others.length === 0 ? named : `${named} and ${others.length} more`;
}

/** Its name, or its ID where it has none. */
export const nameOf = ({ id, document }: Pick<Key, 'id' | 'document'>): string => document.name ?? id;

/** The console makes it for itself. */
export const isPlaygroundKey = ({ document }: Pick<Key, 'document'>): boolean =>
  document.metadata['postern.console'] === 'playground';
