/** Composes the gateway: routes, listener, pipeline, upstreams, keys. Used by the command line and by tests. */

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { clientApis } from '../apis/index.ts';
import { createDrift } from '../batch/drift/drift.ts';
import { createLists } from '../batch/lists.ts';
import { needsRestart } from '../config/live/live.ts';
import type { Ledger, Spending } from '../core/accounting/spending.ts';
import { anthropicHeader } from '../core/error-shape.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import { type Lane, laneHeader, readLane } from '../core/lane.ts';
import { noQuery, queryOf, readQuery } from '../core/query.ts';
import type { Route } from '../core/route.ts';
import type { SlotArbiter } from '../core/slots.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Store } from '../core/store/store.ts';
import type { TargetState } from '../core/target-state.ts';
import { createDirect } from '../direct/path.ts';
import { createEdge, type Edge, type EdgeDeps } from '../http/edge.ts';
import { createListener, type Listening } from '../http/listener.ts';
import { createSpool } from '../http/spool.ts';
import { checkAddress, checkKey, checkRoute, mayUseModel, unauthorized, unknownKey } from '../keys/access.ts';
import { anthropicPaging, findForAnthropic, listForAnthropic } from '../keys/anthropic-models.ts';
import { readCredential } from '../keys/credentials.ts';
import { viewOf } from '../keys/endpoint-view.ts';
import { findModel, listModels } from '../keys/model-list.ts';
import { createKeyDirectory } from '../keys/store-keys.ts';
import type { Clock } from '../lib/clock.ts';
import { digestOf } from '../lib/secrets/key-secret.ts';
import { atOnce, inBackground } from '../lib/time-slices.ts';
import { BodyBudget, type BudgetLimits } from '../memory/body-budget.ts';
import { createBodyMemory } from '../memory/body-memory.ts';
import { createPressure, type PressureReason } from '../memory/pressure.ts';
import { createProcessMemory } from '../memory/process-memory.ts';
import { DrainPool } from '../pipeline/calls/drain-pool.ts';
import { createOwnInquiry } from '../pipeline/lists/own-inquiry.ts';
import { Background } from '../pipeline/objects/background.ts';
import { createBatchInputJudge } from '../pipeline/objects/batch-input.ts';
import { createBatches } from '../pipeline/objects/batch-polling.ts';
import { createBatchPipeline } from '../pipeline/objects/batches.ts';
import { createObjectPipeline } from '../pipeline/objects/by-id.ts';
import { createFilePipeline } from '../pipeline/objects/files.ts';
import { ObjectRegistry } from '../pipeline/objects/object-registry.ts';
import { createPipeline } from '../pipeline/pipeline.ts';
import { batchRoutes, lineRoutes, objectRoutes, responses, routes } from '../routes/index.ts';
import { type HealthReporter, startHealthReports } from '../telemetry/health-report.ts';
import type { ProcessLog } from '../telemetry/log.ts';
import type { Tracer } from '../telemetry/otel/tracer.ts';
import { createCaller, createHttpTransport } from '../upstream/call.ts';
import { createPools } from '../upstream/connections/pools.ts';
import type { ProxyRule } from '../upstream/connections/proxy-rule.ts';
import { createDispatcher } from '../upstream/dispatcher.ts';
import type { EndpointChange } from '../upstream/endpoints/endpoint-set.ts';
import type { LookUpDeps } from '../upstream/endpoints/look-up.ts';
import { inProcessTransport } from '../upstream/in-process.ts';
import { createHealthChecks } from '../upstream/probes/health-checks.ts';
import { createModelLists } from '../upstream/probes/model-lists.ts';
import { createProbe } from '../upstream/probes/probe.ts';
import { SharedSlots } from '../upstream/slots/shared-slots.ts';
import { createSmallPost } from '../upstream/small-post.ts';
import type { CooldownChange } from '../upstream/target-lease.ts';
import { version } from '../version.ts';
import type { ServerRequest } from '../wire/server-request.ts';

export interface AppDeps {
  readonly snapshot: Snapshot;
  readonly store: Store;
  readonly log: ProcessLog;
  readonly clock: Clock;
  /** ID of this installation, sent with the gateway's own calls to detect loops. */
  readonly installation: string;
  readonly installedAtMs: number;
  /** Random numbers, uniform in [0, 1), for shares of targets and for jitter. */
  readonly random?: () => number;
  /** Chooses the proxy for an upstream; undefined: no proxy. */
  readonly proxyFor?: ProxyRule;
  readonly spending: Spending;
  readonly ledger: Ledger;
  readonly cwd?: string;
  /** Reads the IDs of the keys that decrypt the store's secrets on each machine; undefined where they are unknown. */
  readonly secretKeys?: () => Promise<readonly string[] | undefined>;
  readonly ledgerState?: EdgeDeps['ledgerState'];
  bill(exchange: Exchange): void;
  /** The worker's number, where several processes serve on the same port. */
  readonly worker?: string | undefined;
  /** Receives every configuration, and every finished request. */
  readonly meter?: Meter;
  readonly tracer?: Tracer | undefined;
  /** Assigns slots of upstreams to processes, where several processes call them. */
  readonly slotArbiter?: SlotArbiter | undefined;
  readonly backgroundEveryMs?: number;
  /** For tests: replaces the look-ups of upstream addresses. */
  readonly endpointLookUp?: LookUpDeps | undefined;
  /** Whether plain requests take the direct path; for comparison, tests may send all through the pipeline. */
  readonly isDirect?: boolean;
}

interface Meter {
  adopt(snapshot: Snapshot): void;
  began(exchange: Exchange): void;
  settled(exchange: Exchange): void;
}

export type App = ReturnType<typeof createApp>;

const shedRetryAfter = ['Retry-After', '1'];

export function createApp(deps: AppDeps) {
  const { snapshot, store, log, clock, installation, installedAtMs, proxyFor, spending, ledger, bill } = deps;
  const { worker, meter, tracer, slotArbiter, backgroundEveryMs, endpointLookUp } = deps;
  const { random = Math.random, cwd = '.', isDirect = true, secretKeys = async () => undefined } = deps;
  let current = snapshot;
  const installedAtS = Math.floor(installedAtMs / 1_000);
  let ready = false;
  let adopted: Promise<void> | undefined;
  const pools = createPools({
    ...(proxyFor && { proxyFor }),
    ...endpointLookUp,
    random,
    onEndpoints(upstream, change) {
      logEndpoints(log, upstream, change);
      reports?.changed();
    },
  });
  const smallPost = createSmallPost(proxyFor);
  const memory = createProcessMemory();
  const pressure = createPressure({ clock, ...memory });
  let reports: HealthReporter | undefined;
  const shared = slotArbiter === undefined ? undefined : new SharedSlots(slotArbiter);
  const dispatcher = createDispatcher({
    clock,
    random,
    shared,
    onChange(change) {
      logChange(log, change);
      reports?.changed();
    },
  });
  const healthChecks = createHealthChecks({
    pools,
    clock,
    installation,
    onResult: (upstream, ok, why) => dispatcher.checked(upstream, ok, why),
  });
  const probe = createProbe({ proxyFor, signing: { nowMs: clock.nowMs, post: smallPost.post }, installation });
  const modelLists = createModelLists({
    read: (upstream, signal) => probe.models(upstream, signal),
    random,
    onMissing(upstream, model) {
      log.warn('model not listed by upstream', { upstream, model });
      reports?.changed();
    },
  });
  const directory = createKeyDirectory({ store: store.keys, clock });
  const requestMemory = createBodyMemory('request bodies', requestLimits(snapshot), memory);
  const uploadDisk = new BodyBudget(uploadLimits(snapshot));
  const spool = createSpool(resolve(cwd, snapshot.server.uploadDirectory));
  const answerMemory = createBodyMemory('answers that are translated', answerLimits(snapshot), memory);

  /** Finds the key of a request and checks it. Returns no promise where the key is cached, which is usual. */
  function admit(exchange: Exchange, route: Route | undefined, request: ServerRequest): KeyRecord | Promise<KeyRecord> {
    const { fields } = request;
    const caller = fields.made instanceof Caller ? fields.made : readCaller(fields);
    const { credential, digest } = caller;
    const judge = (key: KeyRecord | undefined): KeyRecord => {
      if (key === undefined) throw unknownKey(credential);
      exchange.key = key;
      if (key.captureMs !== undefined) exchange.keySecret = credential;
      checkKey(key, exchange.startedAtMs);
      if (route !== undefined) checkRoute(key, ...(route.isFor ?? [route.operation]));
      checkAddress(key, exchange.clientAddress);
      if (caller.lane !== undefined) exchange.askedLane = caller.lane;
      fields.made = caller;
      return key;
    };
    const found = exchange.snapshot.keys.get(digest) ?? directory.find(digest);
    return found instanceof Promise ? found.then(judge) : judge(found);
  }

  const lists = createLists({ redis: snapshot.redis, log });
  const transports = { http: createHttpTransport(pools), inProcess: inProcessTransport };
  const objects = new ObjectRegistry({ store: store.storedObjects });
  const polling = {
    transport: transports.http,
    installation,
    clock,
    log,
    spending,
    ledger,
    bill,
    current: () => current,
    findKey: async (id: string) => [...current.keys.values()].find((key) => key.id === id) ?? store.keys.get(id),
    meter,
    everyMs: backgroundEveryMs,
  };
  const background = new Background({ ...polling, store: store.background, route: responses });
  const batches = createBatches({
    ...polling,
    store: store.batches,
    stored: store.storedObjects,
    objects,
    batchRoutes,
  });
  const pipelineDeps = {
    log,
    transports,
    background,
    dispatcher,
    clock,
    random,
    signing: { nowMs: clock.nowMs, post: smallPost.post },
    checkPressure({ snapshot: { server } }: Exchange): void {
      const reason = pressure.reason(server.shedding);
      if (reason !== undefined) throw overloaded(reason);
    },
    admit,
    checkOperation: checkRoute,
    answerPool: answerMemory,
    lists,
    drains: new DrainPool(),
    objects,
    spending,
    ledger,
    bill,
  };
  const drift = createDrift({
    ask: createOwnInquiry({ ...pipelineDeps, routes, installation, current: () => current }),
    settings: store.settings,
    clock,
    random,
    log,
  });
  const listDeps = { ...pipelineDeps, drift };
  const readBody: Edge['readBody'] = (...request) => edge.readBody(...request);
  const pipelineParts = { ...listDeps, routes, readBody, mayUseModel };
  const pipeline = createPipeline(pipelineParts);
  const direct = createDirect({
    ...pipelineParts,
    pipeline,
    call: createCaller(pools),
    takeJsonBody: (...request) => edge.takeJsonBody(...request),
  });
  const objectPipelines = {
    answers: createObjectPipeline({ ...listDeps, mayUseModel }),
    file: createFilePipeline({
      ...listDeps,
      readBody,
      files: store.storedObjects,
      openBatches: store.batches,
      judgeBatch: createBatchInputJudge({ lineRoutes, objects, mayUseModel, checkOperation: checkRoute }),
    }),
    batch: createBatchPipeline({
      ...listDeps,
      readBody,
      mayUseModel,
      installation,
      stored: store.storedObjects,
      batches,
      lineRoutes,
      batchRoutes,
    }),
  };

  const edge = createEdge({
    clock,
    routes: { routes, objectRoutes, clientApis },
    installation,
    current: () => current,
    isReady: () => ready,
    ledgerState: deps.ledgerState ?? (() => ({ isJournalFailing: false, failure: undefined, rowsBehind: 0 })),
    bodyPool: requestMemory,
    uploads: { spool, enter: (key) => uploadDisk.take(key, 0) },
    serve(exchange, route, modelFromPath, request, response, ended) {
      exchange.route = route;
      meter?.began(exchange);
      tracer?.began(exchange, request.fields);
      if (isDirect && direct(exchange, route, modelFromPath, request, response, ended)) return;
      pipeline.serve(exchange, route, modelFromPath, request, response).then(
        () => ended.resolve(),
        (error: unknown) => ended.reject(error),
      );
    },
    serveObject(exchange, route, id, request, response) {
      exchange.route = route.route;
      meter?.began(exchange);
      tracer?.began(exchange, request.fields);
      const serve =
        route.kind === 'file' || route.kind === 'batch' ? objectPipelines[route.kind] : objectPipelines.answers;
      return serve(exchange, route, id, request, response);
    },
    async describeModels(exchange, id, request) {
      const key = await admit(exchange, undefined, request);
      if (request.header(anthropicHeader) !== undefined) {
        const query = readQuery(queryOf(request.target), anthropicPaging);
        const { snapshot: current } = exchange;
        return id === undefined
          ? listForAnthropic(current, key, query, installedAtS)
          : findForAnthropic(current, key, id, installedAtS);
      }
      return id === undefined
        ? listModels(exchange.snapshot, key, installedAtS)
        : findModel(exchange.snapshot, key, id, installedAtS);
    },
    async showEndpoint(exchange, endpoint, modelInPath, request, response) {
      const key = await admit(exchange, undefined, request);
      const body = endpoint.method === 'GET' ? undefined : await edge.readJsonBody(exchange, request, response);
      const query = endpoint.query === undefined ? noQuery : readQuery(queryOf(request.target), endpoint.query);
      return endpoint.show(viewOf(exchange, key, { modelInPath, query, body, installedAtS, version }));
    },
    settle(exchange, method) {
      // Log lines of probes would drown all others.
      const isProbe = exchange.path === '/healthz' || exchange.path === '/readyz';
      if (isProbe) return;
      meter?.settled(exchange);
      tracer?.settled(exchange, method);
      log.request(exchange, method);
    },
  });

  const listener = createListener(current.server, edge, clock, log, { sharesSocket: worker !== undefined });

  /** Lets components with state per upstream adopt the configuration in force. It may pause at every `yield`; a newer one takes over there. */
  function* adopting(next: Snapshot): Generator<undefined, void, undefined> {
    // At once: requests that begin now must not keep state of the former configuration.
    meter?.adopt(next);
    dispatcher.adopt(next);
    pools.keep(next.upstreams.values());
    const steps = [
      () => healthChecks.watch(next.upstreams.values()),
      () => modelLists.watch(next.upstreams.values(), next.models),
      () => drift.adopt(next),
    ];
    for (const step of steps) {
      yield;
      if (current !== next) return;
      step();
    }
  }

  function* describeTargets(): Generator<undefined, TargetState[], undefined> {
    const states = yield* dispatcher.describing(current);
    // The dispatcher does not know the endpoints, and whether the upstream lists the model.
    const nowMs = clock.monotonicMs();
    return states.map((one) => {
      const endpoints = pools.endpointStates(one.upstream, nowMs);
      const isMissing = modelLists.lacks(one.upstream, one.model);
      return endpoints === undefined && !isMissing ? one : { ...one, ...(isMissing && { isListed: false }), endpoints };
    });
  }

  return {
    async listen(): Promise<Listening> {
      const listening = await listener.listen();
      atOnce(adopting(current));
      reports = startHealthReports({
        store: store.health,
        node: `${hostname()}:${listening.tcp?.port ?? listening.socket}${worker === undefined ? '' : `#${worker}`}`,
        log,
        drift: drift.state,
        secretKeys,
        states: () => inBackground.timeSliced(describeTargets()),
      });
      background.start();
      batches.start();
      ready = true;
      return listening;
    },
    /** Applies a configuration, whole or not at all; returns the objections to it. */
    swap(next: Snapshot): readonly string[] {
      const reasons = needsRestart(current, next);
      if (reasons.length > 0) return reasons;
      current = next;
      listener.apply(next.server);
      requestMemory.configure(requestLimits(next));
      answerMemory.configure(answerLimits(next));
      uploadDisk.configure(uploadLimits(next));
      adopted = inBackground.timeSliced(adopting(next));
      return [];
    },
    /** Resolves once every component has adopted the configuration in force. */
    adopted: () => adopted,
    /** The key directory, which the store's change feed notifies of changed keys. */
    keys: directory,
    lists,
    drift,
    /** Describes the state of every target. It may pause at every `yield`. */
    targets: describeTargets,
    memory: () => ({ requests: requestMemory.state(), answers: answerMemory.state() }),
    uploadDisk: () => uploadDisk,
    background: () => background.count,
    batches: () => batches.count,
    /** Stops serving: readiness fails first, then no new connections are accepted and running requests end. True if all of them did. */
    async drain(): Promise<boolean> {
      ready = false;
      const { delayMs, deadlineMs } = current.server.drain;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      return listener.drain(deadlineMs);
    },
    /** Closes everything except the store. */
    async close(): Promise<void> {
      await background.close();
      await batches.close();
      pressure.close();
      healthChecks.close();
      modelLists.close();
      shared?.close();
      await reports?.close();
      await listener.close();
      drift.close();
      lists.close();
      await pools.close();
      await smallPost.close();
    },
  };
}

/** Identifies the caller by the head of a request. */
class Caller {
  readonly credential: string;
  readonly digest: string;
  readonly lane: Lane | undefined;

  constructor(credential: string, lane: Lane | undefined) {
    this.credential = credential;
    this.lane = lane;
    this.digest = digestOf(credential);
  }
}

function readCaller(fields: ServerRequest['fields']): Caller {
  const credential = readCredential(fields);
  if (credential === undefined) throw unauthorized('missing_api_key');
  return new Caller(credential, readLane(fields.get(laneHeader)));
}

/** Limits of memory for bodies. A body with its decoded or compressed form takes at most twice its length. */
function requestLimits({ server: { bodyMemoryBytes, bodyLimitBytes } }: Snapshot): BudgetLimits {
  return { totalBytes: bodyMemoryBytes, largestBytes: 2 * bodyLimitBytes };
}

function uploadLimits({ server: { uploadDiskBytes, uploadLimitBytes } }: Snapshot): BudgetLimits {
  return { totalBytes: uploadDiskBytes, largestBytes: uploadLimitBytes };
}

function answerLimits({ server: { bodyMemoryBytes } }: Snapshot): BudgetLimits {
  return { totalBytes: bodyMemoryBytes, largestBytes: bodyMemoryBytes };
}

function overloaded(reason: PressureReason): GatewayError {
  const what = reason.kind === 'memory' ? 'memory (server.shedding.memory)' : 'time (server.shedding.loop_delay)';
  return new GatewayError('overloaded', {
    message: `The gateway is short of ${what} and takes no new requests for a moment; try again in 1 s.`,
    headers: shedRetryAfter,
    cause:
      reason.kind === 'memory'
        ? `memory: ${reason.bytes} bytes resident`
        : `event loop: ${Math.round(reason.delayMs)} ms late`,
  });
}

function logEndpoints(log: ProcessLog, upstream: string, change: EndpointChange): void {
  if (change.kind === 'found') {
    const { count, added, gone } = change;
    log.info('upstream endpoints changed', { upstream, endpoints: count, added, gone });
    return;
  }
  const { endpoint, why, forMs } = change;
  const fields = { upstream, endpoint, why, for_ms: forMs > 0 ? Math.round(forMs) : undefined };
  if (change.kind === 'back') log.info('upstream endpoint cooldown ended', fields);
  else log.warn('upstream endpoint in cooldown', fields);
}

function logChange(
  log: ProcessLog,
  { upstream, model, credential, inCooldown, alone, why, forMs }: CooldownChange,
): void {
  const fields = { upstream, model, credential, why, for_ms: inCooldown && !alone ? Math.round(forMs) : undefined };
  if (inCooldown && alone) log.warn('target failing with no alternative', fields);
  else if (inCooldown) log.warn('target in cooldown', fields);
  else log.info('target cooldown ended', fields);
}
