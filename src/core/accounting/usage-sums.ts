/** The sum of several usages. */

import type { LedgerFilter, LedgerStore, UsageGroup, UsageLine, UsageSums } from '../store/ledger.ts';
import { addUnits, type UnitSums } from './units.ts';

/** A line with what was counted beside its sums. */
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
  return {
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    searchUnits: a.searchUnits + b.searchUnits,
    items: a.items + b.items,
    costNanos: a.costNanos + b.costNanos,
    unpriced: a.unpriced + b.unpriced,
    estimated: a.estimated + b.estimated,
    requestBytes: a.requestBytes + b.requestBytes,
    responseBytes: a.responseBytes + b.responseBytes,
    durationMs: a.durationMs + b.durationMs,
  };
}

export async function readWholeUsage(
  ledger: Pick<LedgerStore, 'usage' | 'unitUsage'>,
  filter: LedgerFilter,
  by: readonly UsageGroup[],
): Promise<WholeLine[]> {
  const [lines, unitLines] = await Promise.all([ledger.usage(filter, by), ledger.unitUsage(filter, by)]);
  const nameOf = (line: Pick<UsageLine, 'by'>): string => by.map((group) => line.by[group]).join('\0');
  const units = new Map(unitLines.map((line) => [nameOf(line), line.units]));
  return lines.map((line) => ({ ...line, units: units.get(nameOf(line)) ?? {} }));
}

/** All lines together. */
export function toTotal(lines: readonly WholeLine[]): Pick<WholeLine, 'sums' | 'units'> {
  let total: Pick<WholeLine, 'sums' | 'units'> = { sums: noSums, units: {} };
  for (const { sums, units } of lines) {
    total = { sums: addSums(total.sums, sums), units: addUnits(total.units, units) };
  }
  return total;
}
