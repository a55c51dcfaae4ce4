/** Computes what the live view of the console shows: the differences between two readings of metrics, over all processes. */

import { type RowOutcome, rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import { type TargetState, targetStates } from '../../../core/target-state.ts';
import { getOrMake } from '../../../lib/get-or-make.ts';
import { recordOf } from '../../../lib/record-of.ts';

/** A metric's values by labels as written, such as `{model="m"}`. A histogram's value is its count per bucket, and then the sum. */
export type Series = Readonly<Record<string, number | readonly number[]>>;

/** Metrics of the process's state. None has labels for models or targets, so that reading them is cheap. */
const stateNames = [
  'postern_journal_bytes',
  'postern_journal_waiting_rows',
  'postern_journal_oldest_seconds',
  'postern_journal_failing',
  'postern_store_up',
  'postern_redis_up',
  'postern_redis_fallback',
  'postern_config_revision',
  'postern_workers',
  'postern_worker_restarts_total',
  'process_resident_memory_bytes',
  'nodejs_eventloop_delay_seconds',
] as const;

/** All metrics of the live view: no others are read. */
const names = [
  'postern_requests_total',
  'postern_requests_in_flight',
  'postern_request_duration_seconds',
  'postern_first_byte_seconds',
  'postern_attempts_total',
  'postern_upstream_first_byte_seconds',
  'postern_upstream_waiting',
  'postern_target_state',
  'postern_target_in_flight',
  'postern_tokens_total',
  'postern_items_total',
  'postern_saved_items_total',
  'postern_saved_cost_dollars_total',
  'postern_cost_dollars_total',
  'postern_unpriced_requests_total',
  'postern_limit_hits_total',
  'postern_budget_hits_total',
  'process_cpu_seconds_total',
  ...stateNames,
] as const;
export type LiveMetric = (typeof names)[number];
export const liveMetrics: ReadonlySet<LiveMetric> = new Set(names);
export const stateMetrics: ReadonlySet<LiveMetric> = new Set(stateNames);
export type Reading = Readonly<Partial<Record<LiveMetric, Series>>>;

/** The metrics that are histograms. */
export type LiveHistogram = Extract<
  LiveMetric,
  'postern_request_duration_seconds' | 'postern_first_byte_seconds' | 'postern_upstream_first_byte_seconds'
>;

function seriesOf(reading: Reading, name: LiveMetric): readonly [string, number | readonly number[]][] {
  return Object.entries(reading[name] ?? {});
}

/** The value of a metric without labels; undefined where it is absent. */
export function plainOf(reading: Reading, name: LiveMetric): number | undefined {
  const value = reading[name]?.[''];
  return typeof value === 'number' ? value : undefined;
}

export type LabelReader = (text: string) => Readonly<Record<string, string>>;

const mostKept = 50_000;

/** Parses label texts; each text is parsed once, because the same texts come every second. */
export function createLabelReader(): LabelReader {
  const known = new Map<string, Readonly<Record<string, string>>>();
  return (text) => {
    let labels = known.get(text);
    if (labels === undefined) {
      if (known.size >= mostKept) known.clear();
      labels = parseLabels(text);
      known.set(text, labels);
    }
    return labels;
  };
}

const label = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;
const escaped: Readonly<Record<string, string>> = { n: '\n' };

function parseLabels(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = Object.create(null);
  for (const [, name = '', value = ''] of text.matchAll(label)) {
    labels[name] = value.replaceAll(/\\(.)/g, (_, character: string) => escaped[character] ?? character);
  }
  return labels;
}

/** The number of observations per bucket between two readings; the last bucket has no upper bound. */
export type Buckets = readonly number[];

/** How much a counter has grown; never below zero, because a sum falls when the counts of removed models are dropped. */
export function growth(now: number, before: number | undefined): number {
  return before === undefined ? now : Math.max(0, now - before);
}

/** How much each bucket has grown, summed over all series. */
export function growthOfBuckets(now: Series, before: Series, bucketCount: number): number[] {
  const sum = new Array<number>(bucketCount).fill(0);
  for (const labels in now) {
    const counts = now[labels];
    if (counts === undefined || typeof counts === 'number') continue;
    const earlier = before[labels];
    // The sum comes last: an unchanged one means no observation, as for most series in a second.
    if (earlier !== undefined && typeof earlier !== 'number' && earlier.at(-1) === counts.at(-1)) continue;
    const since = earlier === undefined || typeof earlier === 'number' ? [] : earlier;
    if (hasFallen(counts, since)) continue;
    for (let at = 0; at < bucketCount; at += 1) sum[at] = (sum[at] ?? 0) + (counts[at] ?? 0) - (since[at] ?? 0);
  }
  return sum;
}

function hasFallen(now: readonly number[], before: readonly number[]): boolean {
  for (let at = 0; at < now.length - 1; at += 1) if ((now[at] ?? 0) < (before[at] ?? 0)) return true;
  return false;
}

export function addBuckets(all: readonly Buckets[]): number[] {
  const sum: number[] = [];
  for (const buckets of all) for (const [at, count] of buckets.entries()) sum[at] = (sum[at] ?? 0) + count;
  return sum;
}

/** Percentiles in milliseconds, to a tenth, from bounds in seconds; undefined without observations. */
export function toPercentiles(buckets: Buckets, boundsS: readonly number[]) {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return undefined;
  const at = (quantile: number): number => Math.round(quantileOf(buckets, boundsS, total * quantile) * 10_000) / 10;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** The value at a rank, interpolated within its bucket; for the last bucket its lower bound, which is a minimum. */
function quantileOf(buckets: Buckets, boundsS: readonly number[], rank: number): number {
  let below = 0;
  for (const [at, count] of buckets.entries()) {
    if (count > 0 && below + count >= rank) {
      const lower = at === 0 ? 0 : (boundsS[at - 1] ?? 0);
      const upper = boundsS[at];
      return upper === undefined ? lower : lower + ((upper - lower) * (rank - below)) / count;
    }
    below += count;
  }
  return boundsS.at(-1) ?? 0;
}

export type Digest = ReturnType<typeof digest>;

type UpstreamDigest = ReturnType<typeof emptyUpstream>;

export interface DigestDeps {
  readonly labelsOf: LabelReader;
  /** The upper bounds of a histogram's buckets, in seconds. */
  boundsOf(name: LiveHistogram): readonly number[];
}

/** Outcomes of attempts that made no call. */
const uncalled: ReadonlySet<string> = new Set(['queue', 'capped']);
/** The value of the label `operation` for requests that call no model. */
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

/** The series of a metric that are not zero; most gauges are zero. */
function* seen(reading: Reading, name: LiveMetric): Generator<[string, number]> {
  const series = reading[name] ?? {};
  for (const text in series) {
    const value = series[text];
    if (typeof value === 'number' && value !== 0) yield [text, value];
  }
}

/** The counters of a metric that have grown, and by how much. */
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
  /** The number of requests with at least one upstream call. */
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
    return getOrMake(upstreams, upstream, () => emptyUpstream());
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

/** The number and sum of the observations between two readings; a histogram's last number is the sum. */
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

/** The growth of CPU time; undefined where it fell because a worker was replaced, whose time is lost. */
function cpuGrowth(now: Reading, before: Reading): number | undefined {
  const [current, earlier] = [plainOf(now, 'process_cpu_seconds_total'), plainOf(before, 'process_cpu_seconds_total')];
  return current === undefined || earlier === undefined || current < earlier ? undefined : current - earlier;
}

const sumOf = (series: Series): number => Object.values(series).reduce<number>((sum, one) => sum + Number(one), 0);

function add(sums: Record<string, number>, name: string, more: number): void {
  sums[name] = (sums[name] ?? 0) + more;
}
