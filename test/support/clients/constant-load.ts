/** A few clients that send requests continuously, and record each failure. */

import { setTimeout as wait } from 'node:timers/promises';

export interface ConstantLoad {
  readonly answered: number;
  readonly failures: readonly string[];
  /** Resolves once the last answer is there. */
  stop(): Promise<void>;
}

export function askConstantly(ask: () => Promise<Response>, clients = 4): ConstantLoad {
  const failures: string[] = [];
  let answered = 0;
  let isOver = false;
  const running = Array.from({ length: clients }, async () => {
    while (!isOver) {
      const fault = await once(ask);
      if (fault === undefined) answered += 1;
      else failures.push(fault);
      await wait(10);
    }
  });
  return {
    get answered() {
      return answered;
    },
    failures,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}

async function once(ask: () => Promise<Response>): Promise<string | undefined> {
  try {
    const answer = await ask();
    const text = await answer.text();
    return answer.status === 200 ? undefined : `${answer.status} ${text.slice(0, 200)}`;
  } catch (error) {
    return error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error);
  }
}
