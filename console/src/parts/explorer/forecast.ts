/** Predicts when a budget ends at the current pace, with a range for a pace a third higher or lower. */

import type { BudgetState } from '../../../../src/admin/contract.ts';
import { formatPercent, formatTime } from '../words/format.ts';

const bandShare = 1 / 3;

/** "26 Nov, 14:00 (between 12:10 and 18:30)"; or that it lasts until it begins anew. */
export function forecastWords(
  { spent, amount, startsAt, endsAt }: Pick<BudgetState, 'spent' | 'amount' | 'startsAt' | 'endsAt'>,
  nowMs: number,
): string {
  const [used, whole] = [Number(spent), Number(amount)];
  if (used >= whole) return endsAt === null ? 'Spent' : `Spent; begins anew ${formatTime(endsAt)}`;
  if (startsAt === null || used === 0) return 'Not to be told yet';
  const startMs = Date.parse(startsAt);
  const endMs = endsAt === null ? Number.POSITIVE_INFINITY : Date.parse(endsAt);
  const leftMs = ((whole - used) * (nowMs - startMs)) / used;
  const at = (factor: number): number => nowMs + leftMs / factor;
  if (at(1 + bandShare) >= endMs) return `Lasts until it begins anew; ${formatPercent(used / whole)} is spent`;
  const late = at(1 - bandShare);
  const latest = late >= endMs ? 'never' : formatTime(late);
  if (at(1) >= endMs) return `Lasts, barely: at a pace a third higher it ends ${formatTime(at(1 + bandShare))}`;
  return `${formatTime(at(1))} (between ${formatTime(at(1 + bandShare))} and ${latest})`;
}
