import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCaps } from '../../../core/caps.ts';
import { describeCaps } from '../caps.ts';
import { parseKeyChange, parseNewKeyTerms, parseOverlap } from './judge.ts';

const nowMs = Date.UTC(2026, 10, 21);

test('the expiry of a key may be a duration, a date, or a time with its zone', () => {
  const endOf = (expires: string) => parseNewKeyTerms({ name: 'a', expires }, { nowMs }).terms?.expiresAtMs;
  assert.equal(endOf(' 90m '), nowMs + 90 * 60_000);
  assert.equal(endOf('2027-01-01'), Date.UTC(2027, 0, 1));
  assert.equal(endOf('2027-01-01T12:00:00+02:00'), Date.UTC(2027, 0, 1, 10));
  for (const bad of ['0s', '9999999999d', '2026-11-21', '2027-02-30', 'never']) {
    const { faults } = parseNewKeyTerms({ name: 'a', expires: bad }, { nowMs });
    assert.deepEqual(
      faults?.map(({ path }) => path),
      ['expires'],
      bad,
    );
  }
});

test('a setting of null in a new key means its default', () => {
  const { terms } = parseNewKeyTerms(
    { name: 'a', models: null, limits: null, budgets: null, capture: null },
    { nowMs },
  );
  assert.deepEqual(terms?.models, ['*']);
  assert.deepEqual(terms?.caps, noCaps);
});

test('a new key that is no mapping gets a single fault with an empty path', () => {
  for (const document of [null, [], 'text', 7]) {
    assert.deepEqual(
      parseNewKeyTerms(document, { nowMs }).faults?.map(({ path }) => path),
      [''],
    );
  }
});

test("duplicates in a list of a key's settings are removed", () => {
  const { terms } = parseNewKeyTerms({ name: 'a', models: ['m', 'm'], operations: ['rerank', 'rerank'] }, { nowMs });
  assert.deepEqual([terms?.models, terms?.operations], [['m'], ['rerank']]);
});

test("changing a key's limits keeps its budgets, and changing budgets keeps the limits", () => {
  const { terms } = parseNewKeyTerms(
    { name: 'a', limits: { concurrency: 3 }, budgets: [{ every: 'day', amount: '1.5', alerts: ['50%'] }] },
    { nowMs },
  );
  const caps = terms?.caps ?? noCaps;
  const limited = parseKeyChange({ limits: { requests_per_day: 7 } }, { caps }, { nowMs }).terms?.caps ?? noCaps;
  assert.deepEqual(describeCaps(limited), { ...describeCaps(caps), limits: { requests_per_day: 7 } });
  const freed = parseKeyChange({ budgets: null }, { caps }, { nowMs }).terms?.caps ?? noCaps;
  assert.deepEqual(describeCaps(freed), { limits: { concurrency: 3 }, budgets: [] });
  assert.deepEqual(parseKeyChange({ name: 'b' }, { caps }, { nowMs }).terms, { name: 'b' });
});

test('a change of a key may not set an expiry in the past, and keeps the expiry if it sets none', () => {
  assert.deepEqual(parseKeyChange({ name: 'b' }, { caps: noCaps }, { nowMs }).terms, { name: 'b' });
  assert.equal(parseKeyChange({ expires: '2020-01-01' }, { caps: noCaps }, { nowMs }).faults?.length, 1);
});

test('the overlap of a rotated secret is up to a year, or none', () => {
  assert.equal(parseOverlap('0s'), 0);
  assert.equal(parseOverlap('365d'), 365 * 86_400_000);
  for (const bad of ['366d', '1', '', '-1h']) assert.equal(typeof parseOverlap(bad), 'object', bad);
});
