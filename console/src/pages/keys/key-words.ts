/** What a key or a project may do, as people say it. */

import type { Key } from '../../../../src/admin/contract.ts';
import { limitNames } from '../../../../src/admin/contract.ts';
import { formatCount } from '../../parts/words/format.ts';

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
