/** A key as its form holds it, and as the API reads it: in the words of the configuration file. */

import { type BudgetPeriod, type KeyDocument, type LimitName, limitNames } from '../../../../src/admin/contract.ts';

interface BudgetValues {
  readonly every: BudgetPeriod;
  readonly amount: string;
  readonly alerts: readonly string[];
}

export interface CapsValues {
  readonly limits: Readonly<Record<LimitName, number | string>>;
  readonly budgets: readonly BudgetValues[];
}

export interface KeyValues extends CapsValues {
  readonly name: string;
  readonly scope: 'all' | 'some';
  readonly models: readonly string[];
  readonly operations: readonly string[];
  readonly addresses: readonly string[];
  readonly expiry: 'never' | '30d' | '90d' | '365d' | 'date';
  readonly expiresOn: string;
  readonly project: string | null;
  readonly notes: readonly { readonly name: string; readonly text: string }[];
  readonly captures: boolean;
  readonly capture: string;
  readonly shape: string | null;
}

const noLimits = toLimitValues({});

const standardAlerts = ['80%', '100%'];
const standardCapture = '7d';

export const newBudget = (every: BudgetPeriod): BudgetValues => ({ every, amount: '', alerts: standardAlerts });

export const newKeyValues: KeyValues = {
  name: '',
  scope: 'all',
  models: [],
  operations: [],
  addresses: [],
  expiry: 'never',
  expiresOn: '',
  project: null,
  limits: noLimits,
  budgets: [],
  notes: [],
  captures: false,
  capture: standardCapture,
  shape: null,
};

export function toValues(document: KeyDocument): KeyValues {
  const isAll = document.models.length === 1 && document.models[0] === '*';
  return {
    name: document.name ?? '',
    scope: isAll ? 'all' : 'some',
    models: isAll ? [] : document.models,
    operations: document.operations ?? [],
    addresses: document.addresses ?? [],
    expiry: document.expires === undefined ? 'never' : 'date',
    expiresOn: document.expires?.slice(0, 10) ?? '',
    project: document.project ?? null,
    ...toCapsValues(document),
    notes: Object.entries(document.metadata).map(([name, text]) => ({ name, text })),
    captures: document.capture !== undefined,
    capture: document.capture ?? standardCapture,
    shape: document.shape ?? null,
  };
}

export const toCapsValues = ({ limits, budgets }: Pick<KeyDocument, 'limits' | 'budgets'>): CapsValues => ({
  limits: toLimitValues(limits),
  budgets,
});

function toLimitValues(limits: Readonly<Record<string, number>>): CapsValues['limits'] {
  const values: Partial<Record<LimitName, number | string>> = {};
  for (const name of limitNames) values[name] = limits[name] ?? '';
  return values as CapsValues['limits'];
}

export function toCapsDocument({ limits, budgets }: CapsValues): Record<string, unknown> {
  return {
    limits: Object.fromEntries(Object.entries(limits).filter(([, most]) => most !== '')),
    budgets: budgets.map(({ every, amount, alerts }) => ({ every, amount: amount.trim(), alerts })),
  };
}

/** What is empty is not in it. */
export function toDocument(values: KeyValues): Record<string, unknown> {
  const { expiry, expiresOn, operations, addresses, project, notes } = values;
  return {
    name: values.name,
    models: values.scope === 'all' ? ['*'] : values.models,
    ...(operations.length > 0 && { operations }),
    ...(addresses.length > 0 && { addresses }),
    ...(expiry !== 'never' && { expires: expiry === 'date' ? expiresOn : expiry }),
    ...(project !== null && { project }),
    ...toCapsDocument(values),
    ...(notes.length > 0 && { metadata: Object.fromEntries(notes.map(({ name, text }) => [name.trim(), text])) }),
    ...(values.captures && { capture: values.capture.trim() }),
    ...(values.shape !== null && { shape: values.shape }),
  };
}

/** What was changed; null takes away. */
export function toChange(before: KeyValues, after: KeyValues): Record<string, unknown> {
  const [old, now] = [toDocument(before), toDocument(after)];
  const change: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (JSON.stringify(old[field]) !== JSON.stringify(now[field])) change[field] = now[field] ?? null;
  }
  return change;
}

/** Where the form has a field of the document. */
export function toField(path: string): string {
  if (path.startsWith('metadata')) return 'notes';
  return path === 'expires' ? 'expiresOn' : path;
}
