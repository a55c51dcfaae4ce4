/** Clients on reused connections that send the next request after each response, for changes that no client may notice. */

import { setTimeout as wait } from 'node:timers/promises';
import { connect } from './raw-connection.ts';

export interface ClosedLoop {
  /** Whole answers of status 200 so far. */
  readonly answered: number;
  /** What else happened to a request. */
  readonly failures: readonly string[];
  /** Resolves when every client got `Connection: close` and ended. */
  readonly ended: Promise<void>;
  /** Ends them all after the answer they are waiting for. */
  stop(): Promise<void>;
}

/** `pauseMs` between two requests keeps a small machine from being busy with the clients alone. */
export function startClosedLoop(port: number, clients: number, request: Buffer, pauseMs = 5): ClosedLoop {
  const failures: string[] = [];
  let answered = 0;
  let stopped = false;

  async function run(client: number): Promise<void> {
    const connection = await connect(port, { timeoutMs: 30_000 });
    try {
      while (!stopped) {
        await connection.write(request);
        const response = await connection.nextResponse();
        if (response.status !== 200 || !response.complete) {
          failures.push(
            `client ${client}, after ${answered} answers: ${response.statusLine || 'no answer'}, ${response.closed}, ${response.body}`,
          );
          return;
        }
        answered += 1;
        if (response.header('connection')?.toLowerCase() === 'close') return;
        await wait(pauseMs);
      }
    } catch (error) {
      failures.push(`client ${client}: ${error}`);
    } finally {
      connection.destroy();
    }
  }

  const ended = Promise.all(Array.from({ length: clients }, (_, client) => run(client))).then(() => undefined);
  return {
    get answered() {
      return answered;
    },
    failures,
    ended,
    async stop() {
      stopped = true;
      await ended;
    },
  };
}
