/** Combines the metrics of one or several processes to a reading, and writes it as Prometheus text. */

import { withMasks } from '../../lib/secrets/secret-shapes.ts';
import { atOnce } from '../../lib/time-slices.ts';
import { type Definition, definitions, type MetricName, metricNames } from './definitions.ts';
import { type Exemplar, type Exemplars, newestOf } from './exemplars.ts';

/** Values by labels as Prometheus writes them, such as `{model="m"}`. A histogram has one count per bucket, and then the sum. */
export type Series = Record<string, number | readonly number[]>;
export interface Reading extends Partial<Record<MetricName, Series>> {
  /** Present where traces are kept. */
  readonly exemplars?: Exemplars;
}

const pieceCharacters = 64 * 1024;

/** Media types of Prometheus' own format, and of that with exemplars. */
export const expositionTypes = {
  plain: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const;
export type Form = keyof typeof expositionTypes;

/** The format that the scraper prefers, by `q` of its Accept header. */
export function formFor(accept: string | undefined): Form {
  let open = 0;
  let plain = 0;
  for (const part of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((word) => word.trim());
    const q = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1);
    const version = parameters.find((one) => one.startsWith('version='))?.slice(8) ?? '1.0.0';
    if (type === 'application/openmetrics-text' && version === '1.0.0') open = Math.max(open, q);
    if (type === 'text/plain') plain = Math.max(plain, q);
  }
  return open > 0 && open >= plain ? 'openMetrics' : 'plain';
}

export function toLabels(names: readonly string[], values: readonly string[]): string {
  if (names.length !== values.length) throw new TypeError(`wanted a value for each of: ${names.join(', ')}`);
  if (names.length === 0) return '';
  let text = '';
  for (const [at, name] of names.entries()) {
    text += `${at === 0 ? '{' : ','}${name}="${escapeValue(withMasks(values[at] ?? ''))}"`;
  }
  return `${text}}`;
}

/** Writes the metrics in pieces that are small enough not to delay requests. */
export function* expositionOf(reading: Reading, form: Form = 'plain'): Generator<string, void, undefined> {
  const isOpen = form === 'openMetrics';
  let text = '';
  for (const name of metricNames) {
    const series = reading[name] ?? {};
    const definition = definitions[name];
    const family = isOpen && definition.type === 'counter' ? name.replace(/_total$/, '') : name;
    const head = `# HELP ${family} ${escapeHelp(definition.help, isOpen)}\n# TYPE ${family} ${definition.type}\n`;
    let isFirst = true;
    const exemplars = isOpen ? reading.exemplars?.[name] : undefined;
    for (const labels in series) {
      const value = series[labels] ?? 0;
      if (isFirst) text += head;
      isFirst = false;
      text +=
        typeof value === 'number'
          ? `${name}${labels} ${toNumber(value)}\n`
          : toBuckets(name, labels, value, { isOpen, exemplars: exemplars?.[labels] });
      if (text.length < pieceCharacters) continue;
      yield text;
      text = '';
    }
  }
  yield isOpen ? `${text}# EOF\n` : text;
}

/** Merges readings: counters are summed, of gauges the sum or the extreme is taken, as defined. */
export const addReadings = (readings: readonly Reading[]): Reading => atOnce(addingReadings(readings));

/** Merges readings in steps, for all metrics or those in `only`. It may pause at every `yield`. */
export function* addingReadings(
  readings: readonly Reading[],
  only?: ReadonlySet<MetricName>,
): Generator<undefined, Reading, undefined> {
  const result: Reading = {};
  for (const name of only ?? metricNames) {
    const { across } = definitions[name];
    const all: Series = {};
    for (const reading of readings) {
      const series = reading[name] ?? {};
      for (const labels in series) {
        yield;
        const value = series[labels] ?? 0;
        const before = all[labels];
        all[labels] = before === undefined ? value : combine(before, value, across);
      }
    }
    result[name] = all;
  }
  const exemplars = only === undefined ? newestOf(readings.map((one) => one.exemplars)) : undefined;
  return exemplars === undefined ? result : { ...result, exemplars };
}

/** The part of a reading that stays valid after its process has ended. */
export function onlyCounts(reading: Reading): Reading {
  const result: Reading = {};
  for (const name of metricNames) {
    const series = reading[name];
    if (series !== undefined && definitions[name].type !== 'gauge') result[name] = series;
  }
  return result;
}

function combine(
  a: number | readonly number[],
  b: number | readonly number[],
  across: Definition['across'],
): number | readonly number[] {
  if (typeof a !== 'number') return typeof b === 'number' ? a : a.map((count, at) => count + (b[at] ?? 0));
  if (typeof b !== 'number') return a;
  switch (across) {
    case 'sum':
      return a + b;
    case 'most':
      return Math.max(a, b);
    case 'least':
      return Math.min(a, b);
  }
}

interface BucketForm {
  readonly isOpen: boolean;
  readonly exemplars: readonly (Exemplar | null)[] | undefined;
}

function toBuckets(name: MetricName, labels: string, counts: readonly number[], form: BucketForm): string {
  const { buckets } = definitions[name];
  const start = `${name}_bucket${labels === '' ? '{' : `${labels.slice(0, -1)},`}le="`;
  let text = '';
  let below = 0;
  for (let at = 0; at <= buckets.length; at += 1) {
    below += counts[at] ?? 0;
    text += `${start}${toBound(buckets[at], form)}"} ${below}${toExemplar(form.exemplars?.[at])}\n`;
  }
  return `${text}${name}_sum${labels} ${toNumber(counts[buckets.length + 1] ?? 0)}\n${name}_count${labels} ${below}\n`;
}

function toBound(bound: number | undefined, { isOpen }: BucketForm): string {
  if (bound === undefined) return '+Inf';
  return isOpen && Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function toExemplar(exemplar: Exemplar | null | undefined): string {
  if (!exemplar) return '';
  return ` # {trace_id="${exemplar.traceId}"} ${toNumber(exemplar.value)} ${exemplar.atS.toFixed(3)}`;
}

function toNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

const special = /[\\"\n]/;

function escapeValue(value: string): string {
  if (!special.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(help: string, isOpen: boolean): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isOpen ? escaped.replaceAll('"', '\\"') : escaped;
}
