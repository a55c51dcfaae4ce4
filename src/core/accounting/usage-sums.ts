/** Adds up the ledger's usage lines: counts, costs and further units, grouped or in total. */

import { recordOf } from '../../lib/record-of.ts';
import { atOnce, inBackground } from '../../lib/time-slices.ts';
import {
  type LedgerFilter,
  type LedgerStore,
  summedCounts,
  type UsageGroup,
  type UsageLine,
  type UsageSums,
} from '../store/ledger.ts';
import { addUnits, type UnitSums } from './units.ts';

export interface WholeLine extends UsageLine {
  readonly units: UnitSums;
}

export const noSums: UsageSums = Object.freeze({ ...recordOf(summedCounts, () => 0), costNanos: 0n });

export function addSums(a: UsageSums, b: UsageSums): UsageSums {
  const sums = { ...a, costNanos: a.costNanos + b.costNanos };
  for (const name of summedCounts) sums[name] += b[name];
  return sums;
}

export async function readWholeUsage(
  ledger: Pick<LedgerStore, 'usage' | 'unitUsage'>,
  filter: LedgerFilter,
  by: readonly UsageGroup[],
): Promise<WholeLine[]> {
  const [lines, unitLines] = await Promise.all([ledger.usage(filter, by), ledger.unitUsage(filter, by)]);
  return inBackground.timeSliced(joining(lines, unitLines, by));
}

function* joining(
  lines: readonly UsageLine[],
  unitLines: Awaited<ReturnType<LedgerStore['unitUsage']>>,
  by: readonly UsageGroup[],
): Generator<undefined, WholeLine[], undefined> {
  const nameOf = (line: Pick<UsageLine, 'by'>): string => by.map((group) => line.by[group]).join('\0');
  const units = new Map<string, UnitSums>();
  for (const line of unitLines) {
    yield;
    units.set(nameOf(line), line.units);
  }
  const whole: WholeLine[] = [];
  for (const line of lines) {
    yield;
    whole.push({ ...line, units: units.get(nameOf(line)) ?? {} });
  }
  return whole;
}

export const toTotal = (lines: readonly WholeLine[]): Pick<WholeLine, 'sums' | 'units'> => atOnce(totaling(lines));

/** The total of the lines as a generator, for work in time slices: it may pause at every `yield`. */
export function* totaling(
  lines: readonly WholeLine[],
): Generator<undefined, Pick<WholeLine, 'sums' | 'units'>, undefined> {
  let total: Pick<WholeLine, 'sums' | 'units'> = { sums: noSums, units: {} };
  for (const { sums, units } of lines) {
    yield;
    total = { sums: addSums(total.sums, sums), units: addUnits(total.units, units) };
  }
  return total;
}
