/** Judges an upstream's response: pass it to the client, retry, or fail over to another target. */

import type { Answer, Failure } from '../core/outcome.ts';
import type { ErrorWireFormat } from '../core/translation.ts';
import { parseJsonOrNone } from '../lib/json/json-text.ts';
import { codingsOf, headerValue } from '../lib/raw-headers.ts';
import { parseRetryAfterMs } from '../lib/retry-after.ts';

export type Verdict =
  /** The answer is for the client, including an error that the client caused. */
  | 'serves'
  /** The upstream has too many calls; nothing was executed. */
  | 'limited'
  /** The upstream refuses our credential, or our account is empty; nothing was executed. */
  | 'rejected'
  /** The call failed; something may have been executed. */
  | 'failed'
  /** The upstream is not ready yet; nothing was executed. */
  | 'loading'
  /** The connection broke before the first byte of the body. */
  | 'broken'
  /** A redirect, which is never followed. */
  | 'redirects';

const rejections: ReadonlySet<number> = new Set([401, 402, 403]);

/** Used where the upstream's family gives no status a special meaning. */
const asTheyAre: Readonly<Record<number, number>> = {};

export function verdictOn(
  { status, meantStatus: meant = status, isLoading, broken, waiting }: Answer,
  statuses: Readonly<Record<number, number>> = asTheyAre,
): Verdict {
  if (isLoading === true) return 'loading';
  const meantStatus = statuses[meant] ?? meant;
  if (meantStatus >= 500) return 'failed';
  if (meantStatus === 429) return 'limited';
  if (rejections.has(meantStatus)) return 'rejected';
  if (meantStatus >= 300 && meantStatus < 400 && meantStatus !== 304) return 'redirects';
  return broken !== undefined && meantStatus < 300 && waiting.length === 0 ? 'broken' : 'serves';
}

/** The cooldown that the upstream asks for in its answer; undefined where it asks for none. */
export function cooldownAskedForMs(answer: Answer, nowEpochMs: number, errors?: ErrorWireFormat): number | undefined {
  const inMs = headerValue(answer.headers, 'retry-after-ms');
  if (inMs !== undefined && /^\d{1,12}(\.\d+)?$/.test(inMs)) return Number(inMs);
  const inHeader = parseRetryAfterMs(headerValue(answer.headers, 'retry-after'), nowEpochMs);
  return inHeader ?? (errors?.retryAfterS === undefined ? undefined : cooldownInBodyMs(answer, errors));
}

/** Limit of an error body that is read for a waiting time; such an error is shorter. */
const mostBytes = 16 * 1024;

function cooldownInBodyMs(
  { ended, waiting, headers, status }: Answer,
  { retryAfterS }: ErrorWireFormat,
): number | undefined {
  const [body] = waiting;
  const isRead = ended && waiting.length === 1 && (status === 429 || status === 503) && codingsOf(headers).length === 0;
  if (!isRead || body === undefined || body.length > mostBytes) return undefined;
  const read = parseJsonOrNone(body);
  const seconds = read === undefined ? undefined : retryAfterS?.(read);
  return seconds === undefined ? undefined : seconds * 1_000;
}

export const redirected: Omit<Failure, 'cause'> = {
  code: 'upstream_protocol_error',
  message:
    'The upstream answered with a redirect, which is never followed; the operator must set its base_url to the final address.',
};
