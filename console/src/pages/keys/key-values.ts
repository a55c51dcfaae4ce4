/** Converts a key between its form and the API, which uses the configuration file's fields. */

import { type BudgetPeriod, type KeyDocument, type LimitName, limitNames } from '../../../../src/admin/contract.ts';
import { pick, toAmount } from '../../parts/forms/documents.ts';
import { type FieldWords, laneField, shapeField } from '../../parts/words/operations.ts';

interface BudgetValues {
  readonly every: BudgetPeriod;
  readonly amount: string;
  readonly alerts: readonly string[];
}

export interface CapsValues {
  readonly limits: Readonly<Record<LimitName, number | string>>;
  readonly budgets: readonly BudgetValues[];
}

/** Fields that need conversion; the functions below convert them. */
type FullTerm =
  | 'name'
  | 'models'
  | 'operations'
  | 'addresses'
  | 'expires'
  | 'project'
  | 'limits'
  | 'budgets'
  | 'metadata'
  | 'capture';
type PlainTerm = Exclude<keyof KeyDocument, FullTerm>;

/** All other fields: the form shows the document's value, or an empty text if it has none. */
export const plainFields: Readonly<Record<PlainTerm, FieldWords>> = {
  lane: laneField,
  shape: {
    ...shapeField,
    description: 'Whose rerank answers and errors they read, where a request does not say.',
  },
};

type PlainValues = { readonly [Term in PlainTerm]?: KeyDocument[Term] | '' | null };

export interface KeyValues extends CapsValues, PlainValues {
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
}

const noLimits = pick(limitNames, {}, toAmount);

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
  ...Object.fromEntries(Object.keys(plainFields).map((term) => [term, null])),
};

export function toValues(document: KeyDocument): KeyValues {
  const { name, models, operations, addresses, expires, project, limits, budgets, metadata, capture, ...plain } =
    document;
  const isAll = models.length === 1 && models[0] === '*';
  return {
    ...newKeyValues,
    name: name ?? '',
    scope: isAll ? 'all' : 'some',
    models: isAll ? [] : models,
    operations: operations ?? [],
    addresses: addresses ?? [],
    expiry: expires === undefined ? 'never' : 'date',
    expiresOn: expires?.slice(0, 10) ?? '',
    project: project ?? null,
    ...toCapsValues({ limits, budgets }),
    notes: Object.entries(metadata).map(([name, text]) => ({ name, text })),
    captures: capture !== undefined,
    capture: capture ?? standardCapture,
    ...plain,
  };
}

export const toCapsValues = ({ limits, budgets }: Pick<KeyDocument, 'limits' | 'budgets'>): CapsValues => ({
  limits: pick(limitNames, limits, toAmount),
  budgets,
});

export const toCapsDocument = ({ limits, budgets }: CapsValues): Record<string, unknown> => ({
  limits: Object.fromEntries(Object.entries(limits).filter(([, most]) => most !== '')),
  budgets: budgets.map(({ every, amount, alerts }) => ({ every, amount: amount.trim(), alerts })),
});

/** Leaves out empty fields. */
export function toDocument(values: KeyValues): Record<string, unknown> {
  const { name, scope, models, operations, addresses, expiry, expiresOn, ...more } = values;
  const { project, limits, budgets, notes, captures, capture, ...plain } = more;
  return {
    name,
    models: scope === 'all' ? ['*'] : models,
    ...(operations.length > 0 && { operations }),
    ...(addresses.length > 0 && { addresses }),
    ...(expiry !== 'never' && { expires: expiry === 'date' ? expiresOn : expiry }),
    ...(project !== null && { project }),
    ...toCapsDocument({ limits, budgets }),
    ...(notes.length > 0 && { metadata: Object.fromEntries(notes.map((note) => [note.name.trim(), note.text])) }),
    ...(captures && { capture: capture.trim() }),
    ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== null && value !== '')),
  };
}

/** The changed fields; null removes a field. */
export function toChange(before: KeyValues, after: KeyValues): Record<string, unknown> {
  const [old, now] = [toDocument(before), toDocument(after)];
  const change: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (JSON.stringify(old[field]) !== JSON.stringify(now[field])) change[field] = now[field] ?? null;
  }
  return change;
}

/** The form field for a field of the document. */
export function toField(path: string): string {
  if (path.startsWith('metadata')) return 'notes';
  return path === 'expires' ? 'expiresOn' : path;
}
