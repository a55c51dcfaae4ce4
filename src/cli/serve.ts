/** `postern serve`: runs the gateway until it is told to stop. */

import { type OpenConfiguration, openConfiguration } from '../serve/configuration.ts';
import { openGateway, openStoreToServe } from '../serve/gateway.ts';
import { openForOperators } from '../serve/operators.ts';
import { sayReady } from '../serve/ready.ts';
import { startReloading } from '../serve/reload.ts';
import { endAtNextSignal, nextSignal } from '../serve/stop.ts';
import { toClientUrl } from '../serve/to-url.ts';
import { createLog } from '../telemetry/log.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { printFaults } from './faults.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'Runs the gateway; the default.',
  usage: 'serve [--config F]',
  options: { config: { type: 'string' } },
  async run(context) {
    // Set by team.ts for the processes that it starts.
    const { POSTERN_WORKER: worker } = context.env;
    if (worker === undefined || process.send === undefined) return start(context);
    const { beWorker } = await import('../serve/workers/worker.ts');
    return beWorker(() => open(context), Number(worker), context);
  },
};

async function start(context: CommandContext): Promise<ExitCode> {
  const configuration = await open(context);
  if (configuration === undefined) return 1;
  if (configuration.loaded.snapshot.server.workers === 1) return serveAlone(configuration, context);
  const { serveWithWorkers } = await import('../serve/workers/workers.ts');
  return serveWithWorkers(configuration, context);
}

/** Undefined where there are faults, which are printed. */
async function open(context: CommandContext): Promise<OpenConfiguration | undefined> {
  const found = await openConfiguration(context, (url) => openStoreToServe(url, context));
  if (found.ok) return found;
  printFaults(found, context.stderr);
  return undefined;
}

async function serveAlone(configuration: OpenConfiguration, context: CommandContext): Promise<ExitCode> {
  const log = createLog(1);
  const { loaded, store } = configuration;
  const gateway = await openGateway(configuration, log, context);
  const { app, metrics, listening } = gateway;
  const closers: { close(): Promise<void> }[] = [gateway];
  let current = loaded;
  try {
    const operators = await openForOperators(
      {
        configuration,
        current: () => current,
        read: async (only) => metrics.read(only),
        clientUrl: () => toClientUrl(loaded.snapshot, listening),
      },
      log,
      context,
    );
    closers.unshift(operators);
    await sayReady({ loaded, store, listening, operators }, log, context);
  } catch (error) {
    for (const one of closers) await one.close();
    throw error;
  }
  const reloading = startReloading(configuration, gateway, log, context, (next) => {
    current = next;
  });
  process.on('SIGHUP', () => reloading.check());

  const signal = await nextSignal();
  log.info('draining', { signal });
  endAtNextSignal(log);
  await reloading.close();
  const complete = await app.drain();
  for (const one of closers) await one.close();
  log.info('stopped', { complete });
  log.flush();
  return 0;
}
