/** Makes ledger rows: single ones, or many distributed like a real gateway's. */

import type { LedgerRow } from '../../../src/core/accounting/ledger-row.ts';
import type { ImportedRow } from '../../../src/core/store/ledger.ts';

let made = 0;

/** Begins with the time, like the gateway's IDs; unlike those it is predictable. */
export function rowId(startedAtMs: number, number: number): string {
  return startedAtMs.toString(16).padStart(12, '0') + number.toString(16).padStart(20, '0');
}

/** A row of an exchange that went well, save for what is said. */
export function ledgerRow(more: Partial<LedgerRow> = {}): LedgerRow {
  const startedAtMs = more.startedAtMs ?? Date.UTC(2027, 0, 1);
  return {
    id: rowId(startedAtMs, ++made),
    clientRequestId: null,
    startedAtMs,
    node: 'node-1',
    key: 'dev',
    project: null,
    route: '/v1/embeddings',
    operation: 'embeddings',
    label: 'openai',
    model: 'bge-m3',
    upstream: 'near',
    upstreamModel: 'BAAI/bge-m3',
    attempts: 1,
    tries: [],
    outcome: 'ok',
    status: 200,
    error: null,
    promptTokens: 10,
    completionTokens: null,
    totalTokens: 10,
    searchUnits: null,
    cachedTokens: null,
    billedInputTokens: 10,
    billedOutputTokens: 0,
    billedSearchUnits: 0,
    isEstimated: false,
    items: 1,
    costNanos: 1_000,
    requestBytes: 100,
    responseBytes: 2_000,
    durationMs: 12.5,
    firstByteMs: 11.5,
    upstreamMs: 11,
    cache: null,
    clientAddress: null,
    units: null,
    traceId: null,
    queueMs: null,
    connectMs: null,
    ...more,
  };
}

/** The text in every field of a row that takes one. */
export function rowOfText(text: string): Partial<LedgerRow> {
  return {
    clientRequestId: text,
    node: text,
    key: text,
    project: text,
    route: text,
    model: text,
    upstream: text,
    upstreamModel: text,
    error: text,
    cache: text,
    clientAddress: text,
  };
}

export function imported(more: Partial<LedgerRow> = {}, accounts: readonly string[] = []): ImportedRow {
  return { row: ledgerRow(more), accounts };
}

const kinds = [
  { route: '/v1/embeddings', operation: 'embeddings', label: 'openai' },
  { route: '/v1/rerank', operation: 'rerank', label: 'openai' },
  { route: '/v1/completions', operation: 'completions', label: 'openai' },
  { route: '/v1/moderations', operation: 'moderations', label: 'openai' },
  { route: '/v1/engines/{model}/embeddings', operation: 'embeddings', label: 'engines' },
] as const;

export interface Spread {
  readonly rows: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly keys: number;
  readonly projects: number;
  readonly models: number;
  readonly upstreams: number;
  readonly seed?: number;
}

/**
 * Rows in the order of their time: few keys make most of them, each key uses a handful of models, a model has two upstreams
 * at most, and one row in fifty went wrong.
 */
export function* spreadRows({
  rows,
  fromMs,
  toMs,
  keys,
  projects,
  models,
  upstreams,
  seed = 1,
}: Spread): Generator<LedgerRow> {
  const random = createRandom(seed);
  const stepMs = (toMs - fromMs) / rows;
  for (let number = 0; number < rows; number++) {
    const startedAtMs = Math.floor(fromMs + number * stepMs);
    // Squared: the first of them are used more often.
    const key = Math.floor(keys * random() ** 2);
    const model = (key * 7 + Math.floor(4 * random() ** 2)) % models;
    const upstream = (model + (random() < 0.1 ? 1 : 0)) % upstreams;
    const kind = kinds[model % kinds.length] ?? kinds[0];
    const chance = random();
    const outcome = chance < 0.98 ? 'ok' : chance < 0.99 ? 'error' : chance < 0.995 ? 'aborted' : 'refused';
    const isSent = outcome !== 'refused';
    const tokens = 1 + Math.floor(2_000 * random() ** 3);
    const durationMs = Math.round(10_000 * random() ** 4) / 10;
    yield ledgerRow({
      id: rowId(startedAtMs, number),
      startedAtMs,
      node: `node-${1 + (number % 4)}`,
      key: `key_${String(key).padStart(16, 'a')}`,
      project: `project-${key % projects}`,
      ...kind,
      model: `model-${model}`,
      upstream: isSent ? `upstream-${upstream}` : null,
      upstreamModel: isSent ? `vendor/model-${model}` : null,
      attempts: isSent ? 1 : 0,
      outcome,
      status: outcome === 'ok' ? 200 : outcome === 'error' ? 502 : outcome === 'aborted' ? 499 : 429,
      error: outcome === 'ok' ? null : 'some_error',
      promptTokens: isSent ? tokens : null,
      totalTokens: isSent ? tokens : null,
      billedInputTokens: isSent ? tokens : null,
      billedOutputTokens: isSent ? 0 : null,
      billedSearchUnits: isSent ? 0 : null,
      isEstimated: outcome === 'aborted',
      items: 1 + Math.floor(20 * random() ** 3),
      costNanos: isSent ? (model % 10 === 9 ? null : tokens * 20) : 0,
      requestBytes: tokens * 4,
      responseBytes: isSent ? 20_000 : 200,
      durationMs,
      firstByteMs: isSent ? durationMs : null,
      upstreamMs: isSent ? durationMs : null,
    });
  }
}

/** Uniform in [0, 1), and the same each time for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
