/** Composes the admin listener: API, authentication, console files and metrics. If its default port is taken, the gateway runs without it. */

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
import type { ConfigurationView, InstanceFacts } from '../admin/context.ts';
import { endpoints } from '../admin/endpoints.ts';
import { createLedgerTail } from '../admin/ledger/tail.ts';
import { createFetchListener } from '../admin/listener/fetch-listener.ts';
import { createAdminListener, OpenListenerError } from '../admin/listener/listener.ts';
import { createSite } from '../admin/listener/site.ts';
import { createSampler } from '../admin/overview/live/sampler.ts';
import { createConsoleKey, createGatewayCalls } from '../admin/playground/gateway-calls.ts';
import { createAlertPost, sign } from '../budgets/alerts.ts';
import { createKeyJudge } from '../config/elements/key/judge.ts';
import { createResourceEditor } from '../config/store/resource-editor.ts';
import { canSeal, findOwnKey, type SecretKeySource } from '../config/store/secret-key.ts';
import type { Log } from '../core/log.ts';
import { UserFault } from '../core/user-fault.ts';
import { toClientAddress } from '../http/address.ts';
import { includesAddress } from '../lib/addresses/address-range.ts';
import { systemClock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { codeOf, traceOf } from '../lib/thrown.ts';
import { parseStoreUrl, storeBytes } from '../store/open-store.ts';
import { definitions, type MetricName } from '../telemetry/metrics/definitions.ts';
import { expositionOf, expositionTypes, formFor, type Reading } from '../telemetry/metrics/reading.ts';
import { connectorsBy } from '../upstream/connections/connection.ts';
import type { ProxyRule } from '../upstream/connections/proxy-rule.ts';
import { createOwnProbe } from '../upstream/probes/probe.ts';
import { version } from '../version.ts';
import { sendMail } from '../wire/smtp.ts';
import { createReader, type OpenConfiguration } from './configuration.ts';
import { readProxies } from './gateway.ts';
import { toListenFault, toUrl } from './listen-address.ts';
import type { ReloadHistory } from './reload-history.ts';
import type { Surroundings } from './surroundings.ts';
import { createSeriesThread, type SeriesThread } from './threads/series-thread-host.ts';

export interface AdminListening {
  /** The console's URL; undefined where no console is served. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

interface AdminDeps {
  readonly configuration: Pick<OpenConfiguration, 'loaded' | 'store'>;
  readonly history: Pick<ReloadHistory, 'current' | 'refused'>;
  /** The metrics of all serving processes: every metric, or those in `only`. */
  read(only?: ReadonlySet<MetricName>): Promise<Reading>;
  clientUrl(): string;
}

interface Admin {
  /** Answers all requests except those for pages that the listener has itself. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

/** The built console; this path is right from `src/serve/` and from `dist/serve/`, which are equally deep. */
const siteDirectory = fileURLToPath(new URL('../../console/dist', import.meta.url));

const triesPath = '/api/playground/';
const longestSilenceMs = 15 * 60_000;

export async function openAdmin(deps: AdminDeps, log: Log, surroundings: Surroundings): Promise<AdminListening> {
  const admin = await composeAdmin(deps, log, surroundings);
  try {
    const listening = await listen(deps, admin, log);
    return {
      url: listening?.url,
      async close() {
        await listening?.close();
        await admin.close();
      },
    };
  } catch (error) {
    await admin.close();
    throw error;
  }
}

/** Opens the admin listener; undefined where none could be opened, as its default port is occupied. */
async function listen(
  { configuration, history: { current }, read }: AdminDeps,
  { answer }: Admin,
  log: Log,
): Promise<{ readonly url: string; close(): Promise<void> } | undefined> {
  const settings = configuration.loaded.snapshot.console;
  const listener = createAdminListener({
    settings: () => settings,
    pages: {
      '/metrics': {
        type: (accept) => expositionTypes[formFor(accept)],
        text: async (accept) => expositionOf(await read(), formFor(accept)),
      },
      '/healthz': { type: () => 'application/json', text: () => '{"status":"ok"}' },
    },
    answer,
    isProxy: (address) => includesAddress(current().snapshot.server.trustedProxies, address),
    onFault: (error) => log.error('admin listener request failed', { why: traceOf(error) }),
  });
  try {
    return { url: toUrl('http', await listener.listen()), close: () => listener.close() };
  } catch (error) {
    if (error instanceof OpenListenerError) throw new UserFault(`${error.message}: set console.token`);
    if (codeOf(error) !== 'EADDRINUSE' || settings.isPortGiven) {
      throw toListenFault(error, { name: 'console', ...settings });
    }
    log.warn('admin listener not started: port taken', { host: settings.host, port: settings.port });
    return undefined;
  }
}

async function composeAdmin(
  { configuration, history, read, clientUrl }: AdminDeps,
  log: Log,
  surroundings: Surroundings,
): Promise<Admin> {
  const { store } = configuration;
  const { current } = history;
  const clock = systemClock;
  const secrets = { env: surroundings.env, cwd: surroundings.cwd };
  const node = `${hostname()}/${createId(clock.nowMs())}`;
  const streams = createEventStreams();
  const gatewayCalls = createGatewayCalls({
    consoleKey: createConsoleKey({ store, host: hostname(), nowMs: () => clock.nowMs() }),
    clientUrl,
    certificate: () => current().snapshot.server.tls?.cert,
  });
  const live = createSampler({ read, boundsOf: (name) => definitions[name].buckets, clock });
  const installation = await store.settings.installation();
  const proxyFor = readProxies(surroundings.env);
  const probe = createOwnProbe({ proxyFor, clock, installation });
  const series = openSeries(configuration, surroundings.cwd);
  const watched: Watched = {
    store,
    series,
    clock,
    log,
    version,
    families: surroundings.families,
    configuration: viewOf(history),
    access: createAccess({ store, clock, url: () => current().snapshot.console.url }),
    oidc: createOidcSignIn(() => current().snapshot.console.oidc, clock.nowMs),
    passkeys: createPasskeys(store, clock),
    probe,
    streams,
    live,
    instance: toInstanceFacts(() => current().snapshot.store, secrets),
    tail: createLedgerTail({ ledger: store.ledger, clock, log }),
    gatewayCalls,
    keyTerms: createKeyJudge(current),
    resources: createResourceEditor({
      store,
      current,
      load: createReader(surroundings, configuration.loaded),
      secrets,
      log,
    }),
    clientUrl,
  };
  const alerts = createAlertWatch({ context: watched, ways: openAlertWays(proxyFor), node });
  const site = createSite({ directory: siteDirectory });
  const api = createAdminApi(endpoints, { ...watched, alerts });
  /** The client's address: behind a trusted proxy, the one it reports. Else all who guess passwords would count as one. */
  const addressOf = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
    const forwardedFor = [headers['x-forwarded-for'] ?? []].flat().join(',') || undefined;
    return toClientAddress(socket.remoteAddress, forwardedFor, current().snapshot.server.trustedProxies) ?? '';
  };
  const listener = createFetchListener(
    async (request, incoming) => (await site.find(request)) ?? api.fetch(request, { address: addressOf(incoming) }),
    (error) => log.error('console response interrupted', { why: traceOf(error) }),
  );
  return {
    answer(request, response) {
      // A call of the playground may be silent for as long as a client's call.
      if (request.url?.startsWith(triesPath) === true) response.setTimeout(longestSilenceMs);
      listener(request, response);
    },
    async close() {
      streams.close();
      live.close();
      await alerts.close();
      await series.close();
      await gatewayCalls.close();
      await probe.close();
    },
  };
}

/** The ways to send alerts. Webhooks in the store obey the address policy of the store's upstreams; a mail server is set in the file. */
function openAlertWays(proxyFor: ProxyRule): AlertWays {
  const { post, close } = createAlertPost(connectorsBy(proxyFor));
  return {
    post,
    close,
    sign,
    mail: ({ url, ...mail }, message) => sendMail({ url }, { ...mail, ...message, atMs: systemClock.nowMs() }),
  };
}

/** Opens the thread for series queries; not for a store in memory, which another thread could not open. */
function openSeries({ store, loaded }: AdminDeps['configuration'], cwd: string): SeriesThread {
  const { store: url } = loaded.snapshot;
  if (parseStoreUrl(url, cwd).kind !== 'memory') return createSeriesThread({ url, cwd });
  return { read: store.series.read, close: async () => undefined };
}

function viewOf({ current, refused }: AdminDeps['history']): ConfigurationView {
  return {
    snapshot: () => current().snapshot,
    file: () => current().file,
    warnings: () => current().warnings,
    misplacedSecrets: () => current().misplacedSecrets,
    refused,
  };
}

export function toInstanceFacts(storeUrl: () => string, secrets: Omit<SecretKeySource, 'store'>): InstanceFacts {
  const keySource = (): SecretKeySource => ({ ...secrets, store: storeUrl() });
  return {
    startedAtMs: Math.round(performance.timeOrigin),
    runtime: `Node.js ${process.versions.node}`,
    storeKind: () => parseStoreUrl(storeUrl(), secrets.cwd).kind,
    storeBytes: () => storeBytes(storeUrl(), secrets),
    canSeal: () => canSeal(keySource()),
    ownKey: () => findOwnKey(keySource()),
  };
}
