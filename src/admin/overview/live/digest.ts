/** Differences between two readings of the metrics, for the console's live view. */

import { type RowOutcome, rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import { type TargetState, targetStates } from '../../../core/target-state.ts';
import { recordOf } from '../../../lib/record-of.ts';
import {
  type Buckets,
  growth,
  growthOfBuckets,
  type LabelReader,
  type LiveHistogram,
  type LiveMetric,
  plainOf,
  type Reading,
  type Series,
  seriesOf,
} from './reading.ts';

export type Digest = ReturnType<typeof digest>;

type UpstreamDigest = ReturnType<typeof emptyUpstream>;

export interface DigestDeps {
  readonly labelsOf: LabelReader;
  /** Upper bounds of the buckets, in seconds. */
  boundsOf(name: LiveHistogram): readonly number[];
}

/** Outcomes of attempts without a call. */
const uncalled: ReadonlySet<string> = new Set(['queue', 'capped']);
/** Requests that are no client's call of a model. */
const noOperation = 'none';

export function digest(now: Reading, before: Reading, deps: DigestDeps) {
  const { attempts, upstreams } = digestUpstreams(now, before, deps);
  const { called, ...requests } = digestRequests(now, before, deps);
  const tokens = growthBy(now, before, 'postern_tokens_total', deps, 'direction');
  const calls = Object.entries(attempts).reduce((sum, [name, count]) => (uncalled.has(name) ? sum : sum + count), 0);
  return {
    ...requests,
    duration: bucketsOf(now, before, 'postern_request_duration_seconds', deps),
    firstByte: bucketsOf(now, before, 'postern_first_byte_seconds', deps),
    inputTokens: tokens.input ?? 0,
    outputTokens: tokens.output ?? 0,
    items: growthOf(now, before, 'postern_items_total'),
    savedItems: growthOf(now, before, 'postern_saved_items_total'),
    savedDollars: growthOf(now, before, 'postern_saved_cost_dollars_total'),
    costDollars: growthOf(now, before, 'postern_cost_dollars_total'),
    unpriced: growthOf(now, before, 'postern_unpriced_requests_total'),
    attempts,
    retries: Math.max(0, calls - called),
    limitHits: growthOf(now, before, 'postern_limit_hits_total'),
    budgetHits: growthOf(now, before, 'postern_budget_hits_total'),
    inFlight: sumOf(now.postern_requests_in_flight ?? {}),
    cpuSeconds: cpuGrowth(now, before),
    upstreams,
  };
}

/** Series that are not zero: most gauges are. */
function* seen(reading: Reading, name: LiveMetric): Generator<[string, number]> {
  const series = reading[name] ?? {};
  for (const text in series) {
    const value = series[text];
    if (typeof value === 'number' && value !== 0) yield [text, value];
  }
}

/** Increased counters, and their increase. */
function* grown(now: Reading, before: Reading, name: LiveMetric): Generator<[string, number]> {
  const series = now[name] ?? {};
  const earlier = before[name] ?? {};
  for (const text in series) {
    const more = growthOfValue(series[text] ?? 0, earlier[text]);
    if (more > 0) yield [text, more];
  }
}

function digestRequests(now: Reading, before: Reading, { labelsOf }: DigestDeps) {
  const byOutcome: Partial<Record<RowOutcome, number>> = {};
  const byStatus: Record<string, number> = {};
  const byOperation: Record<string, number> = {};
  let requests = 0;
  /** Requests with at least one upstream call. */
  let called = 0;
  for (const [text, more] of grown(now, before, 'postern_requests_total')) {
    const { outcome = '', status = '', operation = '' } = labelsOf(text);
    requests += more;
    const known = rowOutcomes.find((one) => one === outcome);
    if (known !== undefined) byOutcome[known] = (byOutcome[known] ?? 0) + more;
    add(byStatus, status, more);
    add(byOperation, operation, more);
    if (operation !== noOperation && outcome !== 'refused') called += more;
  }
  return { requests, byOutcome, byStatus, byOperation, called };
}

function digestUpstreams(now: Reading, before: Reading, { labelsOf, boundsOf }: DigestDeps) {
  const upstreams = new Map<string, UpstreamDigest>();
  const attempts: Record<string, number> = {};
  const upstreamOf = (text: string): UpstreamDigest => {
    const { upstream = '' } = labelsOf(text);
    let found = upstreams.get(upstream);
    if (found === undefined) {
      found = emptyUpstream();
      upstreams.set(upstream, found);
    }
    return found;
  };

  // Only upstreams of the configuration in force have targets, and are shown.
  for (const [text, value] of seen(now, 'postern_target_state')) {
    const { state = '' } = labelsOf(text);
    if (isState(state)) upstreamOf(text).targets[state] += value;
  }
  for (const [text, value] of seen(now, 'postern_target_in_flight')) upstreamOf(text).inFlight += value;
  for (const [text, value] of seen(now, 'postern_upstream_waiting')) upstreamOf(text).waiting += value;
  for (const [text, more] of grown(now, before, 'postern_attempts_total')) {
    const { upstream = '', outcome = '' } = labelsOf(text);
    add(attempts, outcome, more);
    const one = upstreams.get(upstream);
    if (one === undefined) continue;
    if (outcome === 'answered') one.answered += more;
    else one.otherwise += more;
  }
  const bucketCount = boundsOf('postern_upstream_first_byte_seconds').length + 1;
  const earlierBytes = before.postern_upstream_first_byte_seconds ?? {};
  for (const [text, value] of seriesOf(now, 'postern_upstream_first_byte_seconds')) {
    const one = upstreams.get(labelsOf(text).upstream ?? '');
    if (one !== undefined) one.firstByte = meanParts(value, earlierBytes[text], bucketCount);
  }
  return { attempts, upstreams };
}

/** The last number is the sum of the observations. */
function meanParts(
  now: number | readonly number[],
  before: number | readonly number[] | undefined,
  bucketCount: number,
): { readonly count: number; readonly sumMs: number } {
  if (typeof now === 'number') return { count: 0, sumMs: 0 };
  const earlier = before === undefined || typeof before === 'number' ? [] : before;
  const total = (counts: readonly number[]): number =>
    counts.slice(0, bucketCount).reduce((sum, count) => sum + count, 0);
  const count = growth(total(now), total(earlier));
  const sumMs = growth(now[bucketCount] ?? 0, earlier[bucketCount] ?? 0) * 1000;
  return { count, sumMs };
}

const emptyUpstream = () => ({
  answered: 0,
  otherwise: 0,
  firstByte: { count: 0, sumMs: 0 },
  inFlight: 0,
  waiting: 0,
  targets: recordOf(targetStates, () => 0),
});

const isState = (text: string): text is TargetState['state'] => targetStates.some((state) => state === text);

function bucketsOf(now: Reading, before: Reading, name: LiveHistogram, { boundsOf }: DigestDeps): Buckets {
  return growthOfBuckets(now[name] ?? {}, before[name] ?? {}, boundsOf(name).length + 1);
}

function growthOfValue(now: number | readonly number[], before: number | readonly number[] | undefined): number {
  return typeof now === 'number' ? growth(now, typeof before === 'number' ? before : undefined) : 0;
}

function growthOf(now: Reading, before: Reading, name: LiveMetric): number {
  let sum = 0;
  for (const [, more] of grown(now, before, name)) sum += more;
  return sum;
}

function growthBy(
  now: Reading,
  before: Reading,
  name: LiveMetric,
  { labelsOf }: DigestDeps,
  label: string,
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [text, more] of grown(now, before, name)) add(sums, labelsOf(text)[label] ?? '', more);
  return sums;
}

/** The time of a replaced worker is lost. */
function cpuGrowth(now: Reading, before: Reading): number | undefined {
  const [current, earlier] = [plainOf(now, 'process_cpu_seconds_total'), plainOf(before, 'process_cpu_seconds_total')];
  return current === undefined || earlier === undefined || current < earlier ? undefined : current - earlier;
}

const sumOf = (series: Series): number => Object.values(series).reduce<number>((sum, one) => sum + Number(one), 0);

function add(sums: Record<string, number>, name: string, more: number): void {
  sums[name] = (sums[name] ?? 0) + more;
}
