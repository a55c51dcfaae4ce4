/** Opens the admin listener; if its default port is occupied, the gateway runs without. */

import type { RefusedConfiguration } from '../admin/context.ts';
import { type AdminListenerDeps, createAdminListener, OpenListenerError } from '../admin/listener/listener.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Log } from '../core/log.ts';
import type { ConsoleSettings } from '../core/snapshot.ts';
import { UserFault } from '../core/user-fault.ts';
import { includesAddress } from '../lib/addresses/address-range.ts';
import { systemClock } from '../lib/clock.ts';
import { codeOf, traceOf } from '../lib/thrown.ts';
import type { MetricName } from '../telemetry/metrics/definitions.ts';
import { expositionOf, expositionTypes, formFor, type Reading } from '../telemetry/metrics/reading.ts';
import { version } from '../version.ts';
import { openAdmin } from './admin.ts';
import { type OpenConfiguration, toChanging } from './configuration.ts';
import { toListenFault } from './listen-fault.ts';
import type { Surroundings } from './surroundings.ts';
import { toUrl } from './to-url.ts';

export interface AdminListening {
  /** Undefined where there is none. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

const none: AdminListening = { url: undefined, close: async () => undefined };

interface AdminListeningDeps {
  readonly configuration: Pick<OpenConfiguration, 'loaded' | 'store'>;
  current(): LoadedConfiguration;
  /** The faults of the present file, where it is refused. */
  refused(): RefusedConfiguration | undefined;
  /** The metrics of all serving processes; all, or those in `only`. */
  read(only?: ReadonlySet<MetricName>): Promise<Reading>;
  /** The URL of the client listener. */
  clientUrl(): string;
}

export async function openAdminListener(
  { configuration, current, refused, read, clientUrl }: AdminListeningDeps,
  log: Log,
  surroundings: Surroundings,
): Promise<AdminListening> {
  const { loaded, store } = configuration;
  const admin = openAdmin({
    store,
    clock: systemClock,
    log,
    version,
    families: surroundings.families,
    installation: await store.settings.installation(),
    current,
    refused,
    changing: toChanging(surroundings, loaded),
    read,
    clientUrl,
  });
  try {
    const listening = await listen(loaded.snapshot.console, log, read, {
      answer: admin.answer,
      isProxy: (address) => includesAddress(current().snapshot.server.trustedProxies, address),
    });
    return {
      url: listening.url,
      async close() {
        await listening.close();
        await admin.close();
      },
    };
  } catch (error) {
    await admin.close();
    throw error;
  }
}

async function listen(
  settings: ConsoleSettings,
  log: Log,
  read: () => Promise<Reading>,
  parts: Pick<AdminListenerDeps, 'answer' | 'isProxy'>,
): Promise<AdminListening> {
  const listener = createAdminListener({
    settings: () => settings,
    pages: {
      '/metrics': {
        type: (accept) => expositionTypes[formFor(accept)],
        text: async (accept) => expositionOf(await read(), formFor(accept)),
      },
      '/healthz': { type: () => 'application/json', text: () => '{"status":"ok"}' },
    },
    ...parts,
    onFault: (error) => {
      const why = traceOf(error);
      log.error('the admin listener could not answer', { why });
    },
  });
  try {
    const address = await listener.listen();
    return { url: toUrl('http', address), close: () => listener.close() };
  } catch (error) {
    if (error instanceof OpenListenerError) throw new UserFault(`${error.message}: set console.token`);
    if (codeOf(error) !== 'EADDRINUSE' || settings.isPortGiven) {
      throw toListenFault(error, { name: 'console', ...settings });
    }
    log.warn(
      `port ${settings.port} on ${settings.host} is taken, so there is no admin listener; set console.port to another one`,
    );
    return none;
  }
}
