/** Parses and formats durations, sizes and times: `30s`, `500ms`, `32MiB`, `2026-11-21`, `2026-11-21T09:00Z`. */

const millisecondsPer = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
const bytesPer = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 } as const;

export const durationPattern = /^\d+(\.\d+)?(ms|s|m|h|d)$/;
export const sizePattern = /^\d+(\.\d+)?(B|KiB|MiB|GiB)$/;

/** Parses a duration; undefined where the text is none, or not a whole number of milliseconds. */
export function toMilliseconds(text: string): number | undefined {
  return toWhole(text, durationPattern, millisecondsPer);
}

/** Parses a size; undefined where the text is none, or not a whole number of bytes. */
export function toBytes(text: string): number | undefined {
  return toWhole(text, sizePattern, bytesPer);
}

/** Formats a duration in the largest unit that leaves a whole number. */
export function fromMilliseconds(ms: number): string {
  return inLargestUnit(ms, millisecondsPer, '0s');
}

/** Formats a size in the largest unit that leaves a whole number. */
export function fromBytes(bytes: number): string {
  return inLargestUnit(bytes, bytesPer, '0B');
}

const timeForm = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Parses a day, which stands for its beginning in UTC, or a time with its zone; undefined where there is no such time. */
export function toInstantMs(text: string): number | undefined {
  const [, day] = timeForm.exec(text) ?? [];
  // JavaScript reads the 30th of February as a day in March.
  const exists = day !== undefined && new Date(day).toJSON()?.startsWith(day);
  const ms = exists ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function toWhole(text: string, pattern: RegExp, units: Readonly<Record<string, number>>): number | undefined {
  if (!pattern.test(text)) return undefined;
  const digits = Number.parseFloat(text);
  const factor = units[text.replace(/^[\d.]+/, '')];
  if (factor === undefined) return undefined;
  const whole = digits * factor;
  return Number.isSafeInteger(whole) ? whole : undefined;
}

function inLargestUnit(quantity: number, units: Readonly<Record<string, number>>, zero: string): string {
  if (quantity === 0) return zero;
  for (const [unit, factor] of Object.entries(units)) {
    if (quantity % factor === 0) return `${quantity / factor}${unit}`;
  }
  return zero;
}
