/** Handles signals to a serving process: SIGTERM and SIGINT end it, SIGHUP reloads its configuration, SIGUSR2 reopens its log files. */

import { performance } from 'node:perf_hooks';
import type { ProcessLog } from '../telemetry/log.ts';

/** Signals of one kind within this time count as one: Ctrl-C arrives twice, from the terminal and from npm, and `timeout` sends twice. */
const repetitionMs = 200;

export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const end = (signal: NodeJS.Signals): void => {
      resolve(signal);
      setTimeout(() => process.off('SIGTERM', end).off('SIGINT', end), repetitionMs).unref();
    };
    process.on('SIGTERM', end).on('SIGINT', end);
  });
}

/** Lets the next signal end the process at once, after calling `last`; repetitions of the present signal are ignored. */
export function endAtNextSignal(log: Pick<ProcessLog, 'warn' | 'flush'>, last: () => void = () => undefined): void {
  const fromMs = performance.now() + repetitionMs;
  const end = (signal: NodeJS.Signals): void => {
    if (performance.now() < fromMs) return;
    log.warn('stopping immediately', { signal });
    last();
    void log.flush().finally(() => process.exit(1));
  };
  process.on('SIGTERM', end).on('SIGINT', end);
}

type ReloadAction = 'reload' | 'reopen';

/** Handles SIGHUP and SIGUSR2, which end a process by default, from the start on. Signals before `follow` are handled once it is called. */
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

  /** Reopens the log file at either signal, and calls the signal's action. */
  follow(log: Pick<ProcessLog, 'reopen'>, actions: { readonly [action in ReloadAction]?: () => void }): void {
    this.#act = (action) => {
      log.reopen();
      actions[action]?.();
    };
    for (const action of this.#missed) this.#act(action);
    this.#missed.clear();
  }
}
