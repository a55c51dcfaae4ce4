/** Converts a project between its form and the API. */

import type { KeyDocument, Project } from '../../../../src/admin/contract.ts';
import { isMapping } from '../../parts/forms/documents.ts';
import { type CapsValues, toCapsDocument, toCapsValues } from './key-values.ts';

export interface ProjectValues extends CapsValues {
  readonly id: string;
  readonly name: string;
  /** The upstream that stores the files of its keys; empty if there is none. */
  readonly files: string;
  /** The other fields of the document. */
  readonly rest: Readonly<Record<string, unknown>>;
}

export const newProjectValues: ProjectValues = {
  id: '',
  name: '',
  files: '',
  rest: {},
  ...toCapsValues({ limits: {}, budgets: [] }),
};

type CapsOf = Pick<KeyDocument, 'limits' | 'budgets'>;

/** The document is as someone wrote it: amounts may be numbers, and defaults may be left out. */
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
  const { id: _, name, files, limits: _limits, budgets: _budgets, ...rest } = document;
  const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { id, name: toText(name), files: toText(files), rest, ...toCapsValues(toProjectCaps(document)) };
}

export function toProjectDocument(values: ProjectValues): Record<string, unknown> {
  const name = values.name.trim();
  const files = values.files.trim();
  return { ...values.rest, ...(name !== '' && { name }), ...(files !== '' && { files }), ...toCapsDocument(values) };
}
