/** One call through a connection pool, and what the pool told of it. */

import type { Dispatcher } from 'undici';

export interface PoolAnswer {
  /** A byte of the call may have left. */
  readonly started: boolean;
  /** 0 where no answer came. */
  readonly status: number;
  readonly body: string;
  readonly error: unknown;
}

/** Settles when the answer is whole and the pool has its connection back, or nothing more will come. */
export function callThrough(pool: Dispatcher): Promise<PoolAnswer> {
  return new Promise((resolve) => {
    let started = false;
    let status = 0;
    let body = '';
    pool.dispatch(
      { method: 'POST', path: '/v1/embeddings', headers: [], body: Buffer.from('{}') },
      {
        onRequestStart() {
          started = true;
        },
        onResponseStart(_controller, code) {
          status = code;
        },
        onResponseData(_controller, chunk) {
          body += chunk.toString();
        },
        onResponseEnd() {
          // The library frees it in the next round of the event loop, in an immediate that is set after this.
          setImmediate(() => setImmediate(resolve, { started, status, body, error: undefined }));
        },
        onResponseError(_controller, error) {
          resolve({ started, status, body, error });
        },
      },
    );
  });
}
