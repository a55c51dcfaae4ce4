/** Writes log lines like a worker, as fast as possible: its number, how many, their length, and 1 for an end without a flush. */

import { createLog } from '../../../src/telemetry/log.ts';
import { standardLog } from './log-settings.ts';

const [, , number, count, characters, isSudden] = process.argv.map(Number);

// As in main.ts: from now on a full pipe is reported instead of waited for.
process.stdout.on('error', () => undefined);
const log = createLog(1, standardLog, { worker: number });
for (let at = 0; at < (count ?? 0); at += 1) {
  log.info('line', { at, filling: 'x'.repeat((characters ?? 0) + (at % 50)) });
  if (at % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
if (isSudden !== 1) await log.flush();
