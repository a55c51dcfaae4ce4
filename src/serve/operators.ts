/** Opens the listener for operators, with all that is behind it; where its port is taken and nobody asked for that one, Postern goes on without. */

import { setImmediate } from 'node:timers/promises';
import { type Console, type ConsoleDeps, createConsole, OpenConsoleError } from '../admin/listener/listener.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Log } from '../core/log.ts';
import type { ConsoleSettings } from '../core/snapshot.ts';
import { UserFault } from '../core/user-fault.ts';
import { includesAddress } from '../lib/addresses/address-range.ts';
import { systemClock } from '../lib/clock.ts';
import { codeOf, traceOf } from '../lib/thrown.ts';
import type { MetricName } from '../telemetry/metrics/definitions.ts';
import { expositionOf, expositionType, type Reading } from '../telemetry/metrics/reading.ts';
import { version } from '../version.ts';
import { openAdministration } from './administration.ts';
import { type OpenConfiguration, toChanging } from './configuration.ts';
import { toListenFault } from './listen-fault.ts';
import type { Surroundings } from './surroundings.ts';
import { toUrl } from './to-url.ts';

export interface Operators {
  /** Undefined where there is no listener for them. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

const nobody: Operators = { url: undefined, close: async () => undefined };

interface OperatorsDeps {
  readonly configuration: Pick<OpenConfiguration, 'loaded' | 'store'>;
  /** The configuration in force. */
  current(): LoadedConfiguration;
  /** The metrics of all that serve; all of them, or those that are wanted. */
  read(only?: ReadonlySet<MetricName>): Promise<Reading>;
  /** Where clients are served. */
  clientUrl(): string;
}

export async function openForOperators(
  { configuration, current, read, clientUrl }: OperatorsDeps,
  log: Log,
  surroundings: Surroundings,
): Promise<Operators> {
  const { loaded, store } = configuration;
  const administration = openAdministration({
    store,
    clock: systemClock,
    log,
    version,
    families: surroundings.families,
    installation: await store.settings.installation(),
    current,
    changing: toChanging(surroundings, loaded),
    read,
    clientUrl,
  });
  try {
    const listening = await listen(loaded.snapshot.console, log, read, {
      answer: administration.answer,
      isProxy: (address) => includesAddress(current().snapshot.server.trustedProxies, address),
    });
    return {
      url: listening.url,
      async close() {
        await listening.close();
        await administration.close();
      },
    };
  } catch (error) {
    await administration.close();
    throw error;
  }
}

async function listen(
  settings: ConsoleSettings,
  log: Log,
  read: () => Promise<Reading>,
  parts: Pick<ConsoleDeps, 'answer' | 'isProxy'>,
): Promise<Operators> {
  const listener: Console = createConsole({
    settings: () => settings,
    pages: {
      '/metrics': { type: expositionType, text: async () => write(await read()) },
      '/healthz': { type: 'application/json', text: () => '{"status":"ok"}' },
    },
    ...parts,
    onFault: (error) => {
      const why = traceOf(error);
      log.error('the listener for operators could not answer', { why });
    },
  });
  try {
    const address = await listener.listen();
    return { url: toUrl('http', address), close: () => listener.close() };
  } catch (error) {
    if (error instanceof OpenConsoleError) throw new UserFault(`${error.message}: set console.token`);
    if (codeOf(error) !== 'EADDRINUSE' || settings.isPortGiven) {
      throw toListenFault(error, { name: 'console', ...settings });
    }
    log.warn(
      `port ${settings.port} on ${settings.host} is taken, so there is no listener for operators; set console.port to another one`,
    );
    return nobody;
  }
}

/** Requests are served between the pieces. */
async function write(reading: Reading): Promise<string> {
  const pieces: string[] = [];
  for (const piece of expositionOf(reading)) {
    pieces.push(piece);
    await setImmediate();
  }
  return pieces.join('');
}
