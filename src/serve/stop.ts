/** The signals that end Postern: the first lets running work end, a second one does not. */

import type { ProcessLog } from '../telemetry/log.ts';

export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const end = (signal: NodeJS.Signals): void => {
      process.off('SIGTERM', end);
      process.off('SIGINT', end);
      resolve(signal);
    };
    process.on('SIGTERM', end);
    process.on('SIGINT', end);
  });
}

/** From now on another signal ends the process at once, after `last`. */
export function endAtNextSignal(log: ProcessLog, last: () => void = () => undefined): void {
  void nextSignal().then((signal) => {
    log.warn('stopping at once', { signal });
    log.flush();
    last();
    process.exit(1);
  });
}
