/** Describes the fields of a model's form, by their paths in the configuration document. */

import { limitNames } from '../../../../src/admin/contract.ts';
import {
  type Document,
  type DocumentField,
  fieldsOf,
  isMapping,
  only,
  toDocument,
  toMapping,
  toText,
  toValues,
} from '../../parts/forms/documents.ts';
import { priceUnits } from '../../parts/words/prices.ts';
import { callingFields, listFields, sizeFields, targetFields } from './model-fields.ts';

export const factorNames = ['service_tier', 'speed', 'inference_geo'] as const;

const priceFields: readonly DocumentField[] = [
  ...priceUnits.map((path) => ({ path })),
  { path: 'batch' },
  { path: 'tools', read: toPairs, write: (pairs) => fromPairs(pairs, (amount) => amount) },
  ...factorNames.map((name) => ({
    path: `factors.${name}`,
    read: toPairs,
    write: (pairs: unknown) => fromPairs(pairs, toNumber),
  })),
];

/** How a price is set. `standard`: no price is set, so that the default applies. */
export type PriceKind = 'standard' | 'amounts' | 'free' | 'unknown';

const priceField: DocumentField = {
  path: 'price',
  read: (price) => toValues({ kind: kindOf(price), ...toMapping(price) }, priceFields),
  write: (price) => {
    const { kind, ...amounts } = toMapping(price);
    if (kind === 'standard') return undefined;
    return kind === 'amounts' ? toDocument(amounts, priceFields) : kind;
  },
};

function kindOf(price: unknown): PriceKind {
  if (price === 'free' || price === 'unknown') return price;
  return isMapping(price) ? 'amounts' : 'standard';
}

const ofTarget: readonly DocumentField[] = [
  { path: 'model' },
  { path: 'priority', empty: 0 },
  { path: 'weight', empty: 1 },
  priceField,
  ...targetFields,
];

/** A form field with a check box for an optional section, which may be present even if it has no other fields. */
const switched = (path: string): DocumentField => ({
  path,
  read: (section) => ({ on: section !== undefined, ...toMapping(section) }),
  write: (section) => {
    const { on, ...others } = toMapping(section);
    return on === true ? others : undefined;
  },
});

const fields: readonly DocumentField[] = [
  { path: 'aliases', kind: 'tags' },
  { path: 'operations', kind: 'tags' },
  { path: 'visible', empty: true },
  { path: 'targets', kind: 'tags', items: ofTarget },
  priceField,
  {
    path: 'retry',
    read: (retry) => (typeof retry === 'string' ? { scope: retry } : retry),
    write: (retry) => {
      const { scope, ...others } = toMapping(retry);
      return Object.keys(others).length === 0 ? scope : retry;
    },
  },
  switched('cache'),
  switched('coalesce'),
  only('shadow', 'model'),
  only('canary', 'texts'),
  ...limitNames.map((name) => ({ path: `limits.${name}` })),
  { path: 'budgets', kind: 'tags', items: [{ path: 'amount' }] },
  ...fieldsOf([...callingFields, ...listFields, ...sizeFields]),
];

export const toModelValues = (document: Document): Document => toValues({ id: '', ...document }, fields);
export const toModelDocument = (values: Document): Document => ({
  ...toDocument(values, fields),
  id: toText(values.id).trim(),
});

export const emptyTarget = (): Document => toValues({ upstream: '' }, ofTarget);

/** The entries of an object as texts such as `web_search: 0.01`. */
function toPairs(written: unknown): string[] {
  return Object.entries(toMapping(written)).map(([name, value]) => `${name}: ${toText(value)}`);
}

/** The object from texts such as `name: value`. Where a value is missing, the server's error names it. */
function fromPairs(pairs: unknown, toValue: (text: string) => unknown): Document | undefined {
  if (!Array.isArray(pairs) || pairs.length === 0) return undefined;
  const entries = pairs.map((pair) => {
    const [name = '', ...value] = toText(pair).split(':');
    return [name.trim(), toValue(value.join(':').trim())] as const;
  });
  return Object.fromEntries(entries);
}

/** The number in a text. Other text is kept, so that the server reports that it expects a number. */
const toNumber = (text: string): number | string => (text === '' || Number.isNaN(Number(text)) ? text : Number(text));
