/** A team of workers that behave as their argument says, for tests of the supervisor; prints the events. */

import cluster from 'node:cluster';
import { createTeam } from '../../../src/serve/workers/team.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { standardLog } from './log-settings.ts';

const [, , behaviour] = process.argv;

if (cluster.isPrimary) await watch();
else if (behaviour === 'dies') process.exit(3);
else if (behaviour === 'faulty') process.exit(1);
else if (behaviour === 'one serves' && process.env.POSTERN_WORKER !== '1') process.exit(3);
else await work();

/** Receives no messages before it is ready, like a worker that opens a store and a listener. */
async function work(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  process.on('message', (message) => {
    if (typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'drain') {
      process.send?.({ kind: 'drained', complete: true, reading: {} }, undefined, {}, () => process.exit(0));
    }
  });
  process.send?.({ kind: 'ready', listening: { tcp: { address: '127.0.0.1', family: 'IPv4', port: 1 } } });
}

async function watch(): Promise<void> {
  const log = createLog(1, standardLog, { worker: undefined });
  const team = createTeam({ count: 2, log });
  if (behaviour === 'late') {
    void team.start();
    // Until the first was followed by the second, which gets the message before it listens.
    while (Object.keys(cluster.workers ?? {}).length < 2) await new Promise((resolve) => setImmediate(resolve));
    log.info('ended', { complete: await team.drain() });
    return log.flush();
  }
  if (behaviour === 'one serves') {
    const listening = await team.start();
    log.info('started', { listening, complete: await team.drain() });
    return log.flush();
  }
  const started = await team.start();
  log.info('started', { started, broken: await team.broken, complete: await team.drain() });
  await log.flush();
}
