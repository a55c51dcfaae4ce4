/** Opens everything a serving process needs, and closes it again if a part fails. */

import { hostname } from 'node:os';
import { bill } from '../accounting/billing.ts';
import { secretKeyIds } from '../config/store/secret-key.ts';
import { clearedCaches, readClearedCaches } from '../core/lists.ts';
import type { Store } from '../core/store/store.ts';
import { UserFault } from '../core/user-fault.ts';
import type { Listening } from '../http/listener.ts';
import { JournalError } from '../journal/journal-error.ts';
import { systemClock } from '../lib/clock.ts';
import { reasonOf } from '../lib/thrown.ts';
import { packMemory, setUpEngine } from '../memory/process-memory.ts';
import { batchRoutes, objectRoutes, routes } from '../routes/index.ts';
import { openStore } from '../store/open-store.ts';
import type { ProcessLog } from '../telemetry/log.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics/metrics.ts';
import { openTelemetry } from '../telemetry/otel/otel.ts';
import { exportSettings } from '../telemetry/otel/settings.ts';
import { createProxyRule, type ProxyRule } from '../upstream/connections/proxy-rule.ts';
import { version } from '../version.ts';
import { type Accounting, openAccounting } from './accounting.ts';
import { type App, createApp } from './app.ts';
import type { OpenConfiguration } from './configuration.ts';
import { toListenFault } from './listen-address.ts';
import type { Surroundings } from './surroundings.ts';
import { warmUp } from './warm-up.ts';
import { openParentChannel } from './workers/worker-messages.ts';

export interface Gateway {
  readonly app: App;
  readonly metrics: Metrics;
  readonly accounting: Accounting;
  readonly listening: Listening;
  close(): Promise<void>;
}

/** Number of models and keys from which memory is compacted before serving; with fewer, that is not worth the time. */
const mostUnpacked = 2_000;

/** How long a start waits for a PostgreSQL that starts at the same time. */
const storePatienceMs = 10_000;

/** Opens the store for serving; it does not keep the event loop alive. */
export function openStoreToServe(url: string, { cwd, stderr }: Pick<Surroundings, 'cwd' | 'stderr'>): Promise<Store> {
  setUpEngine();
  const onRetry = (sentence: string): void => stderr(`postern: ${sentence}`);
  return openStore(url, { cwd, inThread: true, patienceMs: storePatienceMs, onRetry });
}

/** Opens a gateway. It owns the store from now on: closes it at its end, and also if the gateway cannot be opened. */
export async function openGateway(
  found: OpenConfiguration,
  log: ProcessLog,
  surroundings: Surroundings,
): Promise<Gateway> {
  const closers: (() => Promise<void> | void)[] = [() => found.store.close()];
  const close = async (): Promise<void> => {
    for (const one of closers.splice(0)) await one();
  };
  try {
    return { ...(await assemble(found, log, surroundings, closers)), close };
  } catch (error) {
    await close();
    throw error instanceof JournalError ? new UserFault(error.message) : error;
  }
}

/** Opens the gateway's parts; they are closed in reverse order. */
async function assemble(
  found: OpenConfiguration,
  log: ProcessLog,
  surroundings: Surroundings,
  closers: (() => Promise<void> | void)[],
): Promise<Omit<Gateway, 'close'>> {
  const { store, loaded } = found;
  const { snapshot } = loaded;
  const clock = systemClock;
  const { families, env } = surroundings;
  const isDirect = env.POSTERN_DIRECT !== 'off';
  const proxyFor = readProxies(env);
  const installation = await store.settings.installation();
  const installedAtMs = await store.settings.installedAtMs();
  const metered = [...new Set([...routes, ...objectRoutes.map(({ route }) => route), ...batchRoutes.values()])];
  const metrics = createMetrics({ routes: metered, version });
  closers.unshift(() => metrics.close());
  const accounting = await openAccounting({
    snapshot,
    store,
    log,
    clock,
    random: Math.random,
    cwd: surroundings.cwd,
    proxyFor,
    hits: metrics,
    parent: openParentChannel(),
  });
  closers.unshift(() => accounting.close());
  const { spending, ledger } = accounting;
  const worker = env.POSTERN_WORKER;
  const otel = exportSettings(snapshot.otel, env);
  const instance = `${hostname()}:${process.pid}${worker === undefined ? '' : `#${worker}`}`;
  const readMetrics = () => metrics.read();
  const telemetry = otel && (await openTelemetry(otel, { log, version, instance, readMetrics, random: Math.random }));
  closers.unshift(() => telemetry?.close());
  const app = createApp({
    snapshot,
    store,
    log,
    clock,
    installation,
    installedAtMs,
    proxyFor,
    spending,
    ledger,
    ledgerState: accounting.ledgerState,
    bill,
    worker,
    meter: metrics,
    tracer: telemetry?.tracer,
    slotArbiter: accounting.slotArbiter,
    cwd: surroundings.cwd,
    isDirect,
    secretKeys: () => secretKeyIds({ env, cwd: surroundings.cwd, store: snapshot.store }),
  });
  if (snapshot.models.all.length + snapshot.keys.size > mostUnpacked) packMemory();
  // The warm-up comes after the app: code that V8 compiles for a function's only closure cannot be used by another one.
  if (env.POSTERN_WARM_UP !== 'off') await warmUp({ families, routes: metered, isDirect, log });
  // Before serving, items are dropped that Redis has from before a cache was cleared.
  app.lists.cleared(readClearedCaches(await store.settings.get(clearedCaches)));
  const listening = await app.listen().catch((error: unknown) => {
    throw toListenFault(error, { name: 'server', ...snapshot.server });
  });
  closers.unshift(() => app.close());
  metrics.observe({
    ...accounting.sources,
    targets: () => app.targets(),
    bodyMemory: () => app.memory(),
    postern_upload_disk_bytes: () => app.uploadDisk().heldBytes,
    postern_upload_disk_limit_bytes: () => app.uploadDisk().totalBytes,
    postern_background_answers: () => app.background(),
    postern_batches: () => app.batches(),
    postern_list_cache_items: () => app.lists.state().items,
    postern_list_cache_bytes: () => app.lists.state().bytes,
    drift: () => app.drift.state(),
  });
  return { app, metrics, accounting, listening };
}

export function readProxies(env: Surroundings['env']): ProxyRule {
  try {
    return createProxyRule(env);
  } catch (error) {
    throw new UserFault(reasonOf(error));
  }
}
