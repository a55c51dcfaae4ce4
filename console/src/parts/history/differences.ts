/** Compares a document before and after a change, field by field. */

import { isMapping } from '../../parts/forms/documents.ts';

export interface Difference {
  /** Path of the value, as in `targets[0].upstream`; empty if the whole value is no document. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The value before the change, as JSON; undefined if there was none. `after` likewise. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Limit of shown differences; more are too many to read. */
export const mostDifferences = 200;

export function toDifferences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = [];
  compare(before ?? undefined, after ?? undefined, '', found);
  return found;
}

function compare(before: unknown, after: unknown, path: string, found: Difference[]): void {
  if (found.length >= mostDifferences || isSame(before, after)) return;
  const steps = stepsOf(before, after);
  if (steps === undefined) {
    found.push({ path, kind: kindOf(before, after), before: toText(before), after: toText(after) });
    return;
  }
  for (const { name, inBefore, inAfter } of steps) compare(inBefore, inAfter, path + name(path), found);
}

interface Step {
  name(path: string): string;
  readonly inBefore: unknown;
  readonly inAfter: unknown;
}

/** The fields or elements to compare; undefined if the two are compared as a whole: one has no fields, or their types differ. */
function stepsOf(before: unknown, after: unknown): Step[] | undefined {
  if (Array.isArray(before ?? after) && isListOrNothing(before) && isListOrNothing(after)) {
    const [one, other] = [before ?? [], after ?? []];
    // Names and numbers are easier to read on one line.
    if (![...one, ...other].some(isMapping)) return undefined;
    const length = Math.max(one.length, other.length);
    return Array.from({ length }, (_, index) => ({
      name: () => `[${index}]`,
      inBefore: one[index],
      inAfter: other[index],
    }));
  }
  if (!isMapping(before ?? after) || !isDocumentOrNothing(before) || !isDocumentOrNothing(after)) return undefined;
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  if (names.size === 0) return undefined;
  return [...names].map((key) => ({
    name: (path) => (path === '' ? key : `.${key}`),
    inBefore: fieldOf(before, key),
    inAfter: fieldOf(after, key),
  }));
}

type Document = Readonly<Record<string, unknown>>;

const isDocumentOrNothing = (value: unknown): value is Document | undefined => value === undefined || isMapping(value);
const isListOrNothing = (value: unknown): value is readonly unknown[] | undefined =>
  value === undefined || Array.isArray(value);

/** The value of a field; inherited properties do not count. */
const fieldOf = (document: Document | undefined, name: string): unknown =>
  document !== undefined && Object.hasOwn(document, name) ? (document[name] ?? undefined) : undefined;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const kindOf = (before: unknown, after: unknown): Difference['kind'] =>
  before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';

function toText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
