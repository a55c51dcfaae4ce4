/** Converts an upstream between its document and its form; credentials and headers are rows, whose secrets stay unless typed anew. */

import type { FamilyFacts } from '../../../../src/admin/contract.ts';
import {
  type Document,
  type DocumentField,
  fieldsOf,
  only,
  toDocument,
  toMapping,
  toText,
  toValues,
} from '../../parts/forms/documents.ts';
import { sections } from './upstream-fields.ts';

export interface KeyValues {
  /** Identifies the row; it stays the same while other rows are added and removed. */
  row: string;
  /** The typed secret; empty to keep the stored one. */
  secret: string;
  /** The text that stands for the stored secret; empty if there is none, or it is to be replaced. */
  kept: string;
  /** The file with the secret (`api_key_file`), which is not changed here. */
  file: string;
  weight: number | string;
}

interface HeaderValues {
  row: string;
  name: string;
  value: string;
  kept: string;
}

export interface UpstreamValues extends Document {
  readonly keys: readonly KeyValues[];
  readonly headers: readonly HeaderValues[];
}

let rows = 0;
function newRow(): string {
  rows += 1;
  return `row ${rows}`;
}

export const emptyKey = (): KeyValues => ({ row: newRow(), secret: '', kept: '', file: '', weight: 1 });
export const emptyHeader = (): HeaderValues => ({ row: newRow(), name: '', value: '', kept: '' });

type Defaults = Pick<FamilyFacts, 'baseUrl' | 'options'>;

/** The fields of the form. Defaults of the family's options are shown, because they apply too. */
const fieldsFor = (family: Defaults): readonly DocumentField[] => [
  { path: 'base_url', write: (address) => (toText(address).trim() === family.baseUrl ? '' : toText(address).trim()) },
  ...family.options.map(({ name, default: standard }) => ({ path: `options.${name}`, empty: standard ?? '' })),
  only('health_check', 'path'),
  ...sections.flatMap(({ fields }) => fieldsOf(fields)),
];

export function toUpstreamValues(document: Document, family: Defaults): UpstreamValues {
  const { api_key, api_key_file, credentials, headers, ...others } = document;
  return {
    ...toValues(others, fieldsFor(family)),
    keys: toKeys({ api_key, api_key_file }, credentials),
    headers: Object.entries(toMapping(headers)).map(([name, value]) => toHeader(name, toText(value))),
  };
}

/** The first values of the form: the family's defaults are filled in where users must see them. */
export function toFirstValues(family: FamilyFacts, id: string): UpstreamValues {
  const values = toUpstreamValues({ id, family: family.id }, family);
  return {
    ...values,
    base_url: family.baseUrl !== null && !family.baseUrl.includes('{') && family.kind !== 'cloud' ? family.baseUrl : '',
    keys: family.credential === 'none' ? [] : [emptyKey()],
  };
}

const isShown = (text: string): boolean => /^\(sealed(?: [^()]+)?\)$/.test(text);

function toKeys(own: Document, credentials: unknown): KeyValues[] {
  if (!Array.isArray(credentials)) {
    return own.api_key === undefined && own.api_key_file === undefined ? [] : [toKey(own, 'api_key')];
  }
  return credentials.map((entry, index) => toKey(toMapping(entry), `credentials[${index}].api_key`));
}

/** The form's credential. A `(sealed)` secret gets its position, so that its row can be moved. */
function toKey({ api_key, api_key_file, weight = 1 }: Document, place: string): KeyValues {
  const text = toText(api_key);
  const kept = text === '(sealed)' ? `(sealed ${place})` : isShown(text) ? text : '';
  const share = typeof weight === 'number' ? weight : toText(weight);
  return { row: newRow(), secret: kept === '' ? text : '', kept, file: toText(api_key_file), weight: share };
}

const toHeader = (name: string, text: string): HeaderValues => ({
  row: newRow(),
  name,
  value: isShown(text) ? '' : text,
  kept: isShown(text) ? text : '',
});

/** The document from the form's values. Fields without a value are left out, to keep it short. */
export function toUpstreamDocument({ keys, headers, ...values }: UpstreamValues, family: Defaults): Document {
  const named = headers.filter(({ name }) => name.trim() !== '');
  return {
    ...toDocument(values, fieldsFor(family)),
    id: toText(values.id).trim(),
    ...toCredentials(keys),
    ...(named.length > 0 && {
      headers: Object.fromEntries(named.map(({ name, value, kept }) => [name.trim(), value === '' ? kept : value])),
    }),
  };
}

function toCredentials(keys: readonly KeyValues[]): Document {
  const written = keys.filter(({ secret, kept, file }) => secret !== '' || kept !== '' || file !== '');
  const [only] = written;
  if (only === undefined) return {};
  if (written.length === 1) return toCredential(only);
  return { credentials: written.map((key) => ({ ...toCredential(key), weight: key.weight === '' ? 1 : key.weight })) };
}

function toCredential({ secret, kept, file }: KeyValues): Document {
  if (secret !== '') return { api_key: secret };
  return file === '' ? { api_key: kept } : { api_key_file: file };
}

/** The form's field for a field of the API, to show errors there. */
export function toField(path: string): string {
  if (path === 'api_key' || path === 'api_key_file') return 'keys[0].secret';
  const index = /^credentials\[(\d+)\]\./.exec(path)?.[1];
  if (index !== undefined) return path.endsWith('.weight') ? `keys[${index}].weight` : `keys[${index}].secret`;
  return path.startsWith('headers.') ? 'headers' : path;
}
