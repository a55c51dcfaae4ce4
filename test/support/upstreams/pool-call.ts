/** One call through a connection pool, and its events. */

import type { ClientPool } from '../../../src/wire/client-pool.ts';
import type { HeaderField } from '../clients/http-message.ts';

export interface PoolAnswer {
  /** A byte of the call may have left. */
  readonly started: boolean;
  /** No connection was free for it. */
  readonly hasWaited: boolean;
  /** 0 where no answer came. */
  readonly status: number;
  readonly body: string;
  readonly error: unknown;
}

/** Settles when the answer is whole, or nothing more will come. */
export function callThrough(pool: ClientPool, ...headers: readonly HeaderField[]): Promise<PoolAnswer> {
  return callOf(pool, headers, false);
}

/** The same of one that may not be sent again. */
export function callOnce(pool: ClientPool, ...headers: readonly HeaderField[]): Promise<PoolAnswer> {
  return callOf(pool, headers, true);
}

function callOf(pool: ClientPool, headers: readonly HeaderField[], isOnce: boolean): Promise<PoolAnswer> {
  return new Promise((resolve) => {
    let started = false;
    let status = 0;
    let body = '';
    const hasWaited = (): boolean => call.waitsSinceMs !== undefined;
    const call = pool.send(
      { method: 'POST', path: '/v1/embeddings', headers: headers.flat(), body: Buffer.from('{}'), isOnce },
      {
        onStart() {
          started = true;
        },
        onSent() {},
        onFirstByte() {},
        onHead(code) {
          status = code;
        },
        onBody(piece) {
          body += piece.toString();
        },
        onEnd() {
          resolve({ started, hasWaited: hasWaited(), status, body, error: undefined });
        },
        onError(error) {
          resolve({ started, hasWaited: hasWaited(), status, body, error });
        },
      },
    );
  });
}
