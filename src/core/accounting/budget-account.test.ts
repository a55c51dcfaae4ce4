import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { budgetOf, holderOf } from '../../../test/support/stores/budget-nodes.ts';
import { budgetPeriods } from '../caps.ts';
import { toAccount } from './budget-account.ts';

const of = (period: (typeof budgetPeriods)[number], at: string) => {
  const { id, startsAtMs, endsAtMs } = toAccount(holderOf([]), budgetOf(1, period), Date.parse(at));
  return [id, new Date(startsAtMs).toISOString(), Number.isFinite(endsAtMs) ? new Date(endsAtMs).toISOString() : null];
};

test('budget periods begin at midnight UTC: of the day, of Monday, of the first of the month', () => {
  assert.deepEqual(of('day', '2026-11-21T23:59:59.999Z'), [
    'key/dev/day/2026-11-21',
    '2026-11-21T00:00:00.000Z',
    '2026-11-22T00:00:00.000Z',
  ]);
  assert.deepEqual(of('week', '2026-11-22T23:59:59.999Z'), [
    'key/dev/week/2026-11-16',
    '2026-11-16T00:00:00.000Z',
    '2026-11-23T00:00:00.000Z',
  ]);
  assert.equal(of('week', '2026-11-23T00:00:00.000Z')[0], 'key/dev/week/2026-11-23');
  assert.deepEqual(of('month', '2026-12-31T12:00:00.000Z'), [
    'key/dev/month/2026-12-01',
    '2026-12-01T00:00:00.000Z',
    '2027-01-01T00:00:00.000Z',
  ]);
  assert.deepEqual(of('month', '2028-02-29T12:00:00.000Z').slice(1), [
    '2028-02-01T00:00:00.000Z',
    '2028-03-01T00:00:00.000Z',
  ]);
  assert.deepEqual(of('total', '2026-11-21T12:00:00.000Z'), [
    'key/dev/total/1970-01-01',
    '1970-01-01T00:00:00.000Z',
    null,
  ]);
});

test('every moment belongs to exactly one budget period of each kind, and periods follow without a gap', () => {
  const moments = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) });
  fc.assert(
    fc.property(moments, fc.constantFrom('day', 'week', 'month'), (nowMs, period) => {
      const now = toAccount(holderOf([]), budgetOf(1, period), nowMs);
      assert.ok(now.startsAtMs <= nowMs && nowMs < now.endsAtMs);
      assert.equal(toAccount(holderOf([]), budgetOf(1, period), now.startsAtMs).id, now.id);
      assert.equal(toAccount(holderOf([]), budgetOf(1, period), now.endsAtMs - 1).id, now.id);
      assert.equal(toAccount(holderOf([]), budgetOf(1, period), now.endsAtMs).startsAtMs, now.endsAtMs);
      assert.equal(new Date(now.startsAtMs).getUTCDay() === 1 || period !== 'week', true);
    }),
  );
});

test('keys, projects or models with different IDs never share a budget account, whatever the IDs contain', () => {
  const id = fc.string({ unit: fc.constantFrom('a', '/', '%', '2', 'F', ' ', '無', '\u0000'), maxLength: 6 });
  fc.assert(
    fc.property(id, id, fc.constantFrom(...budgetPeriods), (one, other, period) => {
      const [first, second] = [one, other].map((each) =>
        toAccount(holderOf([], 'model', each), budgetOf(1, period), 0),
      );
      assert.equal(first?.id === second?.id, one === other);
      assert.equal(first?.id.split('/').length, 4);
    }),
  );
  assert.equal(toAccount(holderOf([], 'key', '\ud800'), budgetOf(1), 0).id, 'key/%EF%BF%BD/day/1970-01-01');
});
