/** Judges an upstream's response: pass it to the client, retry, or fail over to another target. */

import type { Answer, Failure } from '../core/outcome.ts';
import type { ErrorWireFormat } from '../core/translation.ts';
import { parseJsonOrNone } from '../lib/json/json-text.ts';
import { codingsOf, headerValue } from '../lib/raw-headers.ts';

const secondsPattern = /^\d+(\.\d+)?$/;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const longWeekday = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const month = `(?<month>${months.join('|')})`;
const timeOfDay = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

const datePatterns = [
  new RegExp(`^${weekday}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${timeOfDay} GMT$`),
  new RegExp(`^${longWeekday}, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${timeOfDay} GMT$`),
  new RegExp(`^${weekday} ${month} (?<day>[ \\d]\\d) ${timeOfDay} (?<year>\\d{4})$`),
];

/** Milliseconds to wait; undefined where the value is absent or invalid, 0 for a past date. Not limited. */
export function parseRetryAfterMs(value: string | undefined, nowEpochMs: number): number | undefined {
  const text = value?.trim();
  if (text === undefined) return undefined;
  if (secondsPattern.test(text)) {
    const ms = Number(text) * 1000;
    return Number.isFinite(ms) ? ms : undefined;
  }
  const dateMs = toEpochMs(text, nowEpochMs);
  return dateMs === undefined ? undefined : Math.max(0, dateMs - nowEpochMs);
}

function toEpochMs(text: string, nowEpochMs: number): number | undefined {
  for (const pattern of datePatterns) {
    const found = pattern.exec(text)?.groups;
    if (found === undefined) continue;
    const { year = '', month = '', day, hour, minute, second } = found;
    const date = new Date(0);
    date.setUTCFullYear(toFullYear(year, nowEpochMs), months.indexOf(month), Number(day));
    const isDayOfMonth = date.getUTCDate() === Number(day);
    return isDayOfMonth ? date.setUTCHours(Number(hour), Number(minute), Number(second)) : undefined;
  }
  return undefined;
}

/** Completes a year of two digits: the result is not more than 50 years ahead (RFC 9110, 5.6.7). */
function toFullYear(digits: string, nowEpochMs: number): number {
  if (digits.length > 2) return Number(digits);
  const thisYear = new Date(nowEpochMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}

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
