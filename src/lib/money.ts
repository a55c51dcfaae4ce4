/** Represents money as whole nano-dollars; parses and formats it as decimal US dollars. */

export const nanosPerDollar = 1_000_000_000;

/** The largest amount that can be parsed, nine million dollars: up to it, sums in nano-dollars are exact. */
export const mostNanos = 9_000_000 * nanosPerDollar;

const decimal = /^(0|[1-9]\d{0,6})(?:\.(\d{1,9}))?$/;

/** Parses `12.5` as 12,500,000,000. Undefined for an invalid amount, more than nine decimals, or more than nine million. */
export function parseDollars(text: string): number | undefined {
  const match = decimal.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = ''] = match;
  const nanos = Number(whole) * nanosPerDollar + Number(fraction.padEnd(9, '0'));
  return nanos > mostNanos ? undefined : nanos;
}

/** Formats 12,500,000,000 as `12.5`; never rounded. */
export function toDollars(nanos: number | bigint): string {
  const whole = BigInt(nanos);
  const size = whole < 0n ? -whole : whole;
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${whole < 0n ? '-' : ''}${size / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}`;
}
