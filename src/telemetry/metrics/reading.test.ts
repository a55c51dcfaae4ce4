import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExposition, toExposition } from '../../../test/support/clients/exposition.ts';
import { atOnce } from '../../lib/time-slices.ts';
import { metricNames } from './definitions.ts';
import { addReadings, formFor, onlyCounts, type Reading, toLabels } from './reading.ts';
import { Registry } from './registry.ts';

test('label values with quotes, backslashes and line ends can be read back', () => {
  const id = 'a "quoted"\\name\nwith a line, and {braces}="x"';
  const registry = new Registry();
  registry.counter('postern_items_total', id, 'up').add(3);
  const parsed = parseExposition(toExposition(atOnce(registry.reading())));
  assert.equal(parsed.sum('postern_items_total', { model: id, upstream: 'up' }), 3);
});

test('a histogram counts each value in every bucket wide enough', () => {
  const registry = new Registry();
  const histogram = registry.histogram('postern_overhead_seconds', 'rerank');
  for (const value of [0.0001, 0.00011, 0.02, 4, 1_000]) histogram.observe(value);
  const parsed = parseExposition(toExposition(atOnce(registry.reading())));
  const bucket = (le: string) => parsed.sum('postern_overhead_seconds_bucket', { le });
  assert.deepEqual([bucket('0.0001'), bucket('0.00025'), bucket('0.01'), bucket('0.025')], [1, 2, 2, 3]);
  assert.deepEqual([bucket('5'), bucket('+Inf')], [4, 5]);
  assert.equal(parsed.sum('postern_overhead_seconds_sum'), 1004.02021);
  assert.equal(parsed.sum('postern_overhead_seconds_count'), 5);
});

test('equal labels return the same counter, and a use with wrong labels or metric type throws', () => {
  const registry = new Registry();
  assert.equal(registry.counter('postern_items_total', 'm', 'u'), registry.counter('postern_items_total', 'm', 'u'));
  assert.throws(() => registry.counter('postern_items_total', 'm'), /wanted a value for each of: model, upstream/);
  assert.throws(() => registry.counter('postern_overhead_seconds', 'rerank'), /another type/);
  assert.throws(() => registry.counter('postern_store_up'), /another type/);
});

test('forget() removes the metrics with the given label values, and nothing else', () => {
  const registry = new Registry();
  registry.counter('postern_items_total', 'gone', 'up').add(1);
  registry.counter('postern_items_total', 'here', 'up').add(1);
  registry.counter('postern_limit_hits_total', 'model', 'requests').add(1);
  registry.forget('model', new Set(['gone']));
  const parsed = parseExposition(toExposition(atOnce(registry.reading())));
  assert.deepEqual([...parsed.valuesOf('model')], ['here']);
  assert.equal(parsed.sum('postern_limit_hits_total'), 1);
});

test('forget() of a model leaves models whose names contain it as if it were a label', () => {
  const registry = new Registry();
  const names = ['a', 'b",model="a', 'b\\', ',model=a'];
  for (const name of names) registry.counter('postern_items_total', name, 'up').add(1);
  registry.forget('model', new Set(['a', 'b\\']));
  const left = Object.keys(atOnce(registry.reading()).postern_items_total ?? {});
  assert.deepEqual(
    left,
    ['b",model="a', ',model=a'].map((name) => toLabels(['model', 'upstream'], [name, 'up'])),
  );
});

test('merges several processes: counters are added, gauges by their type', () => {
  const of = (value: number): Reading => ({
    postern_items_total: { [toLabels(['model', 'upstream'], ['m', `only-${value}`])]: value, all: value },
    postern_overhead_seconds: { all: [value, 1, 0.5] },
    postern_requests_in_flight: { all: value },
    postern_store_up: { '': value },
    postern_journal_oldest_seconds: { '': value },
  });
  const sum = addReadings([of(1), of(0), of(5)]);
  assert.deepEqual(sum.postern_items_total, {
    '{model="m",upstream="only-1"}': 1,
    '{model="m",upstream="only-0"}': 0,
    '{model="m",upstream="only-5"}': 5,
    all: 6,
  });
  assert.deepEqual(sum.postern_overhead_seconds, { all: [6, 3, 1.5] });
  assert.deepEqual(sum.postern_requests_in_flight, { all: 6 });
  assert.deepEqual(sum.postern_store_up, { '': 0 });
  assert.deepEqual(sum.postern_journal_oldest_seconds, { '': 5 });
  // Of a process that has ended.
  assert.deepEqual(Object.keys(onlyCounts(of(1))).sort(), ['postern_items_total', 'postern_overhead_seconds']);
  assert.deepEqual(Object.keys(sum), metricNames);
});

test('serves OpenMetrics to scrapers that prefer it, else the plain format', () => {
  for (const accept of [
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    'application/openmetrics-text; version=1.0.0, text/plain',
    'application/openmetrics-text',
  ]) {
    assert.equal(formFor(accept), 'openMetrics', accept);
  }
  for (const accept of [
    undefined,
    '',
    '*/*',
    'text/plain;version=0.0.4',
    'application/openmetrics-text;version=0.0.1',
    'application/openmetrics-text;version=1.0.0;q=0.2,text/plain;q=0.5',
    'application/openmetrics-text;q=0',
    'application/openmetrics-text;q=x',
    'text/html,application/xhtml+xml',
  ]) {
    assert.equal(formFor(accept), 'plain', String(accept));
  }
});

const slow = { id: '0af7651916cd43dd8448eb211c80319c', atS: 1_790_000_000.25 };

test('OpenMetrics has base family names, float bounds, exemplars and an end marker', () => {
  const registry = new Registry();
  registry.counter('postern_items_total', 'm', 'u').add(3);
  const histogram = registry.histogram('postern_request_duration_seconds', '/v1/rerank', 'm');
  histogram.observe(0.9, slow);
  histogram.observe(0.02);
  const lines = toExposition(atOnce(registry.reading()), 'openMetrics').split('\n');
  assert.deepEqual(lines.slice(-2), ['# EOF', '']);
  assert.ok(lines.includes('# TYPE postern_items counter'));
  assert.ok(lines.includes('postern_items_total{model="m",upstream="u"} 3'));
  const labels = 'route="/v1/rerank",model="m"';
  const exemplar = '# {trace_id="0af7651916cd43dd8448eb211c80319c"} 0.9 1790000000.250';
  const buckets = lines.filter((line) => line.startsWith('postern_request_duration_seconds_bucket'));
  assert.deepEqual(
    buckets.filter((line) => line.includes('#')),
    [`postern_request_duration_seconds_bucket{${labels},le="1.0"} 2 ${exemplar}`],
  );
  assert.ok(buckets.some((line) => line.includes('le="+Inf"} 2')));
  assert.ok(!toExposition(atOnce(registry.reading())).includes('#  {'), 'the plain text has no room for one');
  assert.ok(!toExposition(atOnce(registry.reading())).includes('trace_id'));
});

test('the newest exemplar of several processes is kept per bucket', () => {
  const of = (atS: number, value: number): Reading => {
    const registry = new Registry();
    registry.histogram('postern_overhead_seconds', 'rerank').observe(value, { id: `${atS}`, atS });
    return atOnce(registry.reading());
  };
  const text = toExposition(
    addReadings([of(3, 1), of(5, 1), of(4, 1), of(1, 4), atOnce(new Registry().reading())]),
    'openMetrics',
  );
  assert.deepEqual(text.match(/trace_id="\d+"/g), ['trace_id="5"', 'trace_id="1"']);
});

test('selected metrics are read as sums over all models that were not deleted', () => {
  const registry = new Registry();
  for (let at = 0; at < 500; at += 1) {
    registry.counter('postern_requests_total', '/v1/rerank', 'rerank', `m-${at}`, '2xx', 'ok').add(2);
    registry.histogram('postern_request_duration_seconds', '/v1/rerank', `m-${at}`).observe(0.02);
  }
  const only = new Set(['postern_requests_total', 'postern_request_duration_seconds'] as const);
  const read = () => {
    const reading = atOnce(registry.reading(only));
    const [duration] = Object.values(reading.postern_request_duration_seconds ?? {});
    const counts = typeof duration === 'number' ? [] : (duration ?? []);
    return { requests: reading.postern_requests_total, ended: counts.slice(0, -1).reduce((sum, one) => sum + one, 0) };
  };
  const labels = '{operation="rerank",status="2xx",outcome="ok"}';
  assert.deepEqual(read(), { requests: { [labels]: 1_000 }, ended: 500 });
  registry.forget('model', new Set(['m-1', 'm-2']));
  assert.deepEqual(read(), { requests: { [labels]: 996 }, ended: 498 });
});
