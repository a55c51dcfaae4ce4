/** Billed units of a request besides tokens, search units and items, and what its price depended on: enough to recompute the bill. */

import { isMapping } from '../../lib/is-mapping.ts';

/** Whole numbers, except the seconds. Tokens are part of the input or output tokens; none of these came from the cache. */
export const unitNames = [
  'cacheWriteTokens',
  /** Of the cache writes, those that stay for an hour. */
  'cacheWriteHourTokens',
  'audioInputTokens',
  'imageInputTokens',
  'audioOutputTokens',
  'imageOutputTokens',
  'reasoningTokens',
  'images',
  'seconds',
  'characters',
  /** The calls that one list was split into, where there were several. */
  'calls',
  /** Items answered from the cache, with the counts and cost of the calls saved. */
  'savedItems',
  'savedTokens',
  'savedNanos',
] as const;
export type UnitName = (typeof unitNames)[number];

/** The terms that decide the price, as the service reports them, else as requested. */
export const unitTerms = ['serviceTier', 'speed', 'inferenceGeo', 'imageSize', 'imageQuality'] as const;
type TermName = (typeof unitTerms)[number];

/** An absent field is zero or unknown; a request without any has no `Units`. */
export type Units = Readonly<Partial<Record<UnitName, number>>> &
  Readonly<Partial<Record<TermName, string>>> & {
    /** Calls of hosted tools, by their kind, such as `web_search`. */
    readonly toolCalls?: Readonly<Record<string, number>>;
  };

/** What is summed over many requests: the ledger's sums use these names. */
export const summedNames = [
  /** Input tokens that came from the service's cache. */
  'cachedTokens',
  ...unitNames,
] as const;
type SummedName = (typeof summedNames)[number];

/** Sums over many requests; an absent field is zero. */
export type UnitSums = Readonly<Partial<Record<SummedName, number>>> & Pick<Units, 'toolCalls'>;

/** Prefix of the names of tools where all units share one list of names. */
export const toolPrefix = 'toolCalls.';

const mostKinds = 32;
const longestWord = 64;

/** From stored JSON; undefined where this version knows none of its fields. */
export function readUnits(value: unknown): Units | undefined {
  if (!isMapping(value)) return undefined;
  const units: Record<string, unknown> = {};
  for (const name of unitNames) if (isCount(value[name])) units[name] = value[name];
  for (const name of unitTerms) if (typeof value[name] === 'string') units[name] = value[name].slice(0, longestWord);
  const toolCalls = readToolCalls(value.toolCalls);
  if (toolCalls !== undefined) units.toolCalls = toolCalls;
  return Object.keys(units).length === 0 ? undefined : units;
}

function readToolCalls(value: unknown): Readonly<Record<string, number>> | undefined {
  if (!isMapping(value)) return undefined;
  const calls: Record<string, number> = {};
  for (const [kind, count] of Object.entries(value).slice(0, mostKinds)) {
    if (isCount(count)) calls[kind.slice(0, longestWord)] = count;
  }
  return Object.keys(calls).length === 0 ? undefined : calls;
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value > 0;

/** Two requests together: a term stays where both have the same value. */
export function sumOfUnits(one: Units | undefined, other: Units | undefined): Units | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum: Record<string, unknown> = {};
  for (const name of unitNames) {
    const count = (one[name] ?? 0) + (other[name] ?? 0);
    if (count > 0) sum[name] = count;
  }
  for (const name of unitTerms) if (one[name] !== undefined && one[name] === other[name]) sum[name] = one[name];
  return readUnits({ ...sum, toolCalls: sumOfCalls(one.toolCalls, other.toolCalls) });
}

export function addUnits(one: UnitSums, other: UnitSums): UnitSums {
  const sum: { -readonly [K in SummedName]?: number } = {};
  for (const name of summedNames) {
    const count = (one[name] ?? 0) + (other[name] ?? 0);
    if (count > 0) sum[name] = count;
  }
  const toolCalls = sumOfCalls(one.toolCalls, other.toolCalls);
  return Object.keys(toolCalls).length === 0 ? sum : { ...sum, toolCalls };
}

export const countToolCalls = ({ toolCalls = {} }: Pick<Units, 'toolCalls'>): number =>
  Object.values(toolCalls).reduce((sum, count) => sum + count, 0);

/** From a name with its prefix; names that this version does not know count nothing. */
export function toUnitSums(name: string, amount: number): UnitSums {
  if (name.startsWith(toolPrefix)) return { toolCalls: { [name.slice(toolPrefix.length)]: amount } };
  const known = summedNames.find((one) => one === name);
  return known === undefined ? {} : { [known]: amount };
}

function sumOfCalls(one: Units['toolCalls'], other: Units['toolCalls']): Record<string, number> {
  const calls: Record<string, number> = { ...one };
  for (const [kind, count] of Object.entries(other ?? {})) calls[kind] = (calls[kind] ?? 0) + count;
  return calls;
}
