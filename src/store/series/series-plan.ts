/** Plans a series query: chooses the length, time range and names of the blocks to read. */

import type { SeriesQuery } from '../../core/store/series.ts';
import { dayMs, hourMs } from '../ledger/ledger-rows.ts';
import type { CellName } from './series-block.ts';
import { minuteMs, type Section, sectionOf } from './series-cells.ts';

/** Time that a block covers: the rows of an import, then a finished minute, hour or day. */
export const levels = { raw: 0, minute: 1, hour: 2, day: 3 } as const;
type Level = 'minute' | 'hour' | 'day';

/** How long minute and hour blocks are kept; day blocks are kept as long as rows, and at least as long as hours. */
export const keptMs = { minute: 14 * dayMs, hour: 90 * dayMs };

export interface Interval {
  readonly level: Level;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface SeriesPlan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** Beginning of the first step; it may be before `fromMs`. */
  readonly firstMs: number;
  readonly steps: number;
  readonly section: Section;
  /** The section from which totals over all lines of a chart are read; it may be grouped by fewer names than `section`. */
  readonly totalSection: Section;
  readonly intervals: readonly Interval[];
}

const mostSteps = 1_500;
const defaultMostDays = 400;
/** Step lengths, each with the longest time range for which it is used. */
const steps = [
  { upToMs: 2 * hourMs, stepMs: minuteMs },
  { upToMs: 6 * hourMs, stepMs: 5 * minuteMs },
  { upToMs: 36 * hourMs, stepMs: 15 * minuteMs },
  { upToMs: 8 * dayMs, stepMs: hourMs },
  { upToMs: 32 * dayMs, stepMs: 6 * hourMs },
] as const;
/** Longest span with steps below a day, where cells have all names: for longer ones, blocks of hours are too many to read. */
const longestOfDetailMs = 4 * dayMs;
/** Longest span with steps below an hour, for all keys of all models: for longer ones, blocks of minutes are too many. */
const longestOfWideMs = 12 * hourMs;
/** Longest span with steps below a day, for all keys: for longer ones, blocks of hours are too many. */
const longestOfKeysMs = 8 * dayMs;
/** Longest span with hourly steps; for longer ones, steps are days in UTC. */
const longestOfHoursMs = 33 * dayMs;

const floorTo = (ms: number, unitMs: number): number => Math.floor(ms / unitMs) * unitMs;
const ceilTo = (ms: number, unitMs: number): number => Math.ceil(ms / unitMs) * unitMs;

export function planSeries(query: SeriesQuery, nowMs: number): SeriesPlan {
  const { filter, by } = query;
  const filtered = (['model', 'upstream', 'key', 'project'] as const).filter((name) => filter[name] !== undefined);
  const section = sectionOf([...filtered, ...by] as CellName[]);
  // Sections without keys have upstreams, by which failed calls are counted.
  const totalSection = filtered.some((name) => name === 'key' || name === 'project') ? section : sectionOf(filtered);
  const lengthMs = query.toMs - query.fromMs;
  // The retained blocks limit how finely the ends can be cut.
  const endMs = query.fromMs >= nowMs - keptMs.minute ? minuteMs : query.fromMs >= nowMs - keptMs.hour ? hourMs : dayMs;
  const fromMs = floorTo(query.fromMs, endMs);
  const toMs = Math.max(ceilTo(query.toMs, endMs), fromMs + endMs);
  const isLongDetail = section === 'detail' && lengthMs > longestOfDetailMs;
  const isLongKeys = section === 'keys' && filtered.length === 0 && lengthMs > longestOfKeysMs;
  const suited = steps.find(({ upToMs }) => lengthMs <= upToMs)?.stepMs ?? ceilTo(lengthMs / defaultMostDays, dayMs);
  const isOfDays = lengthMs > longestOfHoursMs || isLongDetail || isLongKeys;
  const isWide = section === 'detail' && filtered.length === 0 && lengthMs > longestOfWideMs;
  const leastMs = isOfDays ? dayMs : isWide ? hourMs : endMs;
  const stepMs = Math.max(query.stepMs ?? suited, leastMs);
  const isByZone = !isOfDays && stepMs >= 6 * hourMs;
  const zoneMs = isByZone ? Math.round(query.zoneMs / hourMs) * hourMs : 0;
  const firstMs = floorTo(fromMs + zoneMs, stepMs) - zoneMs;
  const count = Math.ceil((toMs - firstMs) / stepMs);
  if (count > mostSteps) {
    throw new RangeError(`These are ${count} steps; ask for longer ones, or for a shorter time: ${mostSteps} at most.`);
  }
  const isWhole = zoneMs % dayMs === 0 && stepMs % dayMs === 0;
  const intervals = cover(fromMs, toMs, stepMs < hourMs ? [] : isWhole ? ['hour', 'day'] : ['hour']);
  return { fromMs, toMs, stepMs, firstMs, steps: count, section, totalSection, intervals };
}

const lengths = { minute: minuteMs, hour: hourMs, day: dayMs };

/** Splits a range: whole days and hours in the middle, where permitted, and minutes at both ends. */
function cover(fromMs: number, toMs: number, coarser: readonly ('hour' | 'day')[]): Interval[] {
  const level = coarser.at(-1);
  if (level === undefined) return fromMs < toMs ? [{ level: 'minute', fromMs, toMs }] : [];
  const finer = coarser.slice(0, -1);
  const first = ceilTo(fromMs, lengths[level]);
  const last = floorTo(toMs, lengths[level]);
  if (first >= last) return cover(fromMs, toMs, finer);
  return [...cover(fromMs, first, finer), { level, fromMs: first, toMs: last }, ...cover(last, toMs, finer)];
}
