/** Serves until stopped: alone, as one of several workers, or as their parent. */

import type { ExitCode } from '../core/user-fault.ts';
import { inBackground } from '../lib/time-slices.ts';
import { openLog } from '../telemetry/log.ts';
import type { MetricName } from '../telemetry/metrics/definitions.ts';
import { openAdmin } from './admin.ts';
import type { OpenConfiguration } from './configuration.ts';
import { openGateway } from './gateway.ts';
import { toClientUrl } from './listen-address.ts';
import { reportReady } from './ready.ts';
import { startReloading } from './reload.ts';
import { createReloadHistory } from './reload-history.ts';
import { endAtNextSignal, nextSignal, ReloadSignals } from './stop.ts';
import type { Surroundings } from './surroundings.ts';

export async function serveWith(open: () => Promise<OpenConfiguration>, surroundings: Surroundings): Promise<ExitCode> {
  const reloads = new ReloadSignals();
  // Set by workers/team.ts for its processes.
  const { POSTERN_WORKER: worker } = surroundings.env;
  if (worker !== undefined && process.send !== undefined) {
    const { beWorker } = await import('./workers/worker.ts');
    return beWorker(open, Number(worker), surroundings, reloads);
  }
  const configuration = await open();
  if (configuration.loaded.snapshot.server.workers === 1) return serveAlone(configuration, surroundings, reloads);
  const { serveWithWorkers } = await import('./workers/workers.ts');
  return serveWithWorkers(configuration, surroundings, reloads);
}

async function serveAlone(
  configuration: OpenConfiguration,
  surroundings: Surroundings,
  reloads: ReloadSignals,
): Promise<ExitCode> {
  const { loaded, store } = configuration;
  // Signals are handled before the port is open, so that one during the first requests lets them finish.
  const stopping = nextSignal();
  const log = await openLog(loaded.snapshot.log);
  const gateway = await openGateway(configuration, log, surroundings);
  const { app, metrics, listening } = gateway;
  const closers: { close(): Promise<void> }[] = [gateway];
  const history = createReloadHistory({ store, loaded, log, nowMs: Date.now });
  try {
    const read = (only?: ReadonlySet<MetricName>) => inBackground.timeSliced(metrics.reading(only));
    const clientUrl = (): string => toClientUrl(loaded.snapshot, listening);
    const admin = await openAdmin({ configuration, history, read, clientUrl }, log, surroundings);
    closers.unshift(admin);
    await reportReady({ loaded, store, listening, admin }, log, surroundings);
  } catch (error) {
    for (const one of closers) await one.close();
    throw error;
  }
  const reloading = startReloading(configuration, gateway, log, surroundings, history);
  reloads.follow(log, { reload: () => reloading.check() });

  const signal = await stopping;
  log.info('draining', { signal });
  endAtNextSignal(log);
  await reloading.close();
  const complete = await app.drain();
  for (const one of closers) await one.close();
  log.info('stopped', { complete });
  await log.flush();
  return 0;
}
