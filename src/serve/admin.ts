/** Composes the admin listener: API, authentication and console files. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createAccess } from '../admin/access/access.ts';
import { createOidcSignIn } from '../admin/access/oidc.ts';
import { createPasskeys } from '../admin/access/passkeys.ts';
import type { Watched } from '../admin/alerts/rules.ts';
import { type AlertWays, createAlertWatch } from '../admin/alerts/watch.ts';
import { createAdminApi } from '../admin/api/api.ts';
import { createEventStreams } from '../admin/api/event-stream.ts';
import type { AdminContext, ConfigurationView, InstanceFacts, RefusedConfiguration } from '../admin/context.ts';
import { endpoints } from '../admin/endpoints.ts';
import { createLedgerTail } from '../admin/ledger/tail.ts';
import { createFetchListener } from '../admin/listener/fetch-listener.ts';
import { createSite } from '../admin/listener/site.ts';
import { createSampler } from '../admin/overview/live/sampler.ts';
import { createConsoleKey, createGatewayCalls } from '../admin/playground/gateway-calls.ts';
import { createAlertPost, sign } from '../budgets/alerts.ts';

import { createKeyJudge } from '../config/elements/key/judge.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { createResourceEditor, type ResourceEditorDeps } from '../config/store/resource-editor.ts';
import { canSeal, findOwnKey, type SecretKeySource } from '../config/store/secret-key.ts';
import type { Family } from '../core/family.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../core/store/store.ts';
import { toClientAddress } from '../http/address.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { traceOf } from '../lib/thrown.ts';
import { parseStoreUrl, storeBytes } from '../store/open-store.ts';
import { definitions, type MetricName } from '../telemetry/metrics/definitions.ts';
import type { Reading } from '../telemetry/metrics/reading.ts';
import { createConnector } from '../upstream/connections/connection.ts';
import { createOwnProbe } from '../upstream/probes/own-probe.ts';
import { sendMail } from '../wire/smtp.ts';
import { createSeriesThread, type SeriesThread } from './threads/series-thread-host.ts';

export interface AdminDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly families: readonly Family[];
  /** Marks the gateway's own calls. */
  readonly installation: string;
  current(): LoadedConfiguration;
  /** The faults of the present file, where it is refused. */
  refused(): RefusedConfiguration | undefined;
  /** The metrics of all serving processes; all, or those in `only`. */
  read(only?: ReadonlySet<MetricName>): Promise<Reading>;
  /** Reads the configuration with a change applied, before it is written. */
  readonly changing: Pick<ResourceEditorDeps, 'load' | 'secrets'>;
  /** The URL of the client listener. */
  clientUrl(): string;
}

export interface Admin {
  /** Answers all requests but those for the listener's own pages. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

/** The same depth in `src/serve/` and `dist/serve/`. */
const siteDirectory = fileURLToPath(new URL('../../console/dist', import.meta.url));

const triesPath = '/api/playground/';
const longestSilenceMs = 15 * 60_000;

export function openAdmin(deps: AdminDeps): Admin {
  const streams = createEventStreams();
  const gatewayCalls = createGatewayCalls({
    consoleKey: createConsoleKey({ store: deps.store, host: hostname(), nowMs: () => deps.clock.nowMs() }),
    clientUrl: deps.clientUrl,
    certificate: () => deps.current().snapshot.server.tls?.cert,
  });
  const live = createSampler({
    read: deps.read,
    boundsOf: (name) => definitions[name].buckets,
    clock: deps.clock,
  });
  const probe = createOwnProbe({
    env: deps.changing.secrets.env,
    clock: deps.clock,
    installation: deps.installation,
  });
  const series = openSeries(deps);
  const watched: Watched = {
    store: deps.store,
    series,
    clock: deps.clock,
    log: deps.log,
    version: deps.version,
    families: deps.families,
    configuration: viewOf(deps),
    access: createAccess({ store: deps.store, clock: deps.clock, url: () => deps.current().snapshot.console.url }),
    oidc: createOidcSignIn(() => deps.current().snapshot.console.oidc, deps.clock.nowMs),
    passkeys: createPasskeys(deps.store, deps.clock),
    probe,
    streams,
    live,
    instance: toInstanceFacts(() => deps.current().snapshot.store, deps.changing.secrets),
    tail: createLedgerTail({ ledger: deps.store.ledger, clock: deps.clock, log: deps.log }),
    gatewayCalls,
    keyTerms: createKeyJudge(deps.current),
    resources: createResourceEditor({ ...deps, ...deps.changing }),
    clientUrl: deps.clientUrl,
  };
  const alerts = createAlertWatch({
    context: watched,
    ways: openAlertWays(deps.clock),
    node: `${hostname()}/${createId(deps.clock.nowMs())}`,
  });
  const context: AdminContext = { ...watched, alerts };
  const site = createSite({ directory: siteDirectory });
  const api = createAdminApi(endpoints, context);
  /** Behind a trusted proxy, the address that it reports: else all password guessers would count as one. */
  const addressOf = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
    const forwardedFor = [headers['x-forwarded-for'] ?? []].flat().join(',') || undefined;
    const { trustedProxies } = deps.current().snapshot.server;
    return toClientAddress(socket.remoteAddress, forwardedFor, trustedProxies) ?? '';
  };
  const listener = createFetchListener(
    async (request, incoming) => (await site.find(request)) ?? api.fetch(request, { address: addressOf(incoming) }),
    (error) => deps.log.error('an answer of the console broke off', { why: traceOf(error) }),
  );
  return {
    answer(request, response) {
      // A playground call may be silent as long as a client's.
      if (request.url?.startsWith(triesPath) === true) response.setTimeout(longestSilenceMs);
      listener(request, response);
    },
    close: async () => {
      streams.close();
      live.close();
      await alerts.close();
      await series.close();
      await gatewayCalls.close();
      await probe.close();
    },
  };
}

/** Webhooks in the store obey the address policy of the store's upstreams; a mail server is the file's. */
function openAlertWays(clock: Clock): AlertWays {
  const { post, close } = createAlertPost((addresses, connectMs) =>
    createConnector({ secure: true, connectMs, tls: undefined, proxy: undefined, lookup: undefined, addresses }),
  );
  return {
    post,
    close,
    sign,
    mail: ({ url, ...mail }, message) => sendMail({ url }, { ...mail, ...message, atMs: clock.nowMs() }),
  };
}

/** A thread could not open a memory store. */
function openSeries({ store, current, changing }: AdminDeps): SeriesThread {
  const { store: url } = current().snapshot;
  const { cwd } = changing.secrets;
  if (parseStoreUrl(url, cwd).kind !== 'memory') return createSeriesThread({ url, cwd });
  return { read: store.series.read, close: async () => undefined };
}

function viewOf({ current, refused }: AdminDeps): ConfigurationView {
  return {
    snapshot: () => current().snapshot,
    file: () => current().file,
    warnings: () => current().warnings,
    misplacedSecrets: () => current().misplacedSecrets,
    refused,
  };
}

export function toInstanceFacts(storeUrl: () => string, secrets: Omit<SecretKeySource, 'store'>): InstanceFacts {
  const place = (): SecretKeySource => ({ ...secrets, store: storeUrl() });
  return {
    startedAtMs: Math.round(performance.timeOrigin),
    runtime: `Node.js ${process.versions.node}`,
    storeKind: () => parseStoreUrl(storeUrl(), secrets.cwd).kind,
    storeBytes: () => storeBytes(storeUrl(), secrets),
    canSeal: () => canSeal(place()),
    ownKey: () => findOwnKey(place()),
  };
}
