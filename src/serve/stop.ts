/** Signals to a serving process: SIGTERM and SIGINT end it, SIGHUP reloads its configuration, SIGUSR2 reopens its log files. */

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

type ReloadAction = 'reload' | 'reopen';

/** Listens from the start, as both signals end a process by default. Signals before `follow` are handled then. */
export class ReloadSignals {
  readonly #missed = new Set<ReloadAction>();
  #actions: Readonly<Record<ReloadAction, () => void>> | undefined = undefined;

  constructor() {
    process.on('SIGHUP', () => this.do('reload'));
    process.on('SIGUSR2', () => this.do('reopen'));
  }

  do(action: ReloadAction): void {
    if (this.#actions === undefined) this.#missed.add(action);
    else this.#actions[action]();
  }

  follow(actions: Readonly<Record<ReloadAction, () => void>>): void {
    this.#actions = actions;
    for (const action of this.#missed) actions[action]();
    this.#missed.clear();
  }
}
