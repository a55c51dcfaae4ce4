/** Parses the header `Retry-After`: seconds, or an HTTP date in any of its three forms. */

const secondsPattern = /^\d+(\.\d+)?$/;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const longWeekday = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const month = `(?<month>${months.join('|')})`;
const time = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

const datePatterns = [
  new RegExp(`^${weekday}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${longWeekday}, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT$`),
  new RegExp(`^${weekday} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
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
