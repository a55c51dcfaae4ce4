/** The overview over imported rows, compared with the store's own sums. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openAdmin } from '../../../test/support/console/admin.ts';
import { imported } from '../../../test/support/ledger/ledger-rows.ts';
import type { ImportedRow } from '../../core/store/ledger.ts';
import type { Store } from '../../core/store/store.ts';
import { toDollars } from '../../lib/money.ts';
import { createRecently } from '../recently.ts';
import { readOverview, toStretch } from './overview.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** In the middle of an hour. */
const nowMs = Date.UTC(2026, 10, 21, 14, 30);
const query = { range: '24h', by: 'model', order: 'requests' } as const;

let segment = 0;
async function fill(store: Store, rows: readonly ImportedRow[]): Promise<void> {
  segment += 1;
  await store.ledger.import('j', rows, { segment, offset: 1 });
}

describe('the overview', () => {
  test("agrees with the ledger's sums in every bucket, in the list and in total", async (t) => {
    const { store } = await openAdmin(t);
    const rows = Array.from({ length: 400 }, (_, at) =>
      imported({
        startedAtMs: nowMs - at * 5 * minuteMs,
        model: `m-${at % 14}`,
        outcome: at % 7 === 0 ? 'error' : 'ok',
        costNanos: at % 5 === 0 ? null : at * 1_000,
      }),
    );
    await fill(store, rows);
    const found = await readOverview(store.ledger, query, nowMs);
    const { fromMs } = toStretch('24h', nowMs);
    const [all] = await store.ledger.usage({ fromMs }, []);
    assert.equal(found.total.requests, all?.sums.requests);
    assert.equal(found.total.errors, all?.sums.errors);
    assert.equal(found.total.cost, toDollars(all?.sums.costNanos ?? 0n));
    assert.equal(found.total.unpriced, all?.sums.unpriced);
    assert.equal(found.buckets.length, 24);
    const byHour = await store.ledger.usage({ fromMs }, ['hour']);
    for (const { by, sums } of byHour) {
      const bucket = found.buckets.find(({ at }) => Date.parse(at) === Date.parse(by.hour ?? ''));
      assert.deepEqual([bucket?.requests, bucket?.cost], [sums.requests, toDollars(sums.costNanos)], by.hour ?? '');
    }
    assert.equal(found.top.length, 10);
    assert.equal(found.others?.count, 4);
    const listed = found.top.reduce((sum, { requests }) => sum + requests, found.others?.requests ?? 0);
    assert.equal(listed, found.total.requests);
  });

  test('sorts by requests, errors or cost, and filters', async (t) => {
    const { store } = await openAdmin(t);
    await fill(store, [
      imported({ startedAtMs: nowMs, model: 'often', costNanos: 1 }),
      imported({ startedAtMs: nowMs, model: 'often', costNanos: 1 }),
      imported({ startedAtMs: nowMs, model: 'dear', costNanos: 5_000_000_000, key: 'other' }),
      imported({ startedAtMs: nowMs, model: 'failing', costNanos: 0, outcome: 'error' }),
    ]);
    const first = async (more: object) => (await readOverview(store.ledger, { ...query, ...more }, nowMs)).top[0]?.id;
    assert.equal(await first({}), 'often');
    assert.equal(await first({ order: 'cost' }), 'dear');
    assert.equal(await first({ order: 'errors' }), 'failing');
    assert.equal(await first({ key: 'other' }), 'dear');
    assert.equal(await first({ by: 'project' }), null);
  });

  test('compares full hours with the same hours before, and leaves out the running hour', async (t) => {
    const { store } = await openAdmin(t);
    const at = (ms: number) => imported({ startedAtMs: ms });
    await fill(store, [
      at(nowMs),
      at(nowMs - 2 * hourMs),
      at(nowMs - dayMs),
      at(nowMs - dayMs - 2 * hourMs),
      at(nowMs - dayMs - 3 * hourMs),
    ]);
    const { comparison, total } = await readOverview(store.ledger, query, nowMs);
    assert.equal(total.requests, 2);
    assert.deepEqual([comparison?.now.requests, comparison?.before.requests], [1, 2]);
  });

  test('shows the last hour by minute from its rows, and by hour if there are too many', async (t) => {
    const { store } = await openAdmin(t);
    const rows = Array.from({ length: 30 }, (_, at) => imported({ startedAtMs: nowMs - at * minuteMs - 1 }));
    await fill(store, [...rows, imported({ startedAtMs: nowMs - 61 * minuteMs })]);
    const few = await readOverview(store.ledger, { ...query, range: '1h' }, nowMs);
    assert.equal(few.bucket, 'minute');
    assert.equal(few.total.requests, 30);
    assert.ok(few.buckets.length >= 60);
    assert.deepEqual([few.latency?.rows, few.latency?.isAll], [30, true]);

    const many = Array.from({ length: 2_500 }, (_, at) => imported({ startedAtMs: nowMs - at - 1 }));
    await fill(store, many);
    const busy = await readOverview(store.ledger, { ...query, range: '1h' }, nowMs);
    assert.equal(busy.bucket, 'hour');
    assert.equal(busy.total.requests, 2_531);
    assert.deepEqual([busy.latency?.rows, busy.latency?.isAll], [1_000, false]);
  });

  test('an unused gateway has every bucket, all empty', async (t) => {
    const { store } = await openAdmin(t);
    for (const [range, count] of [
      ['24h', 24],
      ['7d', 6 * 24 + 15],
      ['30d', 30],
    ] as const) {
      const found = await readOverview(store.ledger, { ...query, range }, nowMs);
      assert.equal(found.buckets.length, count, range);
      assert.deepEqual([found.total.requests, found.latency, found.others, found.top], [0, null, null, []]);
    }
  });

  test("the overview's percentiles are computed from the newest rows", async (t) => {
    const { store } = await openAdmin(t);
    await fill(
      store,
      Array.from({ length: 100 }, (_, at) =>
        imported({ startedAtMs: nowMs - at, durationMs: at + 1, firstByteMs: null }),
      ),
    );
    const { latency } = await readOverview(store.ledger, query, nowMs);
    assert.deepEqual(latency?.duration, { p50: 50, p95: 95, p99: 99 });
    assert.equal(latency?.firstByte, null);
  });
});

test('a recent result is reused, unless it failed', async () => {
  let atMs = 0;
  let asked = 0;
  const gateway = { series: {}, clock: { monotonicMs: () => atMs } };
  const recently = createRecently(1_000);
  const ask = async () => (asked += 1);
  assert.deepEqual(await Promise.all([recently(gateway, 'a', ask), recently(gateway, 'a', ask)]), [1, 1]);
  assert.equal(await recently(gateway, 'b', ask), 2);
  atMs = 1_000;
  assert.equal(await recently(gateway, 'a', ask), 3);
  await assert.rejects(recently(gateway, 'c', () => Promise.reject(new Error('away'))));
  assert.equal(await recently(gateway, 'c', ask), 4);
});
