/** Every metric: name, description, labels, and how several processes are merged. docs/reference/metrics.md has the same. */

export interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** How the values of several workers are merged; counters and histograms are always summed. */
  readonly across: 'sum' | 'most' | 'least';
  /** Upper bounds, rising; the unbounded last bucket is implied. */
  readonly buckets: readonly number[];
  /** Where only some metrics are read, this one is summed by these labels: thousands of models become a few series. */
  readonly summedBy?: readonly string[];
}

const waitBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const table = {
  postern_requests_total: counter('Requests that ended.', ['route', 'operation', 'model', 'status', 'outcome']),
  postern_errors_total: counter('Requests that ended with an error of the gateway itself, by its code.', [
    'route',
    'code',
  ]),
  postern_requests_in_flight: gauge('Requests that are being served.', ['operation']),
  postern_request_duration_seconds: histogram('From the head of a request to the end of its answer.', waitBuckets, [
    'route',
    'model',
  ]),
  postern_first_byte_seconds: histogram(
    'From the head of a request to the first byte of the answer that it got from an upstream.',
    waitBuckets,
    ['route'],
  ),
  postern_overhead_seconds: histogram(
    'From the head of a request to the first call leaving for its upstream, where the first call was answered.',
    overheadBuckets,
    ['operation'],
  ),

  postern_attempts_total: counter('Calls to upstreams, by what came of them.', ['upstream', 'outcome']),
  postern_repeated_credentials_total: counter(
    'Answers that repeated a credential of their upstream, and were withheld or cut.',
    ['upstream'],
  ),
  postern_upstream_first_byte_seconds: histogram(
    'From a call being sent to the first byte of its answer, of those whose answer went to the client.',
    waitBuckets,
    ['upstream'],
  ),
  postern_upstream_waiting: gauge('Calls waiting for a slot at the upstream.', ['upstream']),
  postern_lane_in_flight: gauge('Calls under way to the upstream, by lane.', ['upstream', 'lane']),
  postern_lane_waiting: gauge('Calls that wait for a slot or a rate limit of the upstream, by lane.', [
    'upstream',
    'lane',
  ]),
  postern_lane_wait_seconds: histogram(
    'How long requests waited for a slot or a rate limit of the upstream that answered, of those that had to.',
    waitBuckets,
    ['upstream', 'lane'],
  ),
  postern_bulk_limit: gauge('The most bulk calls, while they make room for a promised latency of interactive calls.', [
    'upstream',
  ]),
  postern_slo_missed: gauge(
    '1 where interactive calls take longer than is promised, though bulk makes room; with workers, how many of them see it so.',
    ['upstream', 'model'],
  ),
  postern_upstream_learned_limit: gauge('How many calls the upstream bears at a time, where that is learned.', [
    'upstream',
  ]),
  postern_endpoint_in_flight: gauge('Calls under way to each address of an upstream that has several.', [
    'upstream',
    'endpoint',
  ]),
  postern_endpoint_up: gauge(
    '1 where the address is called, 0 while it is in cooldown or its health check fails; with workers, how many of them see it so.',
    ['upstream', 'endpoint'],
  ),
  postern_target_state: gauge('1 for the state that a target is in; with workers, how many of them see it so.', [
    'upstream',
    'model',
    'state',
  ]),
  postern_target_in_flight: gauge('Calls under way to a target.', ['upstream', 'model']),
  postern_target_latency_seconds: gauge(
    'Moving time to the first byte of a target, as measured; 0 where nothing was called in the last five minutes.',
    ['upstream', 'model'],
    'most',
  ),
  postern_target_resting_credentials: gauge('Credentials that rest at a target.', ['upstream', 'model'], 'most'),

  postern_tokens_total: counter('Tokens, as billed.', ['model', 'upstream', 'direction']),
  postern_cached_tokens_total: counter('Of the input tokens, those that the upstream had in its cache.', [
    'model',
    'upstream',
  ]),
  postern_search_units_total: counter('Search units of rerank, as billed.', ['model', 'upstream']),
  postern_units_total: counter('What else was billed: images, seconds, characters, calls of tools, kinds of tokens.', [
    'model',
    'upstream',
    'unit',
  ]),
  postern_items_total: counter('Inputs, prompts and documents, as billed.', ['model', 'upstream']),
  postern_cost_dollars_total: counter('Cost of what has a known price, in US dollars.', ['model', 'upstream']),
  postern_holder_requests_total: counter('Requests of a key or project that metrics.keys or metrics.projects names.', [
    'holder',
    'id',
    'result',
  ]),
  postern_holder_tokens_total: counter('Its tokens, as billed.', ['holder', 'id', 'direction']),
  postern_holder_cost_dollars_total: counter('Its cost of what has a known price, in US dollars.', ['holder', 'id']),
  postern_saved_items_total: counter('Items of lists that nobody was asked for, as they were known.', [
    'model',
    'upstream',
  ]),
  postern_saved_tokens_total: counter('Tokens that they would have counted.', ['model', 'upstream']),
  postern_saved_cost_dollars_total: counter('What they would have cost, in US dollars.', ['model', 'upstream']),
  postern_unpriced_requests_total: counter('Requests that were billed without a known price.', ['model', 'upstream']),
  postern_estimated_requests_total: counter('Requests whose usage is an estimate, at least in part.', [
    'model',
    'upstream',
  ]),

  postern_limit_hits_total: counter('Requests that a limit stopped.', ['holder', 'measure']),
  postern_limit_local_decisions_total: counter('Decisions about limits that Redis had no part in.', ['why']),
  postern_budget_hits_total: counter('Requests that a budget stopped.', ['holder', 'period']),

  postern_body_memory_bytes: gauge(
    'Memory that bodies in flight hold: of requests, and of answers that are translated.',
    ['of'],
  ),
  postern_body_memory_limit_bytes: gauge('The most that they may hold.', ['of']),
  postern_upload_disk_bytes: gauge('What uploads in flight hold of the disk.', []),
  postern_upload_disk_limit_bytes: gauge('The most that they may hold.', []),
  postern_body_memory_waiting: gauge('Requests and answers that wait for room in it.', ['of']),
  postern_body_memory_refused_total: counter(
    'Of those, how many found none in time (wait), or no more while they grew (growth).',
    ['of', 'why'],
  ),

  postern_journal_bytes: gauge('Bytes of the journal that are not in the store yet.', []),
  postern_journal_waiting_rows: gauge('Rows of the journal that are not in the store yet.', []),
  postern_journal_rows_total: counter('Rows that were brought from the journal into the store.', []),
  postern_journal_oldest_seconds: gauge('Age of the oldest row that is not in the store yet.', [], 'most'),
  postern_journal_failing: gauge('1 where the journal cannot be written, so that no request is taken.', [], 'most'),
  postern_store_up: gauge('0 where rows cannot be brought into the store.', [], 'least'),
  postern_redis_up: gauge('1 where Redis answered last.', [], 'least'),
  postern_redis_fallback: gauge('Processes that count limits on their own, as Redis is out.', []),

  postern_config_reloads_total: counter('Configurations that were put in force, or refused, while running.', [
    'result',
  ]),
  postern_config_last_reload_successful: gauge('0 where the last configuration was refused.', [], 'least'),
  postern_config_timestamp_seconds: gauge('When the configuration in force was read.', [], 'least'),
  postern_config_revision: gauge('The last change of the store that the configuration in force knows of.', [], 'least'),
  postern_background_answers: gauge('Answers that upstreams make in the background, and that are followed here.', []),
  postern_list_cache_items: gauge('Items of lists that are remembered in memory.', []),
  postern_list_cache_bytes: gauge('What they take of it.', []),
  postern_shadow_agreement: gauge(
    'How much a model and its shadow agree, by what is compared; 1 is wholly.',
    ['model', 'shadow', 'by'],
    'least',
  ),
  postern_canary_agreement: gauge(
    'The least cosine of what a target makes of fixed texts, and made of them first; 1 is the same.',
    ['model', 'upstream'],
    'least',
  ),
  postern_batches: gauge('Batches of requests that upstreams work off, and that are followed here.', []),
  postern_build_info: gauge('1, for the version that runs.', ['version', 'node'], 'most'),
  postern_workers: gauge('Processes that serve.', []),
  postern_worker_restarts_total: counter('Worker processes that died and were replaced.', []),

  process_cpu_seconds_total: counter('Processor time used, all processes together.', []),
  process_resident_memory_bytes: gauge('Resident memory, all processes together.', []),
  process_start_time_seconds: gauge('When the oldest process began.', [], 'least'),
  process_open_fds: gauge('Open file descriptors, all processes together.', []),
  nodejs_heap_used_bytes: gauge('Heap in use, all processes together.', []),
  nodejs_heap_total_bytes: gauge('Heap reserved, all processes together.', []),
  nodejs_external_memory_bytes: gauge('Memory outside the heap that belongs to objects in it.', []),
  nodejs_eventloop_delay_seconds: gauge(
    'How late timers fired in the last 10 seconds, of the process where it was worst.',
    ['percentile'],
    'most',
  ),
  nodejs_gc_seconds_total: counter('Time spent collecting garbage, all processes together.', ['kind']),
} as const satisfies Record<string, Definition>;

export type MetricName = keyof typeof table;

/** Labels of the live view, read once a second. */
const summedBy: Readonly<Partial<Record<MetricName, readonly string[]>>> = {
  postern_requests_total: ['operation', 'status', 'outcome'],
  postern_request_duration_seconds: [],
  postern_first_byte_seconds: [],
  postern_target_state: ['upstream', 'state'],
  postern_target_in_flight: ['upstream'],
  postern_tokens_total: ['direction'],
  postern_items_total: [],
  postern_saved_items_total: [],
  postern_saved_cost_dollars_total: [],
  postern_cost_dollars_total: [],
  postern_unpriced_requests_total: [],
};

export const definitions: Readonly<Record<MetricName, Definition>> = Object.freeze(withSums(table));

function withSums(all: Readonly<Record<MetricName, Definition>>): Readonly<Record<MetricName, Definition>> {
  const result = { ...all };
  for (const name of Object.keys(all) as MetricName[]) {
    const labels = summedBy[name];
    if (labels !== undefined) result[name] = { ...all[name], summedBy: labels };
  }
  return result;
}

export const metricNames = Object.keys(table) as MetricName[];

function counter(help: string, labels: readonly string[]): Definition {
  return { type: 'counter', help, labels, across: 'sum', buckets: [] };
}

function gauge(help: string, labels: readonly string[], across: Definition['across'] = 'sum'): Definition {
  return { type: 'gauge', help, labels, across, buckets: [] };
}

function histogram(help: string, buckets: readonly number[], labels: readonly string[]): Definition {
  return { type: 'histogram', help, labels, across: 'sum', buckets };
}
