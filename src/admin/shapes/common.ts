/** Shapes that many endpoints share. */

import * as z from 'zod';

/** Milliseconds since the epoch are given as text that every language reads: 2026-11-21T12:00:00.000Z. */
export const instant = z.iso.datetime().meta({ description: 'A time in UTC.' });

export const toInstant = (ms: number): string => new Date(ms).toISOString();

export const idParam = z.object({ id: z.string().min(1).max(256) });

export const pageQuery = z.object({
  before: z.string().max(200).optional().meta({ description: 'The `next` of the page before.' }),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().meta({ description: 'What to give as `before` for the next page; null on the last.' }),
  });
}

/** Money is decimal US dollars as text, exact to the nano-dollar. */
export const dollars = z.string().meta({ description: 'US dollars, decimal and exact.' });
