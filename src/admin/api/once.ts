/** Runs a repeated write with the same `Idempotency-Key` only once, and answers each with the same response. In memory. */

import { hash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { type Caller, identityOf } from '../caller.ts';
import { Problem } from '../problem.ts';

const keptMs = 10 * 60_000;
const mostKept = 1_000;
const form = /^[\x21-\x7e]{1,200}$/;

interface Done {
  readonly atMs: number;
  /** The digest of the body: a repetition must be equal to the byte. */
  readonly digest: string;
  readonly response: Promise<Response>;
}

export interface Asked {
  readonly caller: Caller;
  readonly request: Request;
  readonly body: Buffer;
  /** The value of `Idempotency-Key`. */
  readonly key: string;
}

export function createOnce(clock: Pick<Clock, 'monotonicMs'>) {
  const done = new Map<string, Done>();

  function forgetOld(nowMs: number): void {
    for (const [name, { atMs }] of done) {
      if (nowMs - atMs < keptMs && done.size < mostKept) return;
      done.delete(name);
    }
  }

  return async (asked: Asked, work: () => Promise<Response>): Promise<Response> => {
    if (!form.test(asked.key)) {
      throw new Problem('malformed_request', {
        detail: 'Idempotency-Key holds 1 to 200 visible ASCII characters; for example a UUID.',
      });
    }
    const nowMs = clock.monotonicMs();
    forgetOld(nowMs);
    const name = nameOf(asked);
    const digest = hash('sha256', asked.body, 'hex');
    const found = done.get(name);
    if (found !== undefined && found.digest !== digest) {
      throw new Problem('key_used_before', {
        detail: 'This Idempotency-Key was used with another body before; use a new one for each request.',
      });
    }
    if (found !== undefined) return (await found.response).clone();
    const response = work();
    done.set(name, { atMs: nowMs, digest, response });
    // A failure may be retried.
    response.catch(() => done.delete(name));
    return (await response).clone();
  };
}

/** The name under which a response is kept. It has the caller and the path, so that no other caller gets the response. */
function nameOf({ caller, request: { method, url }, key }: Asked): string {
  const owner = caller.kind === 'member' ? caller.memberId : identityOf(caller);
  return JSON.stringify([caller.kind, owner, method, new URL(url).pathname, key]);
}
