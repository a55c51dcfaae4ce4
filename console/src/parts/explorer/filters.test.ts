import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAddress, withParameters } from '../api/asking.ts';
import {
  isNarrowed,
  isOneQuery,
  mayBeOwnId,
  noFilters,
  readFilters,
  spanOf,
  toParameters,
  toQuery,
  toRowQuery,
  toSeriesQuery,
} from './filters.ts';

test('what an address says is read and written again without a loss, and other things in it stay', () => {
  const address = 'view=cost&range=7d&q=abc&model=BAAI%2Fbge-m3&status=502&before=cursor';
  const filters = readFilters(new URLSearchParams(address));
  assert.deepEqual(filters.values, { model: 'BAAI/bge-m3', status: '502' });
  const written = withParameters(new URLSearchParams(address), toParameters(filters));
  assert.deepEqual(readFilters(written), filters);
  assert.deepEqual([written.get('view'), written.get('before')], ['cost', null]);
});

test('a preset and own ends exclude each other, and what is no time is none', () => {
  const both = readFilters(new URLSearchParams('range=1h&from=2026-11-20T00:00:00Z'));
  assert.deepEqual([both.range, both.from], ['1h', undefined]);
  const wrong = readFilters(new URLSearchParams('range=constructor&from=soon&to=1960-01-01'));
  assert.deepEqual([wrong.range, wrong.from, wrong.to], ['24h', undefined, undefined]);
});

test('the query of the API has the beginning of a preset, and leaves out what series do not know', () => {
  const filters = readFilters(new URLSearchParams('range=1h&key=dev&status=502'));
  const nowMs = Date.UTC(2026, 10, 21, 12);
  const address = toAddress('GET /api/ledger', { query: toQuery(filters, nowMs) });
  assert.equal(address, '/api/ledger?from=2026-11-21T11%3A00%3A00.000Z&key=dev&status=502');
  assert.equal('status' in toSeriesQuery(filters, nowMs), false);
});

test('it is told whether anything is narrowed', () => {
  assert.equal(isNarrowed(noFilters), false);
  const isNarrow = (address: string): boolean => isNarrowed(readFilters(new URLSearchParams(address)));
  assert.deepEqual(['q=x', 'key=dev', 'range=1h'].map(isNarrow), [true, true, false]);
});

test('hex digits may be an ID of ours, whatever else is the client’s', () => {
  for (const text of ['019a', '0'.repeat(32), 'ABCD']) assert.equal(mayBeOwnId(text), true, text);
  for (const text of ['abc', '0'.repeat(33), 'my-request', '']) assert.equal(mayBeOwnId(text), false, text);
});

test('a word of the address that no request can have is not asked for', () => {
  const filters = readFilters(new URLSearchParams('operation=talk&outcome=error'));
  const { operation, outcome } = toQuery(filters, 0);
  assert.deepEqual([operation, outcome], [undefined, 'error']);
});

test('a result asks for the rows of each outcome that it is made of', () => {
  const asked = (address: string) => toRowQuery(readFilters(new URLSearchParams(address)), 0);
  assert.deepEqual(
    asked('outcome=failed').queries.map(({ outcome }) => outcome),
    ['error', 'cut', 'lost'],
  );
  assert.deepEqual(
    asked('outcome=cancelled').queries.map(({ outcome }) => outcome),
    ['aborted'],
  );
  assert.equal(asked('').queries.length, 1);
});

test('an error code that is a status is asked for as one; others are told apart in what comes', () => {
  const asked = (address: string) => toRowQuery(readFilters(new URLSearchParams(address)), 0);
  assert.deepEqual([asked('code=503').queries[0]?.status, asked('code=503').code], ['503', undefined]);
  assert.deepEqual([asked('code=timeout').queries[0]?.status, asked('code=timeout').code], [undefined, 'timeout']);
  const isOne = (address: string): boolean => isOneQuery(readFilters(new URLSearchParams(address)));
  assert.deepEqual(['', 'outcome=refused', 'outcome=failed', 'code=timeout'].map(isOne), [true, true, false, false]);
});

test('an open end is now, and an ID is looked for at any time', () => {
  const nowMs = Date.UTC(2026, 10, 21, 12);
  const filters = readFilters(new URLSearchParams('from=2026-11-20T00:00:00Z'));
  assert.deepEqual(spanOf(filters, nowMs), { fromMs: Date.UTC(2026, 10, 20), toMs: nowMs });
  assert.equal('from' in toQuery(readFilters(new URLSearchParams('q=abcd')), nowMs), false);
});
