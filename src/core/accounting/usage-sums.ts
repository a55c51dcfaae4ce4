/** The sum of several usages. */

import type { UsageSums } from '../store/ledger.ts';

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
