/** What the charts draw, call it and colour it: the same outcome looks the same everywhere. */

export interface Series {
  readonly name: string;
  readonly label: string;
  readonly color: string;
}

/** At a time: a value for each series, null where nothing is known. */
export type ChartRow = Readonly<Record<string, string | number | null>> & { readonly time: string };

/** `teal.6` as Mantine's variable of that colour. */
export const toColor = (color: string): string => `var(--mantine-color-${color.replace('.', '-')})`;

export const outcomeSeries: readonly Series[] = [
  { name: 'ok', label: 'OK', color: 'teal.6' },
  { name: 'error', label: 'Failed', color: 'red.6' },
  { name: 'refused', label: 'Refused', color: 'orange.6' },
  { name: 'aborted', label: 'Client left', color: 'gray.6' },
  { name: 'cut', label: 'Broke off', color: 'grape.6' },
  { name: 'lost', label: 'Unknown', color: 'indigo.6' },
];

export const latencySeries: readonly Series[] = [
  { name: 'p50', label: 'Half within', color: 'teal.6' },
  { name: 'p95', label: '95 % within', color: 'blue.6' },
  { name: 'p99', label: '99 % within', color: 'orange.6' },
];

export const meanSeries: readonly Series[] = [{ name: 'mean', label: 'Mean', color: 'blue.6' }];

export const tokenSeries: readonly Series[] = [
  { name: 'input', label: 'In', color: 'blue.6' },
  { name: 'output', label: 'Out', color: 'teal.6' },
];

/** Of lists: what upstreams were asked for, and what was known. */
export const itemSeries: readonly Series[] = [
  { name: 'asked', label: 'Asked for', color: 'blue.6' },
  { name: 'known', label: 'Remembered', color: 'teal.6' },
];

export const costSeries: readonly Series[] = [{ name: 'cost', label: 'Cost', color: 'violet.6' }];
