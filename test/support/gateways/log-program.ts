/** Writes log lines like a worker, as fast as possible: its number, how many, and their length. */

import { createLog } from '../../../src/telemetry/log.ts';
import { standardLog } from './log-settings.ts';

const [, , number, count, characters] = process.argv.map(Number);

const log = createLog(1, standardLog, { worker: number });
for (let at = 0; at < (count ?? 0); at += 1) {
  log.info('line', { at, filling: 'x'.repeat((characters ?? 0) + (at % 50)) });
  if (at % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
log.flush();
