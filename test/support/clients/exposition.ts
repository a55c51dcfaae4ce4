/** A strict parser of the Prometheus text format (0.0.4). */

import assert from 'node:assert/strict';
import { expositionOf, type Form, type Reading } from '../../../src/telemetry/metrics/reading.ts';

interface Sample {
  /** With `_bucket`, `_sum` or `_count` where it is a part of a histogram. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Exposition {
  readonly families: ReadonlyMap<string, MetricFamily>;
  /** How many samples there are in all. */
  readonly size: number;
  /** The sum of the samples with this name that have these labels, among others; undefined where there are none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Every value that a label has anywhere. */
  valuesOf(label: string): Set<string>;
}

const samplePattern = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/;
const labelPattern = /([a-z_][a-z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(?:,|$)/gy;
const numberPattern = /^(?:-?\d+(?:\.\d+)?(?:e[+-]\d+)?|[+-]Inf|NaN)$/;

export function parseExposition(text: string): Exposition {
  assert.ok(text.endsWith('\n'), 'the last line has no end');
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      assert.ok(!families.has(name), `${name} is explained twice`);
      families.set(name, { type: '', help: rest, samples: [] });
      current = name;
      continue;
    }
    const family = families.get(current);
    assert.ok(family !== undefined, `nothing was explained before: ${line}`);
    if (keyword === 'TYPE') {
      assert.equal(name, current, 'the type follows the explanation');
      assert.equal(family.type, '', `${name} has two types`);
      assert.match(rest, /^(counter|gauge|histogram)$/);
      family.type = rest;
      continue;
    }
    const sample = parseSample(line);
    assert.ok(namesOf(current, family.type).includes(sample.name), `${line} stands under ${current}`);
    const identity = line.slice(0, line.lastIndexOf(' '));
    assert.ok(!seen.has(identity), `twice: ${identity}`);
    seen.add(identity);
    family.samples.push(sample);
  }
  for (const [name, family] of families) checkFamily(name, family);
  const all = [...families.values()].flatMap(({ samples }) => samples);
  return {
    families,
    size: all.length,
    sum(name, labels = {}) {
      const wanted = Object.entries(labels);
      const found = all.filter(
        (one) => one.name === name && wanted.every(([label, value]) => one.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    valuesOf: (label) => new Set(all.flatMap(({ labels }) => labels[label] ?? [])),
  };
}

function parseSample(line: string): Sample {
  const [, name, written = '', number] = samplePattern.exec(line) ?? [];
  assert.ok(name !== undefined && number !== undefined, `no sample: ${line}`);
  assert.match(number, numberPattern, line);
  const labels: Record<string, string> = {};
  let end = 0;
  for (const match of written.matchAll(labelPattern)) {
    const [whole, label = '', value = ''] = match;
    assert.ok(!(label in labels), `a label twice: ${line}`);
    labels[label] = value.replaceAll(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
    end = match.index + whole.length;
  }
  assert.equal(end, written.length, `labels that cannot be read: ${line}`);
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) };
}

function namesOf(name: string, type: string): string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

function checkFamily(name: string, { type, samples }: MetricFamily): void {
  assert.ok(samples.length > 0, `${name} has no samples`);
  assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
  if (type === 'counter') for (const { value } of samples) assert.ok(value >= 0, `${name} is ${value}`);
  if (type !== 'histogram') return;
  const children = new Map<string, { buckets: [le: number, count: number][]; count: number | undefined }>();
  for (const { name: part, labels, value } of samples) {
    const { le, ...others } = labels;
    const key = JSON.stringify(others);
    const child = children.get(key) ?? { buckets: [], count: undefined };
    children.set(key, child);
    if (part.endsWith('_bucket')) child.buckets.push([Number(le?.replace('Inf', 'Infinity')), value]);
    if (part.endsWith('_count')) child.count = value;
  }
  for (const [key, { buckets, count }] of children) {
    assert.equal(buckets.at(-1)?.[0], Number.POSITIVE_INFINITY, `${name}${key} has no last bucket`);
    assert.equal(buckets.at(-1)?.[1], count, `${name}${key}: the last bucket is the count`);
    buckets.reduce(([bound, below], [le, value]) => {
      assert.ok(le > bound && value >= below, `${name}${key}: buckets rise`);
      return [le, value];
    });
  }
}

export const toExposition = (reading: Reading, form?: Form): string => [...expositionOf(reading, form)].join('');
