/** Forms edit configuration documents: each field stands at its path, and what the form lacks stays as it is. */

import type { FieldWords } from '../words/operations.ts';

export type Document = Readonly<Record<string, unknown>>;

/** Tells a mapping of keys to values from all else that a document may hold. */
export function isMapping(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const toMapping = (value: unknown): Document => (isMapping(value) ? { ...value } : {});
export const toMappings = (value: unknown): Document[] => (Array.isArray(value) ? value.map(toMapping) : []);

export const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

export interface DocumentField {
  /** From the document, or from the list element that it is a field of, such as `cache.ttl`. */
  readonly path: string;
  /** If it is neither a text nor a choice. */
  readonly kind?: 'number' | 'tags' | 'check' | 'switch';
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** Shown where the document has no value, and never written. Default: as fits the kind. */
  readonly empty?: unknown;
  /** The fields of each mapping in a list. */
  readonly items?: readonly DocumentField[];
  /** Where the form has another shape than the document. Such a section stands before its own fields. */
  readonly read?: (written: unknown) => unknown;
  /** Default: text without the white space around it. */
  readonly write?: (shown: unknown) => unknown;
}

export interface FormField extends FieldWords, Omit<DocumentField, 'items'> {
  /** What a ticked box writes. Default: true. */
  readonly ticked?: string;
  /** The keyboard that a phone shows for a text. */
  readonly inputMode?: 'numeric' | 'text';
  /** Default: at least 1. */
  readonly min?: number;
  readonly max?: number;
  /** Default: whole numbers. */
  readonly step?: number;
  /** The separators of a list of texts. */
  readonly splitChars?: string[];
  /** A further path whose errors are shown here, such as the whole section. */
  readonly faultAt?: string;
}

/** A field, or several side by side if there is room. */
export type FieldRow = FormField | FieldGrid;

interface FieldGrid {
  readonly grid: readonly FormField[];
  /** The path of the box that has to be ticked for it. */
  readonly shownBy?: string;
}

export const fieldsOf = (rows: readonly FieldRow[]): FormField[] =>
  rows.flatMap((row) => ('grid' in row ? row.grid : [row]));

/** The document with a value for every field. */
export function toValues(document: Document, fields: readonly DocumentField[]): Document {
  let values = document;
  for (const field of fields) {
    const { path, items, read = asItIs } = field;
    const value = read(valueAt(values, path)) ?? emptyOf(field);
    values = withValue(
      values,
      path,
      items === undefined ? value : toMappings(value).map((one) => toValues(one, items)),
    );
  }
  return values;
}

/** The opposite; leaves out empty fields, so that the document stays short. */
export function toDocument(values: Document, fields: readonly DocumentField[]): Document {
  let document = values;
  for (const field of fields.toReversed()) {
    const { path, items, write = trimmed } = field;
    const shown = valueAt(document, path);
    const value = items === undefined ? write(shown) : toMappings(shown).map((one) => toDocument(one, items));
    document = withValue(document, path, isEmpty(value) || value === emptyOf(field) ? undefined : value);
  }
  return document;
}

/** A section that means nothing without that field. */
export const only = (path: string, name: string): DocumentField => ({
  path,
  write: (section) => (name in toMapping(section) ? section : undefined),
});

/** For texts whose white space means something. */
export const asItIs = (value: unknown): unknown => value;
const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);

/** Nothing stands in the field. */
export const isEmpty = (value: unknown): boolean =>
  value === '' || value === null || (Array.isArray(value) && value[0] === undefined);

function emptyOf({ kind, choices, empty }: DocumentField): unknown {
  if (empty !== undefined) return empty;
  if (kind === 'tags') return [];
  if (kind === 'check' || kind === 'switch') return false;
  return choices === undefined ? '' : null;
}

function valueAt(document: Document, path: string): unknown {
  let value: unknown = document;
  for (const name of path.split('.')) value = isMapping(value) ? value[name] : undefined;
  return value;
}

/** Undefined removes the field, and each section that has no other. */
function withValue(document: Document, path: string, value: unknown): Document {
  const [name = '', ...inner] = path.split('.');
  if (inner.length === 0) return value === undefined ? without(document, name) : { ...document, [name]: value };
  const section = withValue(toMapping(document[name]), inner.join('.'), value);
  if (value === undefined && Object.keys(section).length === 0) return without(document, name);
  return { ...document, [name]: section };
}

function without(document: Document, name: string): Document {
  const { [name]: _, ...others } = document;
  return others;
}
