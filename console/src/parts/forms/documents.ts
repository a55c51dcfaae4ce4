/** Lets forms edit configuration documents: each field has a path in the document, and parts that the form lacks stay unchanged. */

import type { FieldWords } from '../words/operations.ts';

export type Document = Readonly<Record<string, unknown>>;

/** Whether a value is an object with keys, and not a list or a simple value. */
export function isMapping(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const toMapping = (value: unknown): Document => (isMapping(value) ? { ...value } : {});
export const toMappings = (value: unknown): Document[] => (Array.isArray(value) ? value.map(toMapping) : []);

export const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

export interface DocumentField {
  /** Path in the document, or in the list element that has the field, such as `cache.ttl`. */
  readonly path: string;
  /** The kind of field, if it is neither a text nor a choice. */
  readonly kind?: 'number' | 'tags' | 'check' | 'switch';
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** The shown value if the document has none; it is never written. Default: one that fits the kind. */
  readonly empty?: unknown;
  /** For a list of objects: the fields of each object. */
  readonly items?: readonly DocumentField[];
  /** Converts the document's value, if the form needs another shape. Such a section must come before its own fields in the list. */
  readonly read?: (written: unknown) => unknown;
  /** Converts the form's value. Default: the text without white space around it. */
  readonly write?: (shown: unknown) => unknown;
}

export interface FormField extends FieldWords, Omit<DocumentField, 'items'> {
  /** The value that a ticked box writes. Default: true. */
  readonly ticked?: string;
  /** Which keyboard a phone shows. */
  readonly inputMode?: 'numeric' | 'text';
  /** The smallest number. Default: 1. */
  readonly min?: number;
  readonly max?: number;
  /** The step of a number. Default: whole numbers only. */
  readonly step?: number;
  readonly splitChars?: string[];
  /** A further path whose errors are shown at this field, such as that of the whole section. */
  readonly faultAt?: string;
}

/** A field, or several side by side if there is room. */
export type FieldRow = FormField | FieldGrid;

interface FieldGrid {
  readonly grid: readonly FormField[];
  /** The path of the check box that must be ticked for this field to be shown. */
  readonly shownBy?: string;
}

export const fieldsOf = (rows: readonly FieldRow[]): FormField[] =>
  rows.flatMap((row) => ('grid' in row ? row.grid : [row]));

/** The form's values: those of the document, with a value for every field. */
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

/** The document from the form's values. Empty fields are left out, so that it stays short. */
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

/** A field for a section that has no meaning without its field `name`. */
export const only = (path: string, name: string): DocumentField => ({
  path,
  write: (section) => (name in toMapping(section) ? section : undefined),
});

/** Keeps a text unchanged, for texts in which white space around them matters. */
export const asItIs = (value: unknown): unknown => value;
const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);

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

/** The document with a value at a path. Undefined removes the field, and sections that become empty. */
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
