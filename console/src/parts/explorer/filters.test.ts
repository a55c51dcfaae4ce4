import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAddress, withParameters } from '../api/asking.ts';
import {
  canBeFollowed,
  chartsLack,
  isNarrowed,
  isOneQuery,
  mayBeOwnId,
  noFilters,
  readFilters,
  spanOf,
  toParameters,
  toQuery,
  toRowQueries,
  toSeriesQuery,
} from './filters.ts';

test('filters in the URL are read and written without loss, and other parameters stay', () => {
  const address = 'view=cost&range=7d&q=abc&model=BAAI%2Fbge-m3&status=502&before=cursor';
  const filters = readFilters(new URLSearchParams(address));
  assert.deepEqual(filters.values, { model: 'BAAI/bge-m3', status: '502' });
  const written = withParameters(new URLSearchParams(address), toParameters(filters));
  assert.deepEqual(readFilters(written), filters);
  assert.deepEqual([written.get('view'), written.get('before')], ['cost', null]);
});

test('a preset time range replaces an explicit one, and invalid times are ignored', () => {
  const both = readFilters(new URLSearchParams('range=1h&from=2026-11-20T00:00:00Z'));
  assert.deepEqual([both.range, both.from], ['1h', undefined]);
  const wrong = readFilters(new URLSearchParams('range=constructor&from=soon&to=1960-01-01'));
  assert.deepEqual([wrong.range, wrong.from, wrong.to], ['24h', undefined, undefined]);
});

test("the API query has the preset's start, and leaves out filters that series lack", () => {
  const filters = readFilters(new URLSearchParams('range=1h&key=dev&status=502'));
  const nowMs = Date.UTC(2026, 10, 21, 12);
  const address = toAddress('GET /api/ledger', { query: toQuery(filters, nowMs) });
  assert.equal(address, '/api/ledger?from=2026-11-21T11%3A00%3A00.000Z&key=dev&status=502');
  assert.equal('status' in toSeriesQuery(filters, nowMs), false);
});

test('reports whether any filter is set', () => {
  assert.equal(isNarrowed(noFilters), false);
  const isNarrow = (address: string): boolean => isNarrowed(readFilters(new URLSearchParams(address)));
  assert.deepEqual(['q=x', 'key=dev', 'range=1h'].map(isNarrow), [true, true, false]);
});

test("a search text of hex digits may be a gateway request ID, and other text is a client's request ID", () => {
  for (const text of ['019a', '0'.repeat(32), 'ABCD']) assert.equal(mayBeOwnId(text), true, text);
  for (const text of ['abc', '0'.repeat(33), 'my-request', '']) assert.equal(mayBeOwnId(text), false, text);
});

test('an unknown value in the URL is not queried', () => {
  const filters = readFilters(new URLSearchParams('operation=talk&outcome=error'));
  const { operation, outcome } = toQuery(filters, 0);
  assert.deepEqual([operation, outcome], [undefined, 'error']);
});

test('a result filter queries each outcome it consists of', () => {
  const asked = (address: string) => toRowQueries(readFilters(new URLSearchParams(address)), 0);
  assert.deepEqual(
    asked('outcome=failed').map(({ outcome }) => outcome),
    ['error', 'cut', 'lost'],
  );
  assert.deepEqual(
    asked('outcome=cancelled').map(({ outcome }) => outcome),
    ['aborted'],
  );
  assert.equal(asked('').length, 1);
});

test('an error code filter that is an HTTP status is queried as a status', () => {
  const asked = (address: string) => toQuery(readFilters(new URLSearchParams(address)), 0);
  assert.deepEqual([asked('code=503').status, asked('code=503').code], ['503', undefined]);
  assert.deepEqual([asked('code=timeout').status, asked('code=timeout').code], [undefined, 'timeout']);
});

test('duration, cost and tag filter rows only, not charts, and such rows cannot be followed live', () => {
  const filters = readFilters(new URLSearchParams('minDurationMs=500&minCost=0.05&tag=team:search&key=dev'));
  const { minDurationMs, minCost, tag } = toQuery(filters, 0);
  assert.deepEqual([minDurationMs, minCost, tag], ['500', '0.05', 'team:search']);
  assert.deepEqual(chartsLack(filters), ['minDurationMs', 'minCost', 'tag']);
  assert.equal('minCost' in toSeriesQuery(filters, 0), false);
  const each = (check: typeof isOneQuery) =>
    ['', 'outcome=refused', 'outcome=failed', 'code=timeout', 'tag=a:b'].map((address) =>
      check(readFilters(new URLSearchParams(address))),
    );
  assert.deepEqual(each(isOneQuery), [true, true, false, true, true]);
  assert.deepEqual(each(canBeFollowed), [true, true, false, false, false]);
});

test('a time range without an end ends now, and a search for a request ID has no start time', () => {
  const nowMs = Date.UTC(2026, 10, 21, 12);
  const filters = readFilters(new URLSearchParams('from=2026-11-20T00:00:00Z'));
  assert.deepEqual(spanOf(filters, nowMs), { fromMs: Date.UTC(2026, 10, 20), toMs: nowMs });
  assert.equal('from' in toQuery(readFilters(new URLSearchParams('q=abcd')), nowMs), false);
});
