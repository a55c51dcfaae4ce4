/** Waits before a call is repeated; a wait ends when the client disconnects. Random lengths keep failed calls from being repeated together. */

import type { ClientWork, Listening } from '../../core/outcome.ts';

/** Waits; resolves with false if the client left. */
export function pause(ms: number, client: Listening): Promise<boolean> {
  return client.gone ? Promise.resolve(false) : new Promise((resolve) => new Pause(ms, client, resolve));
}

class Pause implements ClientWork {
  readonly #client: Listening;
  readonly #resolve: (isOver: boolean) => void;
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number, client: Listening, resolve: (isOver: boolean) => void) {
    this.#client = client;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#end(true), ms);
    client.work = this;
  }

  clientLeft(): void {
    this.#end(false);
  }

  #end(isOver: boolean): void {
    clearTimeout(this.#timer);
    this.#client.work = undefined;
    this.#resolve(isOver);
  }
}

const firstMs = 50;
const longestMs = 1_000;

const firstPauseMs = 500;
const longestPauseMs = 4_000;

/** Length of the wait before the same target is called again: 250 to 500 ms for attempt 0, doubled for each further one, up to four seconds. */
export function equalJitterMs(attempt: number, random: () => number): number {
  return (0.5 + random() / 2) * Math.min(longestPauseMs, firstPauseMs * 2 ** attempt);
}

/** Length of the wait before an upstream is called again: 0 to 50 ms for attempt 0, doubled for each further one, up to a second. */
export function fullJitterMs(attempt: number, random: () => number): number {
  return random() * Math.min(longestMs, firstMs * 2 ** attempt);
}
