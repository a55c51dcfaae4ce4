/** Opens the listener for operators; where its port is taken and nobody asked for that one, Postern goes on without. */

import { setImmediate } from 'node:timers/promises';
import type { Administration } from '../administration.ts';
import { type Console, createConsole, OpenConsoleError } from '../console/listener.ts';
import type { ConsoleSettings } from '../core/snapshot.ts';
import type { Log } from '../telemetry/log.ts';
import { expositionOf, expositionType, type Reading } from '../telemetry/metrics/reading.ts';
import { codeOf, toListenFault } from './listen-fault.ts';
import { toUrl } from './to-url.ts';
import { UserFault } from './user-fault.ts';

export interface Operators {
  /** Undefined where there is no listener for them. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

const nobody: Operators = { url: undefined, close: async () => undefined };

export async function openForOperators(
  settings: ConsoleSettings,
  log: Log,
  read: () => Reading | Promise<Reading>,
  administration: Pick<Administration, 'answer'>,
): Promise<Operators> {
  const listener: Console = createConsole({
    settings: () => settings,
    pages: {
      '/metrics': { type: expositionType, text: async () => write(await read()) },
      '/healthz': { type: 'application/json', text: () => '{"status":"ok"}' },
    },
    answer: administration.answer,
    onFault: (error) => {
      const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
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
