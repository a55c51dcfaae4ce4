/** Describes the form fields of keys and projects, and converts between their documents and their forms. */

import { type KeyDocument, limitNames } from '../../../../src/admin/contract.ts';
import { type Document, toDocument, toMapping, toMappings, toText, toValues } from '../../parts/forms/documents.ts';
import { standardAlerts } from '../../parts/words/caps.ts';
import { type FieldWords, laneField, shapeField } from '../../parts/words/operations.ts';

/** Fields that have their own part of the form. */
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

/** Fields that have no own part of the form. */
const plainFields: Readonly<Record<Exclude<keyof KeyDocument, FullTerm>, FieldWords>> = {
  lane: laneField,
  shape: {
    ...shapeField,
    description: 'Whose rerank answers and errors they read, where a request does not say.',
  },
};

export const plainRows = Object.entries(plainFields).map(([path, words]) => ({ ...words, path }));

const standardCapture = '7d';

const capsFields = [
  ...limitNames.map((name) => ({ path: `limits.${name}` })),
  { path: 'budgets', empty: [], items: [{ path: 'amount' }] },
];
const keyFields = [
  { path: 'operations', empty: [] },
  { path: 'addresses', empty: [] },
  { path: 'project', empty: null },
  ...capsFields,
  ...plainRows,
];

export function toKeyValues({
  models = ['*'],
  expires,
  metadata,
  capture,
  ...document
}: Partial<KeyDocument>): Document {
  const isAll = models.length === 1 && models[0] === '*';
  const values = {
    name: '',
    ...document,
    scope: isAll ? 'all' : 'some',
    models: isAll ? [] : models,
    expiry: expires === undefined ? 'never' : 'date',
    expiresOn: expires?.slice(0, 10) ?? '',
    notes: Object.entries(toMapping(metadata)).map(([name, text]) => ({ name, text })),
    captures: capture !== undefined,
    capture: capture ?? standardCapture,
  };
  return toValues(values, keyFields);
}

export function toKeyDocument(values: Document): Document {
  const { scope, models, expiry, expiresOn, notes, captures, capture, ...document } = toDocument(values, keyFields);
  const metadata = toMappings(notes).map(({ name, text }) => [toText(name).trim(), text]);
  return {
    ...document,
    models: scope === 'all' ? ['*'] : models,
    ...(expiry !== 'never' && { expires: expiry === 'date' ? expiresOn : expiry }),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
    ...(captures === true && { capture: toText(capture).trim() }),
  };
}

const projectFields = [{ path: 'name' }, { path: 'files' }, ...capsFields];

export const toProjectValues = (document: Document): Document => {
  const budgets = toMappings(document.budgets).map((budget) => ({ alerts: standardAlerts, ...budget }));
  return toValues({ id: '', ...document, budgets }, projectFields);
};

export function toProjectDocument(values: Document): Document {
  const { id: _, ...document } = toDocument(values, projectFields);
  return document;
}

/** The changed fields of a document; null removes a field. */
export function toChange(old: Document, now: Document): Record<string, unknown> {
  const change: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (JSON.stringify(old[field]) !== JSON.stringify(now[field])) change[field] = now[field] ?? null;
  }
  return change;
}

/** The form's field for a field of the document, to show errors there. */
export function toField(path: string): string {
  if (path.startsWith('metadata')) return 'notes';
  return path === 'expires' ? 'expiresOn' : path;
}
