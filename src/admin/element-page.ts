/** Pages of configured elements by ID, made in slices: only the elements of the page become views. */

import type { ConfiguredElement } from '../core/resource-editor.ts';
import { inSlices } from '../lib/time-slices.ts';

interface PageQuery {
  /** The last ID of the previous page. */
  readonly before?: string | undefined;
  readonly limit: number;
}

interface PageParts<T> {
  fits(element: ConfiguredElement): boolean;
  toView(element: ConfiguredElement): T;
}

export async function toElementPage<T>(
  elements: readonly ConfiguredElement[],
  { before, limit }: PageQuery,
  { fits, toView }: PageParts<T>,
) {
  const fitting = (await inSlices(elements, (element) => (fits(element) ? [element] : []))).flat();
  fitting.sort((a, b) => (a.id < b.id ? -1 : 1));
  const rest = before === undefined ? fitting : fitting.filter(({ id }) => id > before);
  const items = await inSlices(rest.slice(0, limit), toView);
  return { items, next: rest.length > limit ? (rest[limit - 1]?.id ?? null) : null, total: fitting.length };
}
