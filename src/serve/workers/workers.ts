/** Runs `postern serve` with several workers: starts and supervises them, and combines their metrics. */

import type { ExitCode } from '../../core/user-fault.ts';
import { systemClock } from '../../lib/clock.ts';
import { inBackground } from '../../lib/time-slices.ts';
import { createLimitServer } from '../../limits/limit-server.ts';
import { openLog, type ProcessLog } from '../../telemetry/log.ts';
import type { MetricName } from '../../telemetry/metrics/definitions.ts';
import { createProcessReadings, type ProcessReadings } from '../../telemetry/metrics/process-readings.ts';
import { addingReadings, type Reading } from '../../telemetry/metrics/reading.ts';
import { openAdmin } from '../admin.ts';
import type { OpenConfiguration } from '../configuration.ts';
import { clearSocket, toClientUrl } from '../listen-address.ts';
import { reportReady } from '../ready.ts';
import { startFollowing } from '../reload.ts';
import { createReloadHistory } from '../reload-history.ts';
import { endAtNextSignal, nextSignal, type ReloadSignals } from '../stop.ts';
import type { Surroundings } from '../surroundings.ts';
import { createTeam, type Team } from './team.ts';

/** Time that a worker has for its last import after draining, before it is killed. */
const graceMs = 15_000;

export async function serveWithWorkers(
  configuration: OpenConfiguration,
  surroundings: Surroundings,
  reloads: ReloadSignals,
): Promise<ExitCode> {
  const { snapshot } = configuration.loaded;
  // Signals are handled before a worker opens the port, so that one during the first requests lets them finish.
  const stopping = nextSignal();
  const log = await openLog(snapshot.log, { worker: undefined });
  const own = createProcessReadings();
  const { workers } = snapshot.server;
  const limitServer = createLimitServer({ clock: systemClock, workers });
  const team = createTeam({ count: workers, log, limitServer });
  reloads.follow(log, {
    reload: () => team.send({ kind: 'reload' }),
    reopen: () => team.send({ kind: 'reopen' }),
  });
  const closers: { close(): unknown }[] = [own];
  try {
    const read = (only?: ReadonlySet<MetricName>) => readAll(team, own.read, only);
    const fault = await startAll(team, stopping, read, closers, configuration, log, surroundings);
    return fault ?? (await watchOver(team, stopping, log, snapshot.server.drain));
  } finally {
    team.kill();
    for (const one of closers) await one.close();
    await log.flush();
  }
}

/** Starts all parts. Undefined for success, or a stop; else the exit code. Resources to close at the end are added to the closers. */
async function startAll(
  team: Team,
  stopping: Promise<NodeJS.Signals>,
  read: (only?: ReadonlySet<MetricName>) => Promise<Reading>,
  closers: { close(): unknown }[],
  configuration: OpenConfiguration,
  log: ProcessLog,
  surroundings: Surroundings,
): Promise<ExitCode | undefined> {
  const { loaded, store } = configuration;
  // Opened by this process first, so that the store and the first key are created once.
  closers.unshift(store);
  const history = createReloadHistory({ store, loaded, log, nowMs: Date.now });
  closers.unshift(startFollowing(configuration, log, surroundings, history));
  let clientUrl = '';
  const admin = await openAdmin({ configuration, history, read, clientUrl: () => clientUrl }, log, surroundings);
  closers.unshift(admin);
  const { socket } = loaded.snapshot.server;
  // Only the parent clears the socket: workers share the one that is created for the first of them.
  if (socket !== undefined) await clearSocket(socket.path);
  const started = await Promise.race([team.start(), stopping]);
  if (typeof started === 'number') return started;
  if (typeof started === 'string') return undefined;
  clientUrl = toClientUrl(loaded.snapshot, started);
  const { workers } = loaded.snapshot.server;
  await reportReady({ loaded, store, listening: started, admin, workers }, log, surroundings);
  return undefined;
}

async function watchOver(
  team: Team,
  stopping: Promise<NodeJS.Signals>,
  log: ProcessLog,
  { delayMs, deadlineMs }: { readonly delayMs: number; readonly deadlineMs: number },
): Promise<ExitCode> {
  const ended = await Promise.race([stopping, team.broken]);
  const isBroken = typeof ended === 'number';

  log.info('draining', isBroken ? {} : { signal: ended });
  endAtNextSignal(log, () => team.kill());
  const tooLong = setTimeout(() => team.kill(), delayMs + deadlineMs + graceMs);
  const complete = await team.drain();
  clearTimeout(tooLong);
  log.info('stopped', { complete });
  return isBroken ? ended : 0;
}

async function readAll(team: Team, readOwn: ProcessReadings['read'], only?: ReadonlySet<MetricName>): Promise<Reading> {
  const workers = await team.read(only);
  const own: Reading = { ...readOwn(only), postern_worker_restarts_total: { '': team.restarts } };
  return inBackground.timeSliced(addingReadings([own, ...workers], only));
}
