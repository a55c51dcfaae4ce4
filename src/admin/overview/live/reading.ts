/** A snapshot of metrics from one or several processes, by name and labels. */

/** By labels as written, such as `{model="m"}`. A histogram is its counts, one a bucket, and then the sum. */
export type Series = Readonly<Record<string, number | readonly number[]>>;

/** Metrics of the process's state: none by model or target, so that reading them is cheap. */
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

/** All metrics of the live view: no others are read for it. */
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

/** Those with buckets. */
export type LiveHistogram = Extract<
  LiveMetric,
  'postern_request_duration_seconds' | 'postern_first_byte_seconds' | 'postern_upstream_first_byte_seconds'
>;

export function seriesOf(reading: Reading, name: LiveMetric): readonly [string, number | readonly number[]][] {
  return Object.entries(reading[name] ?? {});
}

/** For a metric without labels; undefined where it is absent. */
export function plainOf(reading: Reading, name: LiveMetric): number | undefined {
  const value = reading[name]?.[''];
  return typeof value === 'number' ? value : undefined;
}

export type LabelReader = (text: string) => Readonly<Record<string, string>>;

const mostKept = 50_000;

/** Label texts repeat every second: each is parsed once. */
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

/** Observations per bucket between two readings; the last one has no upper bound. */
export type Buckets = readonly number[];

/** A counter's increase. A sum falls when counts of removed models are dropped: that is no increase. */
export function growth(now: number, before: number | undefined): number {
  return before === undefined ? now : Math.max(0, now - before);
}

/** Over all series. */
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

/** In milliseconds, to a tenth, from bounds in seconds. Undefined without observations. */
export function toPercentiles(buckets: Buckets, boundsS: readonly number[]) {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return undefined;
  const at = (quantile: number): number => Math.round(quantileOf(buckets, boundsS, total * quantile) * 10_000) / 10;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Interpolates linearly within a bucket. Above the last bound the bound itself is returned: a minimum. */
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
