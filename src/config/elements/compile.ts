/** Turns a configuration that fits the schema into a frozen snapshot. Pure: what it needs from files was read before. */

import { type Operation, operations } from '../../core/operation.ts';
import type { ModelIndex, ServerSettings, Snapshot } from '../../core/snapshot.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import { noticesOf } from '../describe/notices.ts';
import { suggestion } from '../read/faults.ts';
import { type CompileContext, quoted } from './context.ts';
import type { ConfigurationDocument } from './document.ts';
import { compileKeys } from './key/compile.ts';
import { compileModels } from './model/compile.ts';
import { createModelIndex } from './model/model-index.ts';
import { priceWarnings } from './model/price-warnings.ts';
import { standardConsolePort, toAlertSettings, toConsoleSettings, toLedgerSettings } from './operation-settings.ts';
import { compileProjects } from './project/compile.ts';
import type { Settings } from './schema.ts';
import { toServerSettings } from './server/compile.ts';
import { toAddressRule } from './upstream/addresses.ts';
import { compileUpstreams } from './upstream/compile.ts';

export interface Compiled {
  readonly snapshot: Snapshot;
  /** How many credentials each upstream has, by its ID. */
  readonly credentialCounts: ReadonlyMap<string, number>;
}

/** What comes back is fit to run only while the context's list of faults stays empty. Every `yield` is a place to stop at. */
export function* compiling(
  document: ConfigurationDocument,
  context: CompileContext,
): Generator<undefined, Compiled, undefined> {
  const { settings } = document;
  for (const notice of yield* noticesOf(document)) context.notices.push(notice);
  const server = toServerSettings(settings.server, context);
  checkStore(settings.store, server.workers, context);
  checkRedis(settings.redis, context);
  const upstreamAddresses = toAddressRule(settings.upstream_addresses);
  checkPorts(server, settings.console, context);
  const { byId, credentialCounts } = yield* compileUpstreams(document.upstreams, upstreamAddresses, context);
  const compiled = yield* compileModels(document, byId, context);
  yield;
  const models = createModelIndex(compiled);
  if (settings.upstreams.length === 0) context.warnings.push('upstreams: there are none, so nothing is served');
  const snapshot = Object.freeze({
    createdAtS: Math.floor(context.nowMs / 1000),
    server,
    store: settings.store,
    redis: settings.redis,
    redisDeadlineMs: settings.redis_deadline,
    ledger: toLedgerSettings(settings.ledger),
    console: toConsoleSettings(settings.console, context),
    alerts: toAlertSettings(settings.alerts, document.areWebhooksStored ? upstreamAddresses : undefined),
    upstreamAddresses,
    projects: yield* compileProjects(document.projects, context),
    upstreams: byId,
    models,
    defaultModels: toDefaultModels(document, models, context),
    keys: yield* compileKeys(document, models, context),
  });
  for (const warning of yield* priceWarnings(document, models.all, snapshot)) context.warnings.push(warning);
  return { snapshot, credentialCounts };
}

/** Of two listeners with one port, the second would not come up. */
function checkPorts(server: ServerSettings, console: Settings['console'], { faults, warnings }: CompileContext): void {
  const port = console.port ?? standardConsolePort;
  const meet = server.host === console.host || [server.host, console.host].some((host) => isEverywhere(host));
  if (port !== server.port || port === 0 || !meet) return;
  const sentence = `is the port of server too (${port}); give one of them another`;
  if (console.port !== undefined) faults.add(['console', 'port'], sentence);
  else warnings.push(`console.port: left out, it ${sentence}, or nobody reaches the console`);
}

const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::';

const wantedStore =
  'wanted: sqlite:<path of the database file>, such as sqlite:data/postern.db, or postgres://user:password@host/database';

function checkStore(store: string, workers: number, { faults }: CompileContext): void {
  if (/^postgres(ql)?:/i.test(store)) {
    const url = /^postgres(ql)?:\/\/[^\s]+$/.test(store) ? URL.parse(store) : null;
    if (url === null || url.hostname === '' || url.pathname.length < 2) faults.add(['store'], wantedStore);
  } else if (!/^sqlite:./.test(store)) {
    faults.add(['store'], wantedStore);
  } else if (store === 'sqlite::memory:' && workers > 1) {
    faults.add(
      ['store'],
      `is in the memory of one process, and server.workers is ${workers}; write a path, such as sqlite:data/postern.db, or server.workers: 1`,
    );
  }
}

/** One that cannot be read would be away for ever. */
function checkRedis(redis: string | undefined, { faults }: CompileContext): void {
  if (redis === undefined) return;
  const url = URL.parse(redis);
  if (url !== null && url.hostname !== '' && /^\/?\d*$/.test(url.pathname)) return;
  faults.add(
    ['redis'],
    'wanted: a redis:// or rediss:// URL, such as redis://user:password@host:6379/2; this one cannot be read',
  );
}

function toDefaultModels(
  { settings, modelNames }: ConfigurationDocument,
  models: ModelIndex,
  context: CompileContext,
): Readonly<Partial<Record<Operation, string>>> {
  const result: Partial<Record<Operation, string>> = {};
  for (const operation of operations) {
    const name = settings.default_model[operation];
    if (name === undefined) continue;
    const path = ['default_model', operation];
    const model = name.includes('*') ? undefined : models.resolve(name)?.model;
    if (model === undefined) {
      if (modelNames.has(name) && !name.includes('*')) continue; // it is in the file, with a fault of its own
      const near = nearestName(
        name,
        models.all.map(({ id }) => id),
      );
      context.faults.add(path, `unknown model ${quoted(context, path, name)}${suggestion(near)}`);
    } else if (!model.operations.includes(operation)) {
      context.faults.add(
        path,
        `${quoted(context, path, name)} does not serve ${operation}; it serves ${model.operations.join(', ')}`,
      );
    }
    result[operation] = name;
  }
  return Object.freeze(result);
}
