import type { Snapshot } from '../../core/snapshot.ts';
import { createAddressRule } from '../../lib/addresses/address-rule.ts';
import { toAlertSettings } from './alerts.ts';
import { standardConsolePort, toConsoleSettings } from './console.ts';
import { type CompileContext, Location } from './context.ts';
import { toDefaultModels } from './default-model.ts';
import type { ConfigurationDocument } from './document.ts';
import { compileKeys } from './key/compile.ts';
import { toLedgerSettings } from './ledger.ts';
import { toLogSettings, toMetricSettings, toOtelSettings } from './log.ts';
import { compileModels, indexingModels } from './model/compile.ts';
import { priceWarnings } from './model/price-warnings.ts';
import { compileProjects } from './project.ts';
import { compileRoutes } from './route.ts';
import type { Settings } from './schema.ts';
import { toServerSettings } from './server/compile.ts';
import { checkRedis, checkStore } from './store.ts';
import { compileUpstreams } from './upstream/compile.ts';

export interface Compiled {
  readonly snapshot: Snapshot;
  readonly credentialCounts: ReadonlyMap<string, number>;
}

/** Compiles a configuration. The result is usable only if the list of faults stays empty. It may pause at every `yield`. */
export function* compiling(
  document: ConfigurationDocument,
  context: CompileContext,
): Generator<undefined, Compiled, undefined> {
  const { settings } = document;
  const at = (section: string): Location => new Location(context, [section]);
  const server = toServerSettings(settings.server, at('server'));
  checkStore(settings.store, server.workers, at('store'));
  checkRedis(settings.redis, at('redis'));
  const upstreamAddresses = createAddressRule(settings.upstream_addresses);
  checkPorts(server, settings.console, at('console').at('port'));
  const { byId, credentialCounts } = yield* compileUpstreams(document.upstreams, upstreamAddresses, context);
  const groups = yield* compileModels(document, byId, context);
  const models = yield* indexingModels(groups);
  if (document.upstreams.length === 0) at('upstreams').warn(': there are none, so nothing is served');
  const snapshot = Object.freeze({
    createdAtS: Math.floor(context.nowMs / 1000),
    server,
    store: settings.store,
    redis: settings.redis,
    redisDeadlineMs: settings.redis_deadline,
    ledger: toLedgerSettings(settings.ledger, settings.store),
    log: toLogSettings(settings.log),
    metrics: toMetricSettings(settings.metrics),
    otel: settings.otel && toOtelSettings(settings.otel),
    console: toConsoleSettings(settings.console, at('console')),
    alerts: toAlertSettings(settings.alerts, document.areWebhooksStored ? upstreamAddresses : undefined),
    upstreamAddresses,
    projects: yield* compileProjects(document.projects, byId, context),
    upstreams: byId,
    models,
    customRoutes: yield* compileRoutes(document.routes, byId, models, context),
    defaultModels: toDefaultModels(settings.default_model, document.modelNames, models, at('default_model')),
    keys: yield* compileKeys(document, models, byId, context),
  });
  yield* priceWarnings(groups, snapshot, context);
  return { snapshot, credentialCounts };
}

/** Reports two listeners with the same port, of which the second would fail to start. */
function checkPorts(server: Snapshot['server'], console: Settings['console'], location: Location): void {
  const port = console.port ?? standardConsolePort;
  const meet =
    server.host === console.host || [server.host, console.host].some((host) => host === '0.0.0.0' || host === '::');
  if (port !== server.port || port === 0 || !meet) return;
  const sentence = `is the port of server too (${port}); give one of them another`;
  if (console.port !== undefined) location.fault(sentence);
  else location.warn(`: left out, it ${sentence}, or nobody reaches the console`);
}
