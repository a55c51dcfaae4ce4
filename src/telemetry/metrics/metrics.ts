/** Keeps the metrics of a process. Labels come from the configuration, never from clients; a request only increments existing counters. */

import { performance } from 'node:perf_hooks';
import {
  type BudgetPeriod,
  budgetPeriods,
  type HolderKind,
  holderKinds,
  type Measure,
  measures,
} from '../../core/caps.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { Lane } from '../../core/lane.ts';
import { operations } from '../../core/operations/index.ts';
import { type Route, routeOfCustom } from '../../core/route.ts';
import type { Model, Snapshot, Target } from '../../core/snapshot.ts';
import { atOnce, inBackground } from '../../lib/time-slices.ts';
import type { MetricName } from './definitions.ts';
import { type TraceAt, traceOf } from './exemplars.ts';
import { type MetricSources, readingSources } from './gauges.ts';
import { createProcessReadings } from './process-readings.ts';
import { type Reading, toLabels } from './reading.ts';
import { type Counter, type Histogram, Registry } from './registry.ts';
import { RequestCounts, UsageCounts } from './request-counts.ts';

export type Metrics = ReturnType<typeof createMetrics>;

interface MetricsDeps {
  readonly routes: readonly Route[];
  readonly version: string;
}

/** Counts of a removed model or upstream are dropped once this many others were removed after it. */
const goneKept = 1_000;
/** Limit of models that are bound at once, which takes up to 20 ms. */
const mostAtOnce = 1_000;
const none = 'none';
const ownPaths = ['/v1/models', '/v1/models/{id}'];

type ModelCounts = ReadonlyMap<Route, RequestCounts>;

export function createMetrics({ routes, version }: MetricsDeps) {
  const registry = new Registry();
  const own = createProcessReadings();
  const models = new WeakMap<Model, ModelCounts>();
  const usage = new WeakMap<Target, UsageCounts>();
  const upstreams = new Map<string, AttemptCounts>();
  const goneModels = new Gone(goneKept);
  const goneUpstreams = new Gone(goneKept);
  /** Counts of requests without a known model, by the path of the route, or by a name of our own. */
  const modelless = new Map<string, RequestCounts>();
  const placeless = new RequestCounts(registry, { route: none, operation: none, model: none });
  const inFlight = Object.fromEntries(operations.map((operation) => [operation, 0]));
  const overhead = new Map<string, Histogram>();
  const reloads = {
    applied: registry.counter('postern_config_reloads_total', 'applied'),
    refused: registry.counter('postern_config_reloads_total', 'refused'),
  };
  const keys = new NamedHolders(registry, 'key');
  const projects = new NamedHolders(registry, 'project');
  const limitHits = new Map<string, Counter>();
  const budgetHits = new Map<string, Counter>();
  let sources: MetricSources = {};
  let adopted: readonly Model[] = [];
  let customRoutes: readonly Route[] = [];
  let configTimestampS = 0;
  let wasReloaded = true;

  for (const route of routes) showRoute(route);
  for (const path of ownPaths) {
    modelless.set(path, new RequestCounts(registry, { route: path, operation: none, model: none }));
  }
  for (const operation of operations) {
    overhead.set(operation, registry.histogram('postern_overhead_seconds', operation));
  }
  for (const holder of holderKinds) {
    for (const measure of [...measures, 'concurrency']) {
      limitHits.set(`${holder} ${measure}`, registry.counter('postern_limit_hits_total', holder, measure));
    }
    for (const period of budgetPeriods) {
      budgetHits.set(`${holder} ${period}`, registry.counter('postern_budget_hits_total', holder, period));
    }
  }

  function showRoute({ path, operation }: Route): void {
    modelless.set(path, new RequestCounts(registry, { route: path, operation, model: none }));
  }

  /** Binds models that had no requests one after another, so that many of them do not block. */
  function* bindAll(models: readonly Model[]): Generator<undefined, void, undefined> {
    for (const model of models) {
      if (adopted !== models) return; // another configuration is in force
      countsOf(model);
      yield;
    }
  }

  const countsOf = (model: Model): ModelCounts => models.get(model) ?? bind(model);

  function bind(model: Model): ModelCounts {
    const counts = new Map<Route, RequestCounts>();
    for (const route of [...routes, ...customRoutes]) {
      if (!model.operations.includes(route.operation)) continue;
      const { path, operation } = route;
      const made = new RequestCounts(registry, { route: path, operation, model: model.id });
      made.show();
      counts.set(route, made);
    }
    models.set(model, counts);
    bindUsage(model);
    return counts;
  }

  function bindUsage(model: Model): void {
    for (const target of model.targets) {
      if (target.weight > 0) usage.set(target, new UsageCounts(registry, model.id, target.upstream.id));
    }
  }

  function requestCounts({ route, path, modelId, snapshot }: Exchange): RequestCounts {
    if (route !== undefined && modelId !== undefined) {
      // Requests for a pattern's names count for the pattern, whatever names clients use.
      const model = snapshot.models.resolve(modelId)?.model;
      const counts = model === undefined ? undefined : countsOf(model).get(route);
      if (counts !== undefined) return counts;
    }
    return (path === undefined ? undefined : modelless.get(path)) ?? placeless;
  }

  /** Reads all metrics, or those in `only` (summed as defined) and others that cost little. It may pause at every `yield`. */
  function* reading(only?: ReadonlySet<MetricName>): Generator<undefined, Reading, undefined> {
    return {
      ...(yield* registry.reading(only)),
      ...own.read(only),
      ...(yield* readingSources(sources, only)),
      postern_requests_in_flight: Object.fromEntries(
        Object.entries(inFlight).map(([operation, count]) => [toLabels(['operation'], [operation]), count]),
      ),
      postern_config_timestamp_seconds: { '': configTimestampS },
      postern_config_last_reload_successful: { '': wasReloaded ? 1 : 0 },
      postern_build_info: { [toLabels(['version', 'node'], [version, process.versions.node])]: 1 },
      postern_workers: { '': 1 },
    };
  }

  return {
    /** Adopts the configuration in force. Counts of models and upstreams that remain continue. */
    adopt(snapshot: Snapshot): void {
      adopted = snapshot.models.all;
      customRoutes = snapshot.customRoutes.map(routeOfCustom);
      for (const route of customRoutes) showRoute(route);
      if (adopted.length > mostAtOnce) void inBackground.timeSliced(bindAll(adopted));
      else atOnce(bindAll(adopted));
      for (const id of snapshot.upstreams.keys()) {
        if (!upstreams.has(id)) upstreams.set(id, new AttemptCounts(registry, id));
      }
      const leftModels = new Set(goneModels.notice(snapshot.models.all.map((model) => model.id)));
      leftModels.delete(none);
      registry.forget('model', leftModels);
      const leftUpstreams = new Set(goneUpstreams.notice([...snapshot.upstreams.keys()]));
      registry.forget('upstream', leftUpstreams);
      for (const id of leftUpstreams) upstreams.delete(id);
      keys.adopt(snapshot.metrics.keys);
      projects.adopt(snapshot.metrics.projects);
      configTimestampS = snapshot.createdAtS;
    },
    /** Counts a request on a client route that has begun; `settled` follows. */
    began({ route }: Exchange): void {
      if (route !== undefined) inFlight[route.operation] = (inFlight[route.operation] ?? 0) + 1;
    },
    settled(exchange: Exchange): void {
      const { route, target, bill } = exchange;
      const nowMs = performance.now();
      const trace = traceOf(exchange, nowMs);
      requestCounts(exchange).count(exchange, nowMs, trace);
      if (route === undefined) return;
      inFlight[route.operation] = (inFlight[route.operation] ?? 0) - 1;
      keys.count(exchange.key?.id, exchange);
      projects.count(exchange.key?.project, exchange);
      if (target === undefined) return;
      countAttempts(exchange, upstreams, trace);
      if (bill !== null) usage.get(target)?.count(bill);
      if (exchange.attempts === 1 && exchange.sentAtMs > 0) {
        overhead.get(route.operation)?.observe((exchange.sentAtMs - exchange.startedMs) / 1000, trace);
      }
    },
    limitHit: (holder: HolderKind, measure: Measure | 'concurrency') => limitHits.get(`${holder} ${measure}`)?.add(1),
    budgetHit: (holder: HolderKind, period: BudgetPeriod) => budgetHits.get(`${holder} ${period}`)?.add(1),
    /** Counts a changed configuration that was applied, or refused. */
    reloaded(isInForce: boolean): void {
      reloads[isInForce ? 'applied' : 'refused'].add(1);
      wasReloaded = isInForce;
    },
    observe(more: MetricSources): void {
      sources = { ...sources, ...more };
    },
    reading,
    read: (only?: ReadonlySet<MetricName>): Reading => atOnce(reading(only)),
    close: () => own.close(),
  };
}

/** Counts the calls of a request. The only call of most exchanges has no `TryRecord`. */
function countAttempts(
  { attempts, tries, target, firstByteAtMs, sentAtMs, repeatedCredential, lane, queuedMs }: Exchange,
  upstreams: ReadonlyMap<string, AttemptCounts>,
  trace: TraceAt | undefined,
): void {
  const last = target === undefined ? undefined : upstreams.get(target.upstream.id);
  let reported = 0;
  for (const { upstream, outcome } of tries) {
    upstreams.get(upstream)?.count(outcome);
    if (isCall(outcome)) reported += 1;
  }
  if (queuedMs > 0) last?.waits[lane].observe(queuedMs / 1000, trace);
  if (repeatedCredential) last?.repeatedCredentials.add(1);
  if (firstByteAtMs > 0) last?.firstByte.observe((firstByteAtMs - sentAtMs) / 1000, trace);
  if (reported === attempts) return;
  if (firstByteAtMs > 0 && reported === 0) last?.answered.add(1);
  else last?.abandoned.add(attempts - reported);
}

/** Outcomes of calls, as in `TryRecord.outcome`; `abandoned`: the client left before any answer. */
const callOutcomes = [
  'answered',
  'limited',
  'rejected',
  'loading',
  'failed',
  'broken',
  'redirects',
  'not-sent',
  'unknown',
  'outrun',
  'abandoned',
] as const;
const others = ['queue', 'capped'] as const;

type AttemptOutcome = (typeof callOutcomes)[number] | (typeof others)[number];

const callNames: ReadonlySet<string> = new Set(callOutcomes);

/** Whether an outcome is that of a call which `Exchange.attempts` counts. */
function isCall(outcome: string): boolean {
  return callNames.has(outcome);
}

class AttemptCounts {
  /** Time from sending the call to the first byte, only for calls whose answer went to the client. */
  readonly firstByte: Histogram;
  readonly answered: Counter;
  readonly abandoned: Counter;
  readonly repeatedCredentials: Counter;
  readonly waits: Readonly<Record<Lane, Histogram>>;
  readonly #byOutcome: ReadonlyMap<string, Counter>;

  constructor(registry: Registry, upstream: string) {
    const counter = (outcome: AttemptOutcome): Counter => registry.counter('postern_attempts_total', upstream, outcome);
    this.firstByte = registry.histogram('postern_upstream_first_byte_seconds', upstream);
    this.answered = counter('answered');
    this.abandoned = counter('abandoned');
    const waits = (lane: Lane): Histogram => registry.histogram('postern_lane_wait_seconds', upstream, lane);
    this.waits = { interactive: waits('interactive'), bulk: waits('bulk') };
    this.repeatedCredentials = registry.counter('postern_repeated_credentials_total', upstream);
    this.#byOutcome = new Map([...callOutcomes, ...others].map((outcome) => [outcome, counter(outcome)]));
  }

  /** Counts a call's outcome; unknown outcomes are not counted. */
  count(outcome: string): void {
    this.#byOutcome.get(outcome)?.add(1);
  }
}

type NamedKind = 'key' | 'project';

function countersOf(registry: Registry, holder: NamedKind, id: string) {
  return {
    ok: registry.counter('postern_holder_requests_total', holder, id, 'ok'),
    failed: registry.counter('postern_holder_requests_total', holder, id, 'failed'),
    input: registry.counter('postern_holder_tokens_total', holder, id, 'input'),
    output: registry.counter('postern_holder_tokens_total', holder, id, 'output'),
    dollars: registry.counter('postern_holder_cost_dollars_total', holder, id),
  };
}

/** Keeps counts by configured names; they continue over reloads. */
class NamedHolders {
  readonly #registry: Registry;
  readonly #kind: NamedKind;
  readonly #known = new Map<string, ReturnType<typeof countersOf>>();
  #named: ReadonlySet<string> = new Set();

  constructor(registry: Registry, kind: NamedKind) {
    this.#registry = registry;
    this.#kind = kind;
  }

  adopt(ids: ReadonlySet<string>): void {
    this.#named = ids;
    for (const id of ids) {
      if (!this.#known.has(id)) this.#known.set(id, countersOf(this.#registry, this.#kind, id));
    }
  }

  count(id: string | undefined, { bill, status, errorCode }: Exchange): void {
    const counters = id !== undefined && this.#named.has(id) ? this.#known.get(id) : undefined;
    if (counters === undefined) return;
    (errorCode === undefined && status < 400 ? counters.ok : counters.failed).add(1);
    if (bill === null) return;
    counters.input.add(bill.inputTokens);
    counters.output.add(bill.outputTokens);
    counters.dollars.add((bill.costNanos ?? 0) / 1e9);
  }
}
/** Remembers removed models and upstreams, and decides which of them metrics drop: the earliest removed, once there are too many. */
export class Gone {
  readonly #kept: number;
  #present: ReadonlySet<string> = new Set();
  readonly #gone = new Set<string>();

  constructor(kept: number) {
    this.#kept = kept;
  }

  /** Notes which names are configured, and returns removed ones that are to be dropped. */
  notice(present: readonly string[]): string[] {
    const before = this.#present;
    this.#present = new Set(present);
    for (const name of this.#present) this.#gone.delete(name);
    for (const name of before) if (!this.#present.has(name)) this.#gone.add(name);
    const forgotten = [...this.#gone].slice(0, Math.max(0, this.#gone.size - this.#kept));
    for (const name of forgotten) this.#gone.delete(name);
    return forgotten;
  }
}
