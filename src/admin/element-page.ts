/** Pages of configured elements by ID, made in slices: only the elements of the page become views. */

import type { ConfiguredElement } from '../core/resource-editor.ts';
import { timeSliced } from '../lib/time-slices.ts';

interface PageQuery {
  /** The last ID of the previous page. */
  readonly before?: string | undefined;
  readonly limit: number;
}

interface PageParts<T> {
  fits(element: ConfiguredElement): boolean;
  toView(element: ConfiguredElement): T;
}

interface ElementPage<T> {
  readonly items: T[];
  readonly next: string | null;
  readonly total: number;
}

export function toElementPage<T>(
  elements: readonly ConfiguredElement[],
  query: PageQuery,
  parts: PageParts<T>,
): Promise<ElementPage<T>> {
  return timeSliced(paging(elements, query, parts));
}

function* paging<T>(
  elements: readonly ConfiguredElement[],
  { before, limit }: PageQuery,
  { fits, toView }: PageParts<T>,
): Generator<undefined, ElementPage<T>, undefined> {
  const fitting: ConfiguredElement[] = [];
  for (const element of elements) {
    yield;
    if (fits(element)) fitting.push(element);
  }
  yield;
  fitting.sort((a, b) => (a.id < b.id ? -1 : 1));
  const rest = before === undefined ? fitting : fitting.filter(({ id }) => id > before);
  const items: T[] = [];
  for (const element of rest.slice(0, limit)) {
    yield;
    items.push(toView(element));
  }
  return { items, next: rest.length > limit ? (rest[limit - 1]?.id ?? null) : null, total: fitting.length };
}
