/** Runs a worker process, which workers.ts starts and supervises. */

import cluster from 'node:cluster';
import type { ExitCode } from '../../core/user-fault.ts';
import { inBackground } from '../../lib/time-slices.ts';
import { openLog } from '../../telemetry/log.ts';
import type { MetricName } from '../../telemetry/metrics/definitions.ts';
import type { OpenConfiguration } from '../configuration.ts';
import { type Gateway, openGateway } from '../gateway.ts';
import { startReloading } from '../reload.ts';
import type { ReloadSignals } from '../stop.ts';
import type { Surroundings } from '../surroundings.ts';
import { type FromWorker, type ToWorker, toMessage } from './worker-messages.ts';

export async function beWorker(
  open: () => Promise<OpenConfiguration>,
  number: number,
  surroundings: Surroundings,
  reloads: ReloadSignals,
): Promise<ExitCode> {
  // The terminal sends SIGINT to every process; the parent decides what it means for a worker.
  process.on('SIGINT', () => undefined);
  try {
    return await work(await open(), number, surroundings, reloads);
  } finally {
    // The channel would keep the process alive; closing it any other way counts as a crash.
    cluster.worker?.disconnect();
  }
}

async function work(
  configuration: OpenConfiguration,
  number: number,
  surroundings: Surroundings,
  reloads: ReloadSignals,
): Promise<ExitCode> {
  let gateway: Gateway | undefined;
  async function answer(
    turn: number,
    only: ReadonlySet<MetricName> | undefined,
    { metrics }: Pick<Gateway, 'metrics'>,
  ): Promise<void> {
    const reading = await inBackground.timeSliced(metrics.reading(only));
    await send({ kind: 'reading', turn, reading, isPart: only !== undefined });
  }
  // Signals are handled before the port is open, so that one during the first requests lets them finish.
  const stopping = new Promise<void>((resolve) => {
    // Several SIGTERM may come, one of them sent to every process; only the parent acts on a second one.
    process.on('SIGTERM', () => resolve());
    process.on('message', (received) => {
      const message = toMessage<ToWorker>(received);
      switch (message?.kind) {
        case 'read':
          if (gateway !== undefined) void answer(message.turn, message.only, gateway);
          break;
        case 'reload':
        case 'reopen':
          reloads.do(message.kind);
          break;
        case 'drain':
          resolve();
      }
    });
  });
  const log = await openLog(configuration.loaded.snapshot.log, { worker: number });
  gateway = await openGateway(configuration, log, surroundings);
  const { app, metrics, listening } = gateway;
  const reloading = startReloading(configuration, gateway, log, surroundings);
  reloads.follow(log, { reload: () => reloading.check() });
  await send({ kind: 'ready', listening });

  await stopping;
  await reloading.close();
  const complete = await app.drain();
  await send({ kind: 'drained', complete, reading: metrics.read() });
  await gateway.close();
  await log.flush();
  return 0;
}

/** Resolves when the message was handed over, or there is no receiver: then this process ends by itself. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, undefined, {}, () => resolve());
  });
}
