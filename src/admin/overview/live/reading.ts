/** What a process, or several together, have counted so far, as it arrives here: metrics by name, each by its labels. */

/** By labels as they are written, such as `{model="m"}`. A histogram is its counts, one a bucket, and the sum behind them. */
export type Series = Readonly<Record<string, number | readonly number[]>>;

/** What the state of the process is read from: none of it by model or by target, so that it costs nothing. */
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

/** All that is looked at: nothing else needs to be read for it. */
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

/** Of a metric without labels; undefined where nobody tells. */
export function plainOf(reading: Reading, name: LiveMetric): number | undefined {
  const value = reading[name]?.[''];
  return typeof value === 'number' ? value : undefined;
}

export type LabelReader = (text: string) => Readonly<Record<string, string>>;

const mostKept = 50_000;

/** The same texts come back every second: each is taken apart once. */
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
