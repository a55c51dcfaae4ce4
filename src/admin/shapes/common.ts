/** Defines schemas that many endpoints share, such as pages, times, money and managed elements. */

import * as z from 'zod';
import { managers } from '../../core/resource-editor.ts';
import { targetStates } from '../../core/target-state.ts';

/** A time as text, such as 2026-11-21T12:00:00.000Z. */
export const instant = z.iso.datetime().describe('A time in UTC.');

export const toInstant = (ms: number): string => new Date(ms).toISOString();

type OrNull<T> = T extends undefined ? null : T;

type TimeName = `${string}${'At' | 'Until'}Ms`;

type Shown<T> = {
  [N in keyof T as N extends TimeName ? (N extends `${infer Time}Ms` ? Time : never) : N]: N extends TimeName
    ? T[N] extends number
      ? string
      : string | null
    : OrNull<T[N]>;
};

/** Converts a stored object for an answer: `createdAtMs` becomes `createdAt`, undefined becomes null; the schema drops other fields. */
export function toShown<T extends object>(stored: T): Shown<T> {
  const shown = Object.entries(stored).map(([name, value]) => {
    const time = /^(.+(?:At|Until))Ms$/.exec(name)?.[1];
    return time === undefined || value === undefined ? [time ?? name, value ?? null] : [time, toInstant(value)];
  });
  return Object.fromEntries(shown);
}

export const pageQuery = z.strictObject({
  before: z.string().max(200).optional().describe('The `next` of the page before.'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().describe('Value of `before` for the next page; null on the last.'),
  });
}

/** The `next` of a page. `found` has more elements than the limit where another page follows. */
export const nextOf = (found: readonly { readonly id: string }[], limit: number): string | null =>
  found.length > limit ? (found[limit - 1]?.id ?? null) : null;

/** Money is decimal US dollars as text, exact to the nano-dollar. */
export const dollars = z.string().describe('US dollars, decimal and exact.');

export const trafficSorts = ['requests', 'p95', 'cost'] as const;

/** The traffic that items of a list show. */
export const shownTraffic = {
  traffic: z
    .object({ requests: z.number(), duration: z.object({ p95: z.number() }).nullable(), cost: dollars })
    .nullable()
    .describe('Of the last 24 hours; null where there was none.'),
};

/** The query of a list that can be sorted by traffic. */
export const sortedPageQuery = pageQuery.extend({
  sort: z
    .enum(['name', ...trafficSorts])
    .optional()
    .describe('Traffic is that of the last 24 hours.'),
  direction: z.enum(['asc', 'desc']).default('desc'),
});

export const place = z.object({
  file: z.string(),
  line: z.number().int(),
});

export const reportedStates = [...targetStates, 'unknown'] as const;

/** What nodes report of a target, or of all of an upstream's targets together. */
export const reported = {
  state: z
    .enum(reportedStates)
    .describe(
      'The worst state that any node reports. `probing`: about to be tried again; `loading`: loads its model; `resting`: in cooldown; `failing`: still called, as there is no alternative.',
    ),
  why: z.string().nullable(),
  restsForMs: z.number(),
  latencyMs: z
    .number()
    .describe('Moving average of the time to the first byte; 0 without calls in the last five minutes.'),
  calls: z.number().int().describe('Of the last five minutes.'),
  failedCalls: z.number().int().describe('Of these, failed calls.'),
  inFlight: z.number().int(),
  waiting: z.number().int(),
};

/** How an upstream, model or project is managed: by what, where, and in which version. */
export const managed = {
  managedBy: z
    .enum(managers)
    .describe(
      'The configuration file, the store (edited here), the embedded configuration without a file, or the family of an upstream.',
    ),
  place: place.nullable().describe('Where the file declares it.'),
  version: z.number().int().nullable().describe('Value for `If-Match`; null outside of the store.'),
  updatedAt: instant.nullable(),
  inForce: z.boolean().describe('False for a moment after a change, until it is in force.'),
};

/** An element of one of the configuration file's lists, as written there. */
export const elementDocument = z
  .record(z.string(), z.unknown())
  .describe(
    'As an element of the list in the configuration file. Secrets read `(sealed)`; sent back, they stay unchanged.',
  );

export const written = z.object({
  outcome: z.enum(['created', 'changed', 'unchanged']),
  version: z.number().int(),
  warnings: z.array(z.string()).describe('Valid, but perhaps not intended.'),
});
