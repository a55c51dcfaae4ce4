/** Sums several usage records. */

import { atOnce, inBackground } from '../../lib/time-slices.ts';
import type { LedgerFilter, LedgerStore, UsageGroup, UsageLine, UsageSums } from '../store/ledger.ts';
import { addUnits, type UnitSums } from './units.ts';

/** A line with its other units beside its sums. */
export interface WholeLine extends UsageLine {
  readonly units: UnitSums;
}

export const noSums: UsageSums = Object.freeze({
  requests: 0,
  errors: 0,
  inputTokens: 0,
  outputTokens: 0,
  searchUnits: 0,
  items: 0,
  costNanos: 0n,
  unpriced: 0,
  estimated: 0,
  requestBytes: 0,
  responseBytes: 0,
  durationMs: 0,
});

export function addSums(a: UsageSums, b: UsageSums): UsageSums {
  const sums: { -readonly [Name in keyof UsageSums]: UsageSums[Name] } = { ...a, costNanos: a.costNanos + b.costNanos };
  for (const name of countNames) sums[name] += b[name];
  return sums;
}

const countNames = (Object.keys(noSums) as (keyof UsageSums)[]).filter((name) => name !== 'costNanos');

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

/** The same as steps: it may pause at every `yield`. */
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
