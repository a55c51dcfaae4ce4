/** A project as its form holds it, and as the API reads it. */

import type { KeyDocument, Project } from '../../../../src/admin/contract.ts';
import { isMapping } from '../../parts/forms/is-mapping.ts';
import { type CapsValues, toCapsDocument, toCapsValues } from './key-values.ts';

export interface ProjectValues extends CapsValues {
  readonly id: string;
  readonly name: string;
}

export const newProjectValues: ProjectValues = { id: '', name: '', ...toCapsValues({ limits: {}, budgets: [] }) };

type CapsOf = Pick<KeyDocument, 'limits' | 'budgets'>;

/** The document is as someone wrote it: amounts may be numbers, and what is standard may be left out. */
export function toProjectCaps(document: Project['document']): CapsOf {
  const limits = isMapping(document.limits) ? Object.entries(document.limits) : [];
  const budgets = Array.isArray(document.budgets) ? document.budgets.filter(isMapping) : [];
  return {
    limits: Object.fromEntries(limits.filter((pair): pair is [string, number] => typeof pair[1] === 'number')),
    budgets: budgets.map(({ every, amount, alerts }) => ({
      every: every === 'day' || every === 'week' || every === 'total' ? every : 'month',
      amount: String(amount ?? ''),
      alerts: Array.isArray(alerts) ? alerts.map(String) : ['80%', '100%'],
    })),
  };
}

export function toProjectValues({ id, document }: Project): ProjectValues {
  const { name } = document;
  return { id, name: typeof name === 'string' ? name : '', ...toCapsValues(toProjectCaps(document)) };
}

export function toProjectDocument(values: ProjectValues): Record<string, unknown> {
  const name = values.name.trim();
  return { ...(name !== '' && { name }), ...toCapsDocument(values) };
}
