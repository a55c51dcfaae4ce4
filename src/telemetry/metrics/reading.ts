/** What the metrics of a process say at a moment, what several processes come to, and how it is written for Prometheus. */

import { type Definition, definitions, type MetricName, metricNames } from './definitions.ts';

/** By labels as they are written, such as `{model="m"}`. A histogram is its counts, one a bucket, and the sum behind them. */
export type Series = Record<string, number | readonly number[]>;
export type Reading = Partial<Record<MetricName, Series>>;

const pieceCharacters = 64 * 1024;

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

export function toLabels(names: readonly string[], values: readonly string[]): string {
  if (names.length !== values.length) throw new TypeError(`wanted a value for each of: ${names.join(', ')}`);
  if (names.length === 0) return '';
  let text = '';
  for (const [at, name] of names.entries()) {
    text += `${at === 0 ? '{' : ','}${name}="${escapeValue(values[at] ?? '')}"`;
  }
  return `${text}}`;
}

export function toExposition(reading: Reading): string {
  return [...expositionOf(reading)].join('');
}

/** In pieces, each small enough to be written in one go without keeping requests waiting. */
export function* expositionOf(reading: Reading): Generator<string, void, undefined> {
  let text = '';
  for (const name of metricNames) {
    const series = Object.entries(reading[name] ?? {});
    if (series.length === 0) continue;
    const definition = definitions[name];
    text += `# HELP ${name} ${escapeHelp(definition.help)}\n# TYPE ${name} ${definition.type}\n`;
    for (const [labels, value] of series) {
      text += typeof value === 'number' ? `${name}${labels} ${toNumber(value)}\n` : toBuckets(name, labels, value);
      if (text.length < pieceCharacters) continue;
      yield text;
      text = '';
    }
  }
  yield text;
}

/** Gauges are added up or the extreme of them, as their definition says. Of all metrics, or those that are wanted. */
export function addReadings(readings: readonly Reading[], only?: ReadonlySet<MetricName>): Reading {
  const result: Reading = {};
  for (const name of only ?? metricNames) {
    const { across } = definitions[name];
    const all: Series = {};
    for (const reading of readings) {
      for (const [labels, value] of Object.entries(reading[name] ?? {})) {
        const before = all[labels];
        all[labels] = before === undefined ? value : combine(before, value, across);
      }
    }
    result[name] = all;
  }
  return result;
}

/** What stays true when its process is gone. */
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

function toBuckets(name: MetricName, labels: string, counts: readonly number[]): string {
  const { buckets } = definitions[name];
  const start = `${name}_bucket${labels === '' ? '{' : `${labels.slice(0, -1)},`}le="`;
  let text = '';
  let below = 0;
  for (let at = 0; at <= buckets.length; at += 1) {
    below += counts[at] ?? 0;
    text += `${start}${buckets[at] ?? '+Inf'}"} ${below}\n`;
  }
  return `${text}${name}_sum${labels} ${toNumber(counts[buckets.length + 1] ?? 0)}\n${name}_count${labels} ${below}\n`;
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

function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
