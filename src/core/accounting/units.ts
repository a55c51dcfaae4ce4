/** Names the billed units of a request besides tokens, search units and items, and the terms that its price depended on, to recompute the bill. */

import { isMapping } from '../../lib/is-mapping.ts';

/** Names of units. All are whole numbers except seconds. Token units are part of the input or output tokens; none of these came from the cache. */
export const unitNames = [
  'cacheWriteTokens',
  /** Tokens written to the service's cache for an hour: a part of all cache writes. */
  'cacheWriteHourTokens',
  'audioInputTokens',
  'imageInputTokens',
  'audioOutputTokens',
  'imageOutputTokens',
  'reasoningTokens',
  'images',
  'seconds',
  'characters',
  /** Number of calls that one list was split into, where there were several. */
  'calls',
  /** Items answered from the gateway's cache, with the counts and cost of the calls that this saved. */
  'savedItems',
  'savedTokens',
  'savedNanos',
] as const;
export type UnitName = (typeof unitNames)[number];

/** Terms that decide the price, as the service reports them, or else as the request asked for them. */
export const unitTerms = ['serviceTier', 'speed', 'inferenceGeo', 'imageSize', 'imageQuality'] as const;
type TermName = (typeof unitTerms)[number];

/** Further units of one request. An absent field is zero or unknown; a request without any such unit has no `Units` at all. */
export type Units = Readonly<Partial<Record<UnitName, number>>> &
  Readonly<Partial<Record<TermName, string>>> & {
    /** Number of calls of hosted tools, by kind of tool, such as `web_search`. */
    readonly toolCalls?: Readonly<Record<string, number>>;
  };

export const summedNames = [
  /** Input tokens that came from the service's cache. */
  'cachedTokens',
  ...unitNames,
] as const;
type SummedName = (typeof summedNames)[number];

export type UnitSums = Readonly<Partial<Record<SummedName, number>>> & Pick<Units, 'toolCalls'>;

/** Prefix for names of tools, where a list names tools and other units together. */
export const toolPrefix = 'toolCalls.';

const mostKinds = 32;
const longestWord = 64;

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

/** Adds the units of two requests. A term, such as the service tier, stays only where both have the same value. */
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

/** Units with one amount, by the unit's name (tools have `toolPrefix`); names unknown to this version are ignored. */
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
