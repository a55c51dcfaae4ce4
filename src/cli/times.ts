/** Parses times in options, and formats times for output. */

import { UserFault } from '../core/user-fault.ts';
import { toMilliseconds } from '../lib/quantities.ts';

export const toInstantText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** The time of `--expires`: a duration from now, or a date, which begins at midnight UTC where it has no time of day. */
export function toExpiry(text: string, nowMs: number): number {
  const fromNowMs = toMilliseconds(text);
  const atMs = fromNowMs === undefined ? toInstant(text) : nowMs + fromNowMs;
  if (atMs === undefined || Number.isNaN(new Date(atMs).getTime())) {
    throw new UserFault(`--expires: "${text}" is neither a time such as 30d nor a date such as 2027-01-01`);
  }
  if (atMs <= nowMs) throw new UserFault(`--expires: ${text} is not in the future`);
  return atMs;
}

export function toInstant(text: string): number | undefined {
  const [, date] = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (date === undefined) return undefined;
  // JavaScript reads the 30th of February as a day in March.
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(date)) return undefined;
  return Date.parse(text);
}
