/** Parses times in options, and formats times for output. */

import { UserFault } from '../core/user-fault.ts';
import { toInstantMs, toMilliseconds } from '../lib/quantities.ts';

export const toInstantText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** The time of `--expires`: a duration from now, or a date, which begins at midnight UTC where it has no time of day. */
export function toExpiry(text: string, nowMs: number): number {
  const fromNowMs = toMilliseconds(text);
  const atMs = fromNowMs === undefined ? toInstantMs(text) : nowMs + fromNowMs;
  if (atMs === undefined || Number.isNaN(new Date(atMs).getTime())) {
    throw new UserFault(`--expires: "${text}" is neither a time such as 30d nor a date such as 2027-01-01`);
  }
  if (atMs <= nowMs) throw new UserFault(`--expires: ${text} is not in the future`);
  return atMs;
}
