/** Reads JSON from a column. Another version may have written it: unknown parts are ignored. */

import { type Budget, budgetPeriods, type Caps, measures, noCaps, type Rate, rateWindows } from '../core/caps.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';

export function readTexts(text: string): string[] | undefined {
  const list = readJson(text);
  return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
}

export function readTextMap(text: string | null): Record<string, string> {
  const map = text === null ? undefined : readJson(text);
  if (!isMapping(map)) return {};
  return Object.fromEntries(
    Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The caps in a column; undefined where it holds no object, so that the caps are unknown. */
export function readCaps(text: string | null): Caps | undefined {
  if (text === null) return noCaps;
  const caps = readJson(text);
  if (!isMapping(caps)) return undefined;
  return {
    rates: toList(caps.rates).flatMap(toRates),
    concurrency: isCount(caps.concurrency) ? caps.concurrency : undefined,
    budgets: toList(caps.budgets).flatMap(toBudgets),
  };
}

export function oneOf<T extends string>(known: readonly T[], value: unknown): T | undefined {
  return known.find((item) => item === value);
}

function toRates(value: unknown): Rate[] {
  if (!isMapping(value)) return [];
  const measure = oneOf(measures, value.measure);
  const window = oneOf(rateWindows, value.window);
  return measure === undefined || window === undefined || !isCount(value.most)
    ? []
    : [{ measure, window, most: value.most }];
}

function toBudgets(value: unknown): Budget[] {
  if (!isMapping(value)) return [];
  const period = oneOf(budgetPeriods, value.period);
  if (period === undefined || !isCount(value.nanos)) return [];
  return [{ period, nanos: value.nanos, alerts: toList(value.alerts).filter((alert) => typeof alert === 'number') }];
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Replaces NUL, which PostgreSQL's text cannot hold, by U+FFFD, which UTF-8 also uses in place of unpaired surrogates. */
export function toStorableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
