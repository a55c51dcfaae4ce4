/** Conformance tests of every store: reading the ledger, pages and usage. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { LedgerFilter, LedgerStore, UsageGroup } from '../../../src/core/store/ledger.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { hostileTexts, toStored } from '../json/hostile-texts.ts';
import { imported, ledgerRow, rowId, rowOfText, spreadRows } from '../ledger/ledger-rows.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { OpenStore } from './store-conformance.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Midnight. */
const startMs = Date.UTC(2027, 0, 1);
const somewhere = { segment: 1, offset: 100 };

async function open(t: TestContext, openStore: OpenStore): Promise<Store> {
  return openStore(t, createFakeClock());
}

const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

async function readAll(ledger: LedgerStore, filter: LedgerFilter, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await ledger.page(filter, { before, limit });
    found.push(...ids(page.rows));
    before = page.next;
    if (before === undefined) return found;
  }
}

export function describeLedgerReading(openStore: OpenStore): void {
  describe('pages', () => {
    test('ledger pages go from newest to oldest row, each once, even if rows are added meanwhile', async (t) => {
      const { ledger } = await open(t, openStore);
      const rows = Array.from({ length: 25 }, (_, n) => imported({ startedAtMs: startMs + n }));
      await ledger.import('j', rows.toReversed(), somewhere);
      const expected = ids(rows.map(({ row }) => row)).toReversed();
      assert.deepEqual(await readAll(ledger, {}, 10), expected);
      assert.deepEqual(await readAll(ledger, {}, 25), expected);
      assert.deepEqual(await readAll(ledger, {}, 1_000), expected);

      const first = await ledger.page({}, { limit: 10 });
      await ledger.import('j', [imported({ startedAtMs: startMs + 100 })], somewhere);
      const second = await ledger.page({}, { before: first.next, limit: 1_000 });
      assert.deepEqual(ids(second.rows), expected.slice(10));
      assert.equal(second.next, undefined);
    });

    test('ledger pages can be filtered by each field, alone and combined', async (t) => {
      const { ledger } = await open(t, openStore);
      const [a, b, c, d] = [
        ledgerRow({ startedAtMs: startMs, key: 'a', project: 'p', model: 'm', upstream: 'u' }),
        ledgerRow({ startedAtMs: startMs + 1, key: 'a', operation: 'rerank', outcome: 'error', status: 502 }),
        ledgerRow({
          startedAtMs: startMs + 2,
          key: 'b',
          model: null,
          upstream: null,
          outcome: 'refused',
          status: 429,
        }),
        ledgerRow({ startedAtMs: startMs + 3, key: 'b', project: 'p', status: 201 }),
      ];
      await ledger.import(
        'j',
        [a, b, c, d].map((row) => ({ row, accounts: [] })),
        somewhere,
      );
      const find = async (filter: LedgerFilter) => ids((await ledger.page(filter, { limit: 10 })).rows);
      assert.deepEqual(await find({ key: 'a' }), ids([b, a]));
      assert.deepEqual(await find({ project: 'p' }), ids([d, a]));
      assert.deepEqual(await find({ project: '' }), ids([c, b]));
      assert.deepEqual(await find({ model: 'm' }), [a.id]);
      assert.deepEqual(await find({ model: '' }), [c.id]);
      assert.deepEqual(await find({ upstream: 'u' }), [a.id]);
      assert.deepEqual(await find({ operation: 'rerank' }), [b.id]);
      assert.deepEqual(await find({ outcome: 'ok' }), ids([d, a]));
      assert.deepEqual(await find({ outcome: 'refused' }), [c.id]);
      assert.deepEqual(await find({ status: 200 }), [a.id]);
      assert.deepEqual(await find({ status: 502 }), [b.id]);
      assert.deepEqual(await find({ status: 201.5 }), []);
      assert.deepEqual(await find({ fromMs: startMs + 1, toMs: startMs + 3 }), ids([c, b]));
      assert.deepEqual(await find({ fromMs: startMs + 0.5 }), ids([d, c, b]));
      assert.deepEqual(await find({ fromMs: -1e20, toMs: 1e20 }), ids([d, c, b, a]));
      assert.deepEqual(await find({ key: 'b', project: 'p', status: 201, toMs: startMs + 4 }), [d.id]);
      assert.deepEqual(await find({ key: 'a', outcome: 'refused' }), []);
    });

    test('ledger pages together have all matching rows, for any filters and any import order', async (t) => {
      const { ledger } = await open(t, openStore);
      // One in 400 ms, and then one in an hour: many in a stretch of time, and stretches with one.
      const many = {
        rows: 300,
        fromMs: startMs,
        toMs: startMs + 120_000,
        keys: 5,
        projects: 2,
        models: 4,
        upstreams: 3,
      };
      const few = { ...many, rows: 60, fromMs: startMs + hourMs, toMs: startMs + 60 * hourMs, seed: 2 };
      const rows = [...spreadRows(many), ...spreadRows(few)].map((row, n) => ({
        ...row,
        id: rowId(row.startedAtMs, n),
      }));
      for (let part = 0; part < 7; part++) {
        const of = rows.filter((_, n) => n % 7 === part).map((row) => ({ row, accounts: [] }));
        await ledger.import('j', of, somewhere);
      }
      const [{ key, operation, ...first } = ledgerRow()] = rows;
      const [project, model] = [first.project ?? '', first.model ?? ''];
      const filters: LedgerFilter[] = [
        ...[{ key }, { project }, { model }, { upstream: 'upstream-1' }, { upstream: '' }, { operation }],
        ...[{ outcome: 'error' as const }, { outcome: 'ok' as const }, { status: 200 }, { status: 429 }],
        ...[
          { key, outcome: 'error' as const },
          { key, model, status: 200 },
          { upstream: '', status: 429 },
        ],
        ...[
          { key, fromMs: startMs + 30_000, toMs: startMs + 90_000 },
          { model, toMs: startMs + 60_001 },
        ],
      ];
      for (const filter of filters) {
        const { fromMs = 0, toMs = Number.POSITIVE_INFINITY, ...others } = filter;
        const expected = rows
          .filter((row) => row.startedAtMs >= fromMs && row.startedAtMs < toMs)
          .filter((row) =>
            Object.entries(others).every(([name, value]) => (row[name as keyof typeof row] ?? '') === value),
          );
        assert.ok(expected.length > 0, JSON.stringify(filter));
        assert.deepEqual(await readAll(ledger, filter, 7), ids(expected).toReversed(), JSON.stringify(filter));
      }
    });

    test('ledger pages find all rows with an error code, cache result, duration, cost or key, after any roll-up', async (t) => {
      const clock = createFakeClock(startMs);
      const { ledger, series } = await openStore(t, clock);
      const spread = { fromMs: startMs, toMs: startMs + 60 * hourMs, keys: 5, projects: 2, models: 4, upstreams: 3 };
      const rows = [...spreadRows({ ...spread, rows: 400 })].map((row, n) => ({
        ...row,
        id: rowId(row.startedAtMs, n),
        cache: n % 90 === 7 ? 'hit' : null,
        ...(n % 130 === 9 && { outcome: 'lost' as const, error: 'crashed', durationMs: 700_000 }),
      }));
      const [late, ...inTime] = rows.map((row) => ({ row, accounts: [] }));
      assert.ok(late);
      await ledger.import('j', inTime, somewhere);
      const key = rows[3]?.key ?? '';
      const filters: LedgerFilter[] = [
        ...[{ error: 'some_error' }, { error: 'crashed' }, { cache: 'hit' }, { error: 'none' }, { keys: [] }],
        ...[{ keys: [key, 'unknown'] }, { minDurationMs: 600 }, { minDurationMs: 600_000 }, { minCostNanos: 39_000 }],
        ...[
          { minCostNanos: 0, cache: 'hit' },
          { error: 'some_error', outcome: 'error' as const, model: 'model-1' },
        ],
        { keys: [key], minDurationMs: 100, fromMs: startMs + 3_000_000, toMs: startMs + 20 * hourMs + 1 },
      ];
      const check = async (when: string): Promise<void> => {
        for (const filter of filters) {
          const {
            fromMs = 0,
            toMs = Number.POSITIVE_INFINITY,
            keys,
            minDurationMs = 0,
            minCostNanos,
            ...others
          } = filter;
          const expected = rows
            .filter(
              ({ startedAtMs, durationMs }) =>
                startedAtMs >= fromMs && startedAtMs < toMs && durationMs >= minDurationMs,
            )
            .filter((row) => keys === undefined || keys.includes(row.key))
            .filter(({ costNanos }) => minCostNanos === undefined || (costNanos !== null && costNanos >= minCostNanos))
            .filter((row) => Object.entries(others).every(([name, value]) => row[name as keyof typeof row] === value));
          const found = await readAll(ledger, filter, 17);
          assert.deepEqual(found, ids(expected).toReversed(), `${when}: ${JSON.stringify(filter)}`);
        }
      };
      const tend = async (): Promise<void> => {
        while (await series.tend(400 * dayMs, clock.nowMs()));
      };
      clock.advance(56 * hourMs + 10_000);
      await tend();
      await ledger.import('j', [late], somewhere);
      await check('rolled up in part');
      clock.advance(10 * hourMs);
      await tend();
      await check('rolled up into days');
      clock.advance(100 * dayMs);
      await tend();
      await check('without hours');
    });

    test('a page filtered by cost may end before its limit, and the next page continues the search', async (t) => {
      const { ledger } = await open(t, openStore);
      const cheap = Array.from({ length: 120 }, (_, n) =>
        imported({ startedAtMs: startMs + Math.floor(n / 2) * hourMs + (n % 2), costNanos: 600 }),
      );
      const dear = imported({ startedAtMs: startMs - 1, costNanos: 1_000 });
      await ledger.import('j', [...cheap, dear], somewhere);
      const first = await ledger.page({ minCostNanos: 1_000 }, { limit: 10 });
      assert.deepEqual(first.rows, []);
      assert.notEqual(first.next, undefined);
      assert.deepEqual(await readAll(ledger, { minCostNanos: 1_000 }, 10), [dear.row.id]);
    });

    test('the last use of a key is the hour of its last request, or the day of an older one', async (t) => {
      const { ledger } = await open(t, openStore);
      const at = (key: string, startedAtMs: number) => imported({ key, startedAtMs });
      const [twice, early] = [at('twice', startMs + 7 * hourMs + 5), at('early', startMs + 5)];
      await ledger.import('j', [at('twice', startMs + hourMs), twice, early], somewhere);
      const used = await ledger.lastUse(startMs + 3 * hourMs);
      assert.deepEqual(
        [used.get('twice'), used.get('early'), used.get('never')],
        [startMs + 7 * hourMs, startMs, undefined],
      );
    });

    test('rows of one of many keys are found: more than a statement has parameters', async (t) => {
      const { ledger } = await open(t, openStore);
      const wanted = imported({ key: 'it\'s "wanted"' });
      await ledger.import('j', [wanted, imported({ key: 'other' })], somewhere);
      const keys = [...Array.from({ length: 70_000 }, (_, n) => `key-${n}`), wanted.row.key];
      assert.deepEqual(ids((await ledger.page({ keys }, { limit: 10 })).rows), [wanted.row.id]);
    });

    test('invalid cursors and pages of length zero are refused', async (t) => {
      const { ledger } = await open(t, openStore);
      for (const before of ['', 'x', rowId(startMs, 1).toUpperCase(), `${rowId(startMs, 1)} `, "' OR ''='", 'a\0']) {
        await assert.rejects(ledger.page({}, { before, limit: 1 }), {
          name: 'RangeError',
          message: /"before" is no cursor/,
        });
      }
      for (const limit of [0, -1, 1.5, 1_001, Number.NaN, Number.POSITIVE_INFINITY]) {
        await assert.rejects(ledger.page({}, { limit }), { name: 'RangeError', message: /"limit" is .*1 to 1000/ });
      }
    });

    test('hostile text is data in every field and filter', async (t) => {
      const { ledger } = await open(t, openStore);
      const rows = hostileTexts.map((text, n) => {
        const units = { images: 1, serviceTier: text, toolCalls: { [text]: 2 } };
        return ledgerRow({ ...rowOfText(text), units, startedAtMs: startMs + n });
      });
      const added = await ledger.import(
        '"j\'; --',
        rows.map((row) => ({ row, accounts: [row.key] })),
        somewhere,
      );
      assert.equal(added, rows.length);
      assert.deepEqual(await ledger.position('"j\'; --'), somewhere);
      for (const row of rows) {
        const kept = await ledger.get(row.id);
        assert.equal(kept?.error, toStored(row.error ?? ''));
        for (const filter of [{ key: row.key }, { project: row.key }, { model: row.key }, { upstream: row.key }]) {
          assert.deepEqual(ids((await ledger.page(filter, { limit: 5 })).rows), [row.id], JSON.stringify(row.key));
          const [line, ...others] = await ledger.usage(filter, ['key', 'project', 'model', 'upstream', 'route']);
          assert.equal(line?.sums.requests, 1);
          assert.equal(line?.by.key, kept?.key);
          assert.deepEqual(others, []);
          const [counted] = await ledger.unitUsage(filter, ['key']);
          assert.deepEqual([counted?.by.key, counted?.units.images], [kept?.key, 1]);
        }
        const unknown = { operation: row.key, outcome: row.key } as unknown as LedgerFilter;
        assert.deepEqual((await ledger.page(unknown, { limit: 5 })).rows, []);
        assert.deepEqual(await ledger.usage(unknown, ['key']), []);
        assert.equal(await ledger.get(row.key), undefined);
        assert.equal(await ledger.capture(row.key), undefined);
      }
      assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);
    });
  });

  describe('usage', () => {
    test('adds up rows by the requested groups', async (t) => {
      const { ledger } = await open(t, openStore);
      await ledger.import(
        'j',
        [
          imported({
            key: 'a',
            project: 'p',
            billedInputTokens: 5,
            billedOutputTokens: 2,
            items: 3,
            durationMs: 1.5,
          }),
          imported({ key: 'a', outcome: 'error', billedSearchUnits: 4, isEstimated: true, durationMs: 2 }),
          imported({ key: 'b', costNanos: null, requestBytes: 1, responseBytes: 2 }),
          imported({ key: 'b', outcome: 'refused', billedInputTokens: null, costNanos: null }),
          imported({ key: 'b', outcome: 'lost', billedInputTokens: null, costNanos: null, isEstimated: true }),
        ],
        somewhere,
      );
      const lines = await ledger.usage({}, ['key']);
      assert.deepEqual(
        lines.map(({ by }) => by),
        [{ key: 'a' }, { key: 'b' }],
      );
      assert.deepEqual(lines[0]?.sums, {
        ...{ requests: 2, errors: 1, inputTokens: 15, outputTokens: 2, searchUnits: 4, items: 4, costNanos: 2_000n },
        ...{ unpriced: 0, estimated: 1, requestBytes: 200, responseBytes: 4_000, durationMs: 3.5 },
      });
      const { requests, errors, costNanos, unpriced, estimated, requestBytes } = lines[1]?.sums ?? {};
      // Nothing was sent for the one that was refused, so nothing is owed.
      assert.deepEqual([requests, errors, costNanos, unpriced, estimated, requestBytes], [3, 2, 0n, 2, 1, 201]);
      assert.deepEqual(
        (await ledger.usage({}, ['outcome', 'project'])).map(({ by, sums }) => [by.outcome, by.project, sums.requests]),
        [
          ['error', '', 1],
          ['lost', '', 1],
          ['ok', '', 1],
          ['ok', 'p', 1],
          ['refused', '', 1],
        ],
      );
      assert.deepEqual((await ledger.usage({}, []))[0]?.sums.requests, 5);
      assert.deepEqual((await ledger.usage({ key: 'a', outcome: 'ok' }, []))[0]?.sums.requests, 1);
      assert.deepEqual(await ledger.usage({ key: 'nobody' }, []), []);
      assert.deepEqual(await ledger.usage({ key: 'nobody' }, ['day']), []);
    });

    test('adds up other units by the requested groups, leaving out groups without any', async (t) => {
      const { ledger } = await open(t, openStore);
      const chat = { cacheWriteTokens: 7, reasoningTokens: 3, toolCalls: { web_search: 2 } };
      await ledger.import(
        'j',
        [
          imported({ key: 'a', units: { ...chat, serviceTier: 'flex' }, cachedTokens: 4 }),
          imported({ key: 'a', units: { reasoningTokens: 1, toolCalls: { web_search: 1, code: 5 } } }),
          imported({ key: 'a', startedAtMs: startMs + dayMs, units: { images: 2, seconds: 1.25 } }),
          imported({ key: 'b', project: 'p', units: { savedItems: 6, savedTokens: 60, savedNanos: 600 } }),
          imported({
            key: 'b',
            project: 'p',
            startedAtMs: startMs + hourMs,
            units: { savedItems: 1 },
            cachedTokens: 1,
          }),
          imported({ key: 'c', outcome: 'error', cachedTokens: 0 }),
        ],
        somewhere,
      );
      const tokens = {
        cachedTokens: 4,
        cacheWriteTokens: 7,
        reasoningTokens: 4,
        toolCalls: { web_search: 3, code: 5 },
      };
      const saved = { cachedTokens: 1, savedItems: 7, savedTokens: 60, savedNanos: 600 };
      const find = async (filter: LedgerFilter, by: readonly UsageGroup[]) =>
        new Map(
          (await ledger.unitUsage(filter, by)).map((line) => [by.map((name) => line.by[name]).join(' '), line.units]),
        );
      const made = { images: 2, seconds: 1.25 };
      assert.deepEqual(await find({}, []), new Map([['', { ...tokens, ...made, ...saved, cachedTokens: 5 }]]));
      assert.deepEqual(
        await find({}, ['key', 'project']),
        new Map<string, unknown>([
          ['a ', { ...tokens, ...made }],
          ['b p', saved],
        ]),
      );
      assert.deepEqual(
        await find({ key: 'a' }, ['day']),
        new Map<string, unknown>([
          ['2027-01-01', tokens],
          ['2027-01-02', made],
        ]),
      );
      // From the middle of a day on: that from the sums by hour, the next from those by day.
      assert.deepEqual(
        await find({ fromMs: startMs + hourMs, toMs: startMs + 2 * dayMs }, ['key']),
        new Map<string, unknown>([
          ['a', made],
          ['b', { cachedTokens: 1, savedItems: 1 }],
        ]),
      );
      assert.deepEqual(
        await find({ project: 'p' }, ['hour']),
        new Map<string, unknown>([
          ['2027-01-01T00:00Z', { savedItems: 6, savedTokens: 60, savedNanos: 600 }],
          ['2027-01-01T01:00Z', { cachedTokens: 1, savedItems: 1 }],
        ]),
      );
      assert.deepEqual(await find({ outcome: 'error' }, []), new Map());
      await assert.rejects(ledger.unitUsage({ status: 200 }, []), /"status" is not kept in the sums/);
      assert.deepEqual(await ledger.verify(0, startMs + 2 * dayMs), []);
    });

    test('days and hours are in UTC, and a span ends at full hours', async (t) => {
      const { ledger } = await open(t, openStore);
      const times = [startMs - 1, startMs, startMs + hourMs, startMs + dayMs - 1, startMs + dayMs, startMs + 3 * dayMs];
      await ledger.import(
        'j',
        times.map((startedAtMs) => imported({ startedAtMs })),
        somewhere,
      );
      const count = async (filter: LedgerFilter, by: 'day' | 'hour' = 'day') =>
        (await ledger.usage(filter, [by])).map(({ by: at, sums }) => `${at[by]} ${sums.requests}`);
      assert.deepEqual(await count({}), ['2026-12-31 1', '2027-01-01 3', '2027-01-02 1', '2027-01-04 1']);
      assert.deepEqual(await count({ fromMs: startMs, toMs: startMs + dayMs }, 'hour'), [
        '2027-01-01T00:00Z 1',
        '2027-01-01T01:00Z 1',
        '2027-01-01T23:00Z 1',
      ]);
      // Parts of two days and a whole one between them.
      assert.deepEqual(await count({ fromMs: startMs - 1, toMs: startMs + dayMs + 1 }), [
        '2026-12-31 1',
        '2027-01-01 3',
        '2027-01-02 1',
      ]);
      assert.deepEqual(await count({ fromMs: startMs + hourMs + 1, toMs: startMs + 2 * hourMs - 1 }), ['2027-01-01 1']);
      assert.deepEqual(await count({ fromMs: startMs + 2 * hourMs, toMs: startMs + 3 * hourMs }), []);
      assert.deepEqual(await count({ fromMs: startMs + dayMs }), ['2027-01-02 1', '2027-01-04 1']);
      assert.deepEqual(await count({ toMs: startMs }), ['2026-12-31 1']);
      assert.deepEqual(await count({ fromMs: -1e20, toMs: 1e20 }), await count({}));
      assert.deepEqual(await count({ fromMs: 1e20 }), []);
    });

    test("money is summed exactly beyond a number's precision", async (t) => {
      const { ledger } = await open(t, openStore);
      const costs = Array.from({ length: 40 }, (_, n) => 9_000_000_000_000_000 - n);
      await ledger.import(
        'j',
        costs.map((costNanos) => imported({ costNanos })),
        somewhere,
      );
      const sum = costs.reduce((total, cost) => total + BigInt(cost), 0n);
      assert.equal((await ledger.usage({}, ['hour']))[0]?.sums.costNanos, sum);
      assert.equal((await ledger.usage({}, ['day']))[0]?.sums.costNanos, sum);
      assert.equal((await ledger.usage({}, []))[0]?.sums.costNanos, sum);
      assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);
    });

    test('groups that sums do not have are refused', async (t) => {
      const { ledger } = await open(t, openStore);
      await assert.rejects(ledger.usage({ status: 200 }, []), {
        name: 'RangeError',
        message: /"status" is not kept/,
      });
    });
  });
}
