/** What usage counts beside tokens and search units: a column each, shown where anything was counted. */

import type { UsageSums } from '../../../../src/admin/contract.ts';

type Units = UsageSums['units'];

export interface UnitColumn {
  readonly title: string;
  countOf(units: Units): number;
  /** In billionths of a dollar. */
  readonly isMoney?: boolean;
}

export const unitColumns: readonly UnitColumn[] = [
  { title: 'Cached tokens', countOf: ({ cachedTokens = 0 }) => cachedTokens },
  { title: 'Reasoning tokens', countOf: ({ reasoningTokens = 0 }) => reasoningTokens },
  { title: 'Images', countOf: ({ images = 0 }) => images },
  { title: 'Seconds', countOf: ({ seconds = 0 }) => Math.round(seconds * 10) / 10 },
  { title: 'Characters', countOf: ({ characters = 0 }) => characters },
  { title: 'Tool calls', countOf: ({ toolCalls = {} }) => Object.values(toolCalls).reduce((sum, one) => sum + one, 0) },
  { title: 'Items saved', countOf: ({ savedItems = 0 }) => savedItems },
  { title: 'Cost saved', countOf: ({ savedNanos = 0 }) => savedNanos, isMoney: true },
];

const nanosInADollar = 1e9;

export const toDollarText = (nanos: number): string => (nanos / nanosInADollar).toFixed(9);
