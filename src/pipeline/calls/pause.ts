/** A delay that ends when the client disconnects. */

import type { ClientWork, Listening } from '../../core/outcome.ts';

/** False if the client left. */
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
