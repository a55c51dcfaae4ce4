import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { definitions, type MetricName, metricNames } from './definitions.ts';

const read = (path: string): string => readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8');

/** The names in a text that look like our metrics, with their labels. */
function namesIn(text: string): { name: string; labels: string[] }[] {
  const found = text.matchAll(/\b((?:postern|process|nodejs)_[a-z_]+)(?:\{([^}]*)\})?/g);
  return Array.from(found, ([, name = '', inside = '']) => ({
    name,
    labels: Array.from(inside.matchAll(/([a-z_]+)(?:=~|!=|!~|=)/g), ([, label = '']) => label),
  }));
}

/** Parts of a histogram, too. */
function definitionOf(name: string) {
  const base = name.replace(/_(?:bucket|sum|count)$/, '');
  const known = metricNames.find((one) => one === name) ?? metricNames.find((one) => one === base);
  return known === undefined ? undefined : definitions[known satisfies MetricName];
}

for (const path of ['grafana/postern.json', 'prometheus/alerts.yaml']) {
  test(`${path} uses only existing metrics and labels`, () => {
    const names = namesIn(read(path).replaceAll('\\"', '"'));
    assert.ok(names.length > 10);
    for (const { name, labels } of names) {
      const definition = definitionOf(name);
      assert.ok(definition, `there is no ${name}`);
      for (const label of labels) {
        assert.ok(['job', 'instance', ...definition.labels].includes(label), `${name} has no ${label}`);
      }
    }
  });
}

test('each latency graph of the Grafana dashboard has one query that requests exemplars', () => {
  const { panels } = JSON.parse(read('grafana/postern.json')) as {
    panels: { type: string; targets?: { expr: string; exemplar?: boolean }[] }[];
  };
  const asked = panels
    .filter(({ type }) => type === 'timeseries')
    .map(({ targets = [] }) => targets.filter(({ expr }) => expr.includes('_seconds_bucket')))
    .filter((targets) => targets.length > 0)
    .map((targets) => targets.filter(({ exemplar }) => exemplar === true).length);
  assert.deepEqual(asked, [1, 1, 1, 1]);
});
