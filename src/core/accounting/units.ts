/** Billed units of a request besides tokens, search units and items, and what its price depended on: enough to recompute the bill. */

import { isMapping } from '../../lib/is-mapping.ts';

/** Whole numbers, save the seconds. Tokens are among those of input or output; none of these is among what the cache held. */
const unitNames = [
  'cacheWriteTokens',
  /** Of those, what is kept for an hour. */
  'cacheWriteHourTokens',
  'audioInputTokens',
  'imageInputTokens',
  'audioOutputTokens',
  'imageOutputTokens',
  'reasoningTokens',
  'images',
  'seconds',
  'characters',
  /** Calls that a list was asked for in, where that was not one. */
  'calls',
  /** Of what was known and nobody was asked for: items, and what they would have counted and cost. */
  'savedItems',
  'savedTokens',
  'savedNanos',
] as const;
export type UnitName = (typeof unitNames)[number];

/** What decides which price holds, as the service says it, else as it was asked. */
const termNames = ['serviceTier', 'speed', 'inferenceGeo', 'imageSize', 'imageQuality'] as const;
type TermName = (typeof termNames)[number];

/** What is not there is nothing, and a request of which nothing is there has none of these. */
export type Units = Readonly<Partial<Record<UnitName, number>>> &
  Readonly<Partial<Record<TermName, string>>> & {
    /** Calls of tools that the service ran itself, by their kind, such as `web_search`. */
    readonly toolCalls?: Readonly<Record<string, number>>;
  };

/** What is added up over many requests: the ledger's sums have it under these names. */
export const summedNames = [
  /** Of the input, what the cache of the service held. */
  'cachedTokens',
  ...unitNames,
] as const;
type SummedName = (typeof summedNames)[number];

/** Of many requests together; what is not there is nothing. */
export type UnitSums = Readonly<Partial<Record<SummedName, number>>> & Pick<Units, 'toolCalls'>;

/** How calls of a tool are called where everything has one name. */
export const toolPrefix = 'toolCalls.';

const mostKinds = 32;
const longestWord = 64;

/** Of what was written down; undefined where nothing is in it that this version knows. */
export function readUnits(value: unknown): Units | undefined {
  if (!isMapping(value)) return undefined;
  const units: Record<string, unknown> = {};
  for (const name of unitNames) if (isCount(value[name])) units[name] = value[name];
  for (const name of termNames) if (typeof value[name] === 'string') units[name] = value[name].slice(0, longestWord);
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

/** Of two requests together: what their prices hung on is in it where both say the same. */
export function sumOfUnits(one: Units | undefined, other: Units | undefined): Units | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum: Record<string, unknown> = {};
  for (const name of unitNames) {
    const count = (one[name] ?? 0) + (other[name] ?? 0);
    if (count > 0) sum[name] = count;
  }
  for (const name of termNames) if (one[name] !== undefined && one[name] === other[name]) sum[name] = one[name];
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

/** Of all kinds together. */
export const countToolCalls = ({ toolCalls = {} }: Pick<Units, 'toolCalls'>): number =>
  Object.values(toolCalls).reduce((sum, count) => sum + count, 0);

/** From how it is called where everything has one name; a name that this version does not know is nothing. */
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
