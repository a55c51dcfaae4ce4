/** Represents one of several calls for a request: it can be cancelled alone, and ends the target lease only if it is the last. */

import type { CallEnd, Failure, Listening } from '../../core/outcome.ts';

export class SubCall implements CallEnd {
  readonly client: Listening = { gone: false, work: undefined };
  readonly #left = Promise.withResolvers<undefined>();
  /** Resolves when the result of this call is not needed any more. */
  readonly left = this.#left.promise;
  #end: CallEnd | undefined = undefined;
  #broken: Failure | undefined = undefined;
  #isOver = false;

  over(broken: Failure | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#broken = broken;
    this.#end?.over(broken);
  }

  handOn(end: CallEnd): void {
    this.#end = end;
    if (this.#isOver) end.over(this.#broken);
  }

  leave(): void {
    this.client.gone = true;
    this.client.work?.clientLeft();
    this.#left.resolve(undefined);
  }
}
