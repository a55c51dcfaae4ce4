/** What an upstream's answer says of the upstream: whether it goes to the client, or whether another one is asked. */

import type { Candidate } from '../core/dispatch.ts';
import type { Answer } from '../core/outcome.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { parseRetryAfterMs } from '../lib/retry-after.ts';

export type Verdict =
  /** It is for the client, an error of the client's making included. */
  | 'serves'
  /** Too many calls; nothing was done. */
  | 'limited'
  /** The credential is refused, or its account is empty; nothing was done. */
  | 'rejected'
  /** It cannot; something may have been done. */
  | 'failed'
  /** It points elsewhere, where nobody goes. */
  | 'redirects';

const rejections: ReadonlySet<number> = new Set([401, 402, 403]);

export function verdictOn(answer: Answer, { target }: Candidate): Verdict {
  const { status } = answer;
  if (status === 200) {
    const { failureIn } = target.upstream.family;
    const [beginning] = answer.waiting;
    const meant = beginning === undefined ? undefined : failureIn?.(beginning);
    return meant === undefined ? 'serves' : verdictOfStatus(meant);
  }
  return verdictOfStatus(status);
}

function verdictOfStatus(status: number): Verdict {
  if (status >= 500) return 'failed';
  if (status === 429) return 'limited';
  if (rejections.has(status)) return 'rejected';
  return status >= 300 && status < 400 && status !== 304 ? 'redirects' : 'serves';
}

/** How long it asks to be left alone. */
export function restAskedForMs(answer: Answer, nowEpochMs: number): number | undefined {
  const inMs = Number(headerValue(answer.headers, 'retry-after-ms') ?? Number.NaN);
  if (inMs >= 0 && Number.isFinite(inMs)) return inMs;
  return parseRetryAfterMs(headerValue(answer.headers, 'retry-after'), nowEpochMs);
}
