import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAddress, withParameters } from '../../parts/api/asking.ts';
import { isNarrowed, mayBeOwnId, noFilters, readFilters, toParameters, toQuery, toSumsQuery } from './filters.ts';

test('what an address says is read and written again without a loss, and other things in it stay', () => {
  const address = 'view=usage&range=24h&q=abc&model=BAAI%2Fbge-m3&status=502&before=cursor';
  const filters = readFilters(new URLSearchParams(address));
  assert.deepEqual(filters.values, { model: 'BAAI/bge-m3', status: '502' });
  const written = withParameters(new URLSearchParams(address), toParameters(filters));
  assert.deepEqual(readFilters(written), filters);
  assert.deepEqual([written.get('view'), written.get('before')], ['usage', null]);
});

test('a preset and own ends exclude each other, and what is no time is none', () => {
  const both = readFilters(new URLSearchParams('range=1h&from=2026-11-20T00:00:00Z'));
  assert.deepEqual([both.range, both.from], ['1h', undefined]);
  const wrong = readFilters(new URLSearchParams('range=constructor&from=soon&to=1960-01-01'));
  assert.deepEqual([wrong.range, wrong.from, wrong.to], [undefined, undefined, undefined]);
});

test('the query of the API has the beginning of a preset, and leaves out what sums do not know', () => {
  const filters = readFilters(new URLSearchParams('range=1h&key=dev&status=502'));
  const nowMs = Date.UTC(2026, 10, 21, 12);
  const address = toAddress('GET /api/ledger', { query: toQuery(filters, nowMs) });
  assert.equal(address, '/api/ledger?from=2026-11-21T11%3A00%3A00.000Z&key=dev&status=502');
  assert.equal('status' in toSumsQuery(filters, nowMs), false);
});

test('it is told whether anything is narrowed', () => {
  assert.equal(isNarrowed(noFilters), false);
  for (const address of ['range=1h', 'from=2026-11-20T00:00:00Z', 'q=x', 'key=dev']) {
    assert.equal(isNarrowed(readFilters(new URLSearchParams(address))), true, address);
  }
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
