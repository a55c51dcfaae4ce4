/** Defines every metric: name, description, labels, and how several processes are merged. docs/reference/metrics.md has the same. */

export interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** How the values of several workers are merged; counters and histograms are always summed. */
  readonly across: 'sum' | 'most' | 'least';
  /** Upper bounds of the buckets in rising order; a last bucket without a bound is implied. */
  readonly buckets: readonly number[];
  /** Labels by which the metric is summed where only some metrics are read, so that thousands of models become a few series. */
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
  postern_request_duration_seconds: histogram('Time from the request head to the end of the response.', waitBuckets, [
    'route',
    'model',
  ]),
  postern_first_byte_seconds: histogram(
    'Time from the request head to the first byte of the upstream response.',
    waitBuckets,
    ['route'],
  ),
  postern_overhead_seconds: histogram(
    'Time from the request head to sending the first upstream call, if that call was answered.',
    overheadBuckets,
    ['operation'],
  ),

  postern_attempts_total: counter('Calls to upstreams, by result.', ['upstream', 'outcome']),
  postern_repeated_credentials_total: counter(
    'Responses withheld or cut because they repeated a credential of their upstream.',
    ['upstream'],
  ),
  postern_upstream_first_byte_seconds: histogram(
    'Time from sending a call to the first byte of its response, for responses sent to the client.',
    waitBuckets,
    ['upstream'],
  ),
  postern_upstream_waiting: gauge('Calls waiting for a slot at the upstream.', ['upstream']),
  postern_lane_in_flight: gauge('Calls in flight at the upstream, by lane.', ['upstream', 'lane']),
  postern_lane_waiting: gauge('Calls waiting for a slot or a rate limit of the upstream, by lane.', [
    'upstream',
    'lane',
  ]),
  postern_lane_wait_seconds: histogram(
    'Time that waiting requests waited for a slot or a rate limit of the upstream that answered.',
    waitBuckets,
    ['upstream', 'lane'],
  ),
  postern_bulk_limit: gauge('Present maximum of bulk calls, lowered to keep the latency in slo of interactive calls.', [
    'upstream',
  ]),
  postern_slo_missed: gauge(
    '1 if interactive calls exceed their slo although bulk is at its minimum; with workers, the number of them that report it.',
    ['upstream', 'model'],
  ),
  postern_upstream_learned_limit: gauge('The learned concurrency limit of the upstream.', ['upstream']),
  postern_endpoint_in_flight: gauge('Calls in flight at each address of an upstream with several.', [
    'upstream',
    'endpoint',
  ]),
  postern_endpoint_up: gauge(
    '1 if the address is called, 0 in cooldown or while its health check fails; with workers, the number of them that call it.',
    ['upstream', 'endpoint'],
  ),
  postern_target_state: gauge('1 for the present state of a target; with workers, the number of them that report it.', [
    'upstream',
    'model',
    'state',
  ]),
  postern_target_in_flight: gauge('Calls in flight at a target.', ['upstream', 'model']),
  postern_target_latency_seconds: gauge(
    'Moving average of the time to the first byte of a target; 0 without calls in the last five minutes.',
    ['upstream', 'model'],
    'most',
  ),
  postern_target_resting_credentials: gauge('Credentials in cooldown at a target.', ['upstream', 'model'], 'most'),

  postern_tokens_total: counter('Tokens, as billed.', ['model', 'upstream', 'direction']),
  postern_cached_tokens_total: counter('Input tokens read from the prompt cache of the upstream.', [
    'model',
    'upstream',
  ]),
  postern_search_units_total: counter('Search units of rerank, as billed.', ['model', 'upstream']),
  postern_units_total: counter('Other billed units: images, seconds, characters, tool calls, kinds of tokens.', [
    'model',
    'upstream',
    'unit',
  ]),
  postern_items_total: counter('Inputs, prompts and documents, as billed.', ['model', 'upstream']),
  postern_cost_dollars_total: counter('Cost of requests with a known price, in US dollars.', ['model', 'upstream']),
  postern_holder_requests_total: counter('Requests of a key or project that metrics.keys or metrics.projects names.', [
    'holder',
    'id',
    'result',
  ]),
  postern_holder_tokens_total: counter('Its tokens, as billed.', ['holder', 'id', 'direction']),
  postern_holder_cost_dollars_total: counter('Its cost of requests with a known price, in US dollars.', [
    'holder',
    'id',
  ]),
  postern_saved_items_total: counter('Items of lists answered from the cache.', ['model', 'upstream']),
  postern_saved_tokens_total: counter('Tokens that these items would have used.', ['model', 'upstream']),
  postern_saved_cost_dollars_total: counter('Cost that these items would have had, in US dollars.', [
    'model',
    'upstream',
  ]),
  postern_unpriced_requests_total: counter('Billed requests without a known price.', ['model', 'upstream']),
  postern_estimated_requests_total: counter('Requests whose usage is an estimate, at least in part.', [
    'model',
    'upstream',
  ]),

  postern_limit_hits_total: counter('Requests refused by a limit.', ['holder', 'measure']),
  postern_limit_local_decisions_total: counter('Limit decisions made without Redis.', ['why']),
  postern_budget_hits_total: counter('Requests refused by a budget.', ['holder', 'period']),

  postern_body_memory_bytes: gauge('Memory in use by bodies in flight: of requests, and of translated responses.', [
    'of',
  ]),
  postern_body_memory_limit_bytes: gauge('Its limit.', ['of']),
  postern_upload_disk_bytes: gauge('Disk space in use by uploads in flight.', []),
  postern_upload_disk_limit_bytes: gauge('Its limit.', []),
  postern_body_memory_waiting: gauge('Requests and responses waiting for body memory.', ['of']),
  postern_body_memory_refused_total: counter(
    'Requests and responses refused for lack of body memory: after waiting (wait), or while growing (growth).',
    ['of', 'why'],
  ),

  postern_journal_bytes: gauge('Bytes of the journal that are not in the store yet.', []),
  postern_journal_waiting_rows: gauge('Rows of the journal that are not in the store yet.', []),
  postern_journal_rows_total: counter('Rows moved from the journal into the store.', []),
  postern_journal_oldest_seconds: gauge('Age of the oldest row that is not in the store yet.', [], 'most'),
  postern_journal_failing: gauge('1 if the journal cannot be written, so that requests are refused.', [], 'most'),
  postern_store_up: gauge('0 if rows cannot be written to the store.', [], 'least'),
  postern_redis_up: gauge('1 if Redis answered the last command.', [], 'least'),
  postern_redis_fallback: gauge('Processes that apply limits on their own because Redis is unreachable.', []),

  postern_config_reloads_total: counter('Configurations applied or refused while running.', ['result']),
  postern_config_last_reload_successful: gauge('0 if the last configuration was refused.', [], 'least'),
  postern_config_timestamp_seconds: gauge('When the configuration in force was read.', [], 'least'),
  postern_config_revision: gauge('The last change of the store that is in force.', [], 'least'),
  postern_background_answers: gauge('Background answers at upstreams that are polled here.', []),
  postern_list_cache_items: gauge('Cached items of lists in memory.', []),
  postern_list_cache_bytes: gauge('Memory of the cached items.', []),
  postern_shadow_agreement: gauge(
    'Agreement between a model and its shadow, by comparison; 1 is full agreement.',
    ['model', 'shadow', 'by'],
    'least',
  ),
  postern_canary_agreement: gauge(
    'The lowest cosine between present and first vectors of the canary texts of a target; 1 is equal.',
    ['model', 'upstream'],
    'least',
  ),
  postern_batches: gauge('Batches at upstreams that are polled here.', []),
  postern_build_info: gauge('1, labelled with the running version.', ['version', 'node'], 'most'),
  postern_workers: gauge('Processes that serve.', []),
  postern_worker_restarts_total: counter('Worker processes that died and were replaced.', []),

  process_cpu_seconds_total: counter('Processor time used, all processes together.', []),
  process_resident_memory_bytes: gauge('Resident memory, all processes together.', []),
  process_start_time_seconds: gauge('Start time of the oldest process.', [], 'least'),
  process_open_fds: gauge('Open file descriptors, all processes together.', []),
  nodejs_heap_used_bytes: gauge('Heap in use, all processes together.', []),
  nodejs_heap_total_bytes: gauge('Heap reserved, all processes together.', []),
  nodejs_external_memory_bytes: gauge('Memory outside the heap that belongs to objects in it.', []),
  nodejs_eventloop_delay_seconds: gauge(
    'Timer delay in the last 10 seconds, of the process with the highest.',
    ['percentile'],
    'most',
  ),
  nodejs_gc_seconds_total: counter('Time spent collecting garbage, all processes together.', ['kind']),
} as const satisfies Record<string, Definition>;

export type MetricName = keyof typeof table;

/** For each metric of the live view, which is read once a second: the labels by which it is summed. */
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
