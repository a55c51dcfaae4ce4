/** Formats numbers, money, times and forecasts of budgets in the reader's locale. */

import type { BudgetState } from '../../../../src/admin/contract.ts';

const locale = undefined;

const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
const compactCounts = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
const percents = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const smallPercents = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 });
const nearlyAll = new Intl.NumberFormat(locale, { maximumFractionDigits: 2, roundingMode: 'trunc' });
const wholeDollars = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' });
const smallDollars = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  minimumSignificantDigits: 1,
  maximumSignificantDigits: 3,
});
const exactTimes = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const shortTimes = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });
const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

export const formatCount = (value: number): string => counts.format(value);

/** A short number such as 1.2M, for axes and tiles. */
export const formatCompact = (value: number): string => compactCounts.format(value);

/** A rate with the usual precision: two digits below a hundred, whole numbers above. */
export function formatRate(value: number): string {
  if (value >= 1_000) return formatCompact(value);
  return formatCount(value >= 100 ? Math.round(value) : Number(value.toPrecision(2)));
}

/** A share as a percentage (0.5 is 50 %), in one line. Small shares are not rounded to 0 %, nor large ones to 100 %. */
export function formatPercent(share: number): string {
  const value = share * 100;
  const isNearAll = value > 99.9 && value < 100;
  const format = value > 0 && value < 1 ? smallPercents : isNearAll ? nearlyAll : percents;
  return `${format.format(value)}\u00a0%`;
}

/** An amount of dollars, from decimal text as the API has it; amounts below a few cents keep more digits. */
export function formatMoney(dollars: string | number): string {
  const value = Number(dollars);
  const isSmall = value !== 0 && Math.abs(value) < 0.1;
  return (isSmall ? smallDollars : wholeDollars).format(value);
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function formatBytes(value: number): string {
  let amount = value;
  let unit = 0;
  while (amount >= 1024 && unit < byteUnits.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${toSignificant(amount)} ${byteUnits[unit] ?? 'B'}`;
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export function formatDuration(ms: number): string {
  if (ms < secondMs) return withUnit(ms, 'ms');
  if (ms < minuteMs) return withUnit(ms / secondMs, 's');
  if (ms < hourMs) return withUnit(ms / minuteMs, 'min');
  if (ms < 2 * dayMs) return withUnit(ms / hourMs, 'h');
  return withUnit(ms / dayMs, 'days');
}

/** Formats made once: making one takes a tenth of a millisecond, too long where numbers change every second. */
const digitFormats = [0, 1, 2].map((maximumFractionDigits) => new Intl.NumberFormat(locale, { maximumFractionDigits }));

function withUnit(value: number, unit: 'ms' | 's' | 'min' | 'h' | 'days'): string {
  const digits = value < 10 && value % 1 !== 0 ? 2 : value < 100 && unit !== 'ms' ? 1 : 0;
  return `${digitFormats[digits]?.format(value)} ${unit}`;
}

const toSignificant = (value: number): string =>
  new Intl.NumberFormat(locale, {
    maximumFractionDigits: value < 10 && value % 1 !== 0 ? 2 : value < 100 ? 1 : 0,
  }).format(value);

export const formatTime = (at: string | number | Date): string => exactTimes.format(new Date(at));
export const formatHour = (at: string | number | Date): string => shortTimes.format(new Date(at));
export const formatDay = (at: string | number | Date): string => days.format(new Date(at));

/** Age from which a price list counts as old; vendors change their prices a few times a year. */
const oldAfterDays = 180;

export function formatPriceDay(asOf: string): string {
  const age = Math.floor((Date.now() - Date.parse(asOf)) / 86_400_000);
  return formatDay(asOf) + (age > oldAfterDays ? ` (${age} days ago)` : '');
}

/** A time relative to now, such as "3 minutes ago" or "tomorrow". */
export function formatRelative(at: string | number | Date, nowMs: number): string {
  const apartMs = new Date(at).getTime() - nowMs;
  const apart = Math.abs(apartMs);
  // A recent event is never in the future: the reference time is a few seconds old.
  if (apart < 5 * secondMs || (apartMs > 0 && apart < 16 * secondMs)) return relative.format(0, 'second');
  if (apart < minuteMs) return relative.format(Math.round(apartMs / secondMs), 'second');
  if (apart < hourMs) return relative.format(Math.round(apartMs / minuteMs), 'minute');
  if (apart < dayMs) return relative.format(Math.round(apartMs / hourMs), 'hour');
  if (apart < 60 * dayMs) return relative.format(Math.round(apartMs / dayMs), 'day');
  return formatDay(at);
}

/** How much higher or lower than now the pace may be in a forecast of budgets. */
const bandShare = 1 / 3;

/** The forecast, such as "26 Nov, 14:00 (between 12:10 and 18:30)", or that the budget lasts until it restarts. */
export function forecastWords(
  { spent, amount, startsAt, endsAt }: Pick<BudgetState, 'spent' | 'amount' | 'startsAt' | 'endsAt'>,
  nowMs: number,
): string {
  const [used, whole] = [Number(spent), Number(amount)];
  if (used >= whole) return endsAt === null ? 'Spent' : `Spent; resets ${formatTime(endsAt)}`;
  if (startsAt === null || used === 0) return 'Not to be told yet';
  const startMs = Date.parse(startsAt);
  const endMs = endsAt === null ? Number.POSITIVE_INFINITY : Date.parse(endsAt);
  const leftMs = ((whole - used) * (nowMs - startMs)) / used;
  const at = (factor: number): number => nowMs + leftMs / factor;
  if (at(1 + bandShare) >= endMs) return `Lasts until it resets; ${formatPercent(used / whole)} is spent`;
  const late = at(1 - bandShare);
  const latest = late >= endMs ? 'never' : formatTime(late);
  if (at(1) >= endMs) return `Lasts, barely: at a pace a third higher it ends ${formatTime(at(1 + bandShare))}`;
  return `${formatTime(at(1))} (between ${formatTime(at(1 + bandShare))} and ${latest})`;
}
