/** Sends two calls for one request (hedging): the first good response wins, and the other call is cancelled. */

import type { TargetLease } from '../../core/dispatch.ts';
import type { Answer, ClientWork, Listening } from '../../core/outcome.ts';

/** Makes a call; resolves with an answer for the client, or with none. */
type Ask = (lease: TargetLease, client: Listening) => Promise<Answer | undefined>;

export interface Won {
  readonly lease: TargetLease;
  readonly answer: Answer;
}

/** One of the two calls. Its client also counts as gone when the other call was faster. */
interface Racer {
  readonly client: Listening;
  readonly ended: Promise<{ readonly racer: Racer; readonly won: Won | undefined }>;
}

export class Race implements ClientWork {
  readonly #client: Listening;
  readonly #ask: Ask;
  #racers: Racer[] = [];

  constructor(client: Listening, ask: Ask) {
    this.#client = client;
    this.#ask = ask;
    client.work = this;
  }

  start(lease: TargetLease): void {
    const client: Listening = { gone: this.#client.gone, work: undefined };
    const ended = this.#ask(lease, client).then((answer) => ({
      racer,
      won: answer === undefined ? undefined : { lease, answer },
    }));
    const racer: Racer = { client, ended };
    this.#racers.push(racer);
  }

  async outlasts(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<true>((resolve) => {
      timer = setTimeout(resolve, ms, true);
    });
    try {
      return (await Promise.race([late, ...this.#racers.map(({ ended }) => ended)])) === true;
    } finally {
      clearTimeout(timer);
    }
  }

  async winner(): Promise<Won | undefined> {
    try {
      while (this.#racers.length > 0) {
        const { racer, won } = await Promise.race(this.#racers.map(({ ended }) => ended));
        this.#racers = this.#racers.filter((other) => other !== racer);
        if (won !== undefined) return won;
      }
      return undefined;
    } finally {
      for (const slower of this.#racers) breakOff(slower);
    }
  }

  clientLeft(): void {
    for (const { client } of this.#racers) leave(client);
  }
}

function breakOff({ client, ended }: Racer): void {
  leave(client);
  ended.then(
    // Both calls may answer at the same time: the second answer is cancelled.
    ({ won }) => won?.answer.cancel(),
    // A failure of the slower call concerns nobody: the call ends as if its client had left.
    () => undefined,
  );
}

function leave(client: Listening): void {
  client.gone = true;
  client.work?.clientLeft();
}
