/** Computes the geometry of charts: readable ticks, stacks, and paths of lines, areas and bars. */

export interface Series {
  readonly name: string;
  readonly label: string;
  readonly color: string;
  /** Whether the series is a dashed line above the others, such as the previous period, and not in their stack. */
  readonly isDashed?: boolean;
}

/** The values of one time: one for each series, null if unknown. */
export type ChartRow = Readonly<Record<string, string | number | null>> & {
  readonly time: string;
  /** The time of the row; if rows have it, the axis has labels at round times. */
  readonly atMs?: number;
};

export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export type Value = number | undefined;

const steps = [1, 2, 2.5, 5, 10] as const;
const wantedTicks = 3;

/** Ticks from 0 upwards in even steps; the last one is at or above the highest value. */
export function toTicks(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / wantedTicks;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (steps.find((one) => one * power >= rough * 0.999) ?? 10) * power;
  const count = Math.max(1, Math.ceil(most / step - 0.001));
  return Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(6)));
}

export interface Layer {
  readonly low: readonly Value[];
  readonly high: readonly Value[];
}

/** Stacks series: each layer starts on top of those before it. */
export function stack(columns: readonly (readonly Value[])[]): Layer[] {
  const tops: Value[] = [];
  return columns.map((values) => {
    const low = values.map((value, at) => (value === undefined ? undefined : (tops[at] ?? 0)));
    const high = values.map((value, at) => (value === undefined ? undefined : (tops[at] ?? 0) + value));
    for (const [at, top] of high.entries()) if (top !== undefined) tops[at] = top;
    return { low, high };
  });
}

export function highest(columns: readonly (readonly Value[])[]): number {
  let most = 0;
  for (const values of columns) for (const value of values) if (value !== undefined && value > most) most = value;
  return most;
}

const fixed = (value: number): string => value.toFixed(1);

export const yOf = (value: number, { top, height }: Plot, most: number): number => top + height * (1 - value / most);

/** The x coordinate of a point on a line. */
export const xOf = (at: number, count: number, { left, width }: Plot): number =>
  count <= 1 ? left + width : left + (width * at) / (count - 1);

/** The path of a line, with gaps for unknown values. */
export function toLine(values: readonly Value[], plot: Plot, most: number): string {
  let path = '';
  let isDrawing = false;
  for (const [at, value] of values.entries()) {
    if (value !== undefined) {
      const point = `${fixed(xOf(at, values.length, plot))} ${fixed(yOf(value, plot, most))}`;
      path += isDrawing ? `L${point}` : `M${point}`;
    }
    isDrawing = value !== undefined;
  }
  return path;
}

/** Positions of values without neighbours, which a line does not show. */
export function lonely(values: readonly Value[]): number[] {
  const isKnown = (at: number): boolean => values[at] !== undefined;
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}

/** The upper edge of a layer, only where the layer has a height: elsewhere it would hide the edge of the layer below. */
export const toEdge = (values: readonly Value[], { high }: Layer): Value[] =>
  high.map((value, at) => ([at - 1, at, at + 1].some((near) => (values[near] ?? 0) > 0) ? value : undefined));

export function toArea({ low, high }: Layer, plot: Plot, most: number): string {
  let path = '';
  for (const [from, to] of runsOf(high)) {
    const point = (values: readonly Value[], at: number): string =>
      `${fixed(xOf(at, high.length, plot))} ${fixed(yOf(values[at] ?? 0, plot, most))}`;
    const there = Array.from({ length: to - from }, (_, step) => point(high, from + step));
    const back = Array.from({ length: to - from }, (_, step) => point(low, to - 1 - step));
    path += `M${[...there, ...back].join('L')}Z`;
  }
  return path;
}

/** Runs of values without a gap: the first position, and the position after the last. */
function runsOf(values: readonly Value[]): [number, number][] {
  const runs: [number, number][] = [];
  let from: number | undefined;
  for (let at = 0; at <= values.length; at += 1) {
    const isKnown = at < values.length && values[at] !== undefined;
    if (isKnown) from ??= at;
    else if (from !== undefined) {
      runs.push([from, at]);
      from = undefined;
    }
  }
  return runs;
}

/** Share of the width that is left free between bars. */
const gapShare = 0.2;

export function toBars({ low, high }: Layer, plot: Plot, most: number): string {
  const band = plot.width / Math.max(1, high.length);
  const width = Math.max(1, band * (1 - gapShare));
  let path = '';
  for (const [at, value] of high.entries()) {
    const base = low[at] ?? 0;
    if (value === undefined || value <= base) continue;
    const x = plot.left + band * at + (band - width) / 2;
    const y = yOf(value, plot, most);
    path += `M${fixed(x)} ${fixed(y)}h${fixed(width)}V${fixed(yOf(base, plot, most))}h${fixed(-width)}Z`;
  }
  return path;
}

/** The x coordinate of the middle of a bar. */
export const barX = (at: number, count: number, { left, width }: Plot): number =>
  left + (width * (at + 0.5)) / Math.max(1, count);

/** Positions that get a label: the last one, and others as evenly as there is room. */
export function toMarks(count: number, width: number, markWidth: number): number[] {
  if (count === 0) return [];
  const room = Math.max(1, Math.floor(width / markWidth));
  const step = Math.max(1, Math.ceil(count / room));
  const marks: number[] = [];
  for (let at = count - 1; at >= 0; at -= step) marks.unshift(at);
  return marks;
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const markSteps = [
  ...[5, 15, 30].map((count) => count * secondMs),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minuteMs),
  ...[1, 2, 3, 6, 12].map((count) => count * hourMs),
  ...[1, 2, 4, 7, 14, 28].map((count) => count * dayMs),
];
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const exactClock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

export interface Mark {
  readonly at: number;
  readonly label: string;
}

/** Labels at round times of the reader's clock (days at midnight), at most as many as there is room for. */
export function toTimeMarks(times: readonly number[], most: number): Mark[] {
  const local = times.map((ms) => ms - new Date(ms).getTimezoneOffset() * minuteMs);
  for (const step of markSteps) {
    const places = [...local.keys()].filter((at) => (local[at] ?? 0) % step === 0);
    if (places.length > most) continue;
    return places.map((at) => {
      const isDay = (local[at] ?? 0) % dayMs === 0;
      return { at, label: (isDay ? days : step < minuteMs ? exactClock : clock).format(times[at]) };
    });
  }
  return [];
}
