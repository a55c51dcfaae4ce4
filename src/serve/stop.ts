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

interface ReloadActions {
  readonly reload: () => void;
  readonly reopen?: () => void;
}

/** Listens from the start, as both signals end a process by default. Signals before `follow` are handled then. */
export class ReloadSignals {
  readonly #missed = new Set<ReloadAction>();
  #act: ((action: ReloadAction) => void) | undefined = undefined;

  constructor() {
    process.on('SIGHUP', () => this.do('reload'));
    process.on('SIGUSR2', () => this.do('reopen'));
  }

  do(action: ReloadAction): void {
    if (this.#act === undefined) this.#missed.add(action);
    else this.#act(action);
  }

  /** Either opens the file of the log anew. */
  follow(log: Pick<ProcessLog, 'reopen'>, actions: ReloadActions): void {
    this.#act = (action) => {
      log.reopen();
      actions[action]?.();
    };
    for (const action of this.#missed) this.#act(action);
    this.#missed.clear();
  }
}
