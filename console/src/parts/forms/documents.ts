/** Reads and writes configuration documents for forms; fields of unknown type are kept. */

export type Document = Readonly<Record<string, unknown>>;

/** Tells a mapping of keys to values from all else that a document may hold. */
export function isMapping(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const toMapping = (value: unknown): Document => (isMapping(value) ? { ...value } : {});
export const toMappings = (value: unknown): Document[] => (Array.isArray(value) ? value.map(toMapping) : []);

export const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
export const toTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(toText).filter((text) => text !== '') : [];
/** Null where nothing is chosen. */
export const toChoice = (value: unknown): string | null => toText(value) || null;
export const toAmount = (value: unknown): number | string =>
  typeof value === 'number' || typeof value === 'string' ? value : '';
export const isTrue = (value: unknown): boolean => value === true;

/** The fields of these names, each read in the same way. */
export function pick<N extends string, V>(
  names: readonly N[],
  from: Document,
  to: (value: unknown) => V,
): Record<N, V> {
  return Object.fromEntries(names.map((name) => [name, to(from[name])])) as Record<N, V>;
}

export const without = (document: Document, names: readonly string[]): Document =>
  Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)));

type Value = number | string | boolean | null;

/** Without what was left empty, or is not ticked. */
export function present(values: Readonly<Record<string, Value>>): Record<string, number | string | true> {
  const filled: Record<string, number | string | true> = {};
  for (const [name, value] of Object.entries(values)) {
    const kept = typeof value === 'string' ? value.trim() : value;
    if (kept !== '' && kept !== null && kept !== false) filled[name] = kept;
  }
  return filled;
}

/** The section of that name, unless there is nothing in it. */
export const section = (name: string, document: Document): Document =>
  Object.keys(document).length === 0 ? {} : { [name]: document };
