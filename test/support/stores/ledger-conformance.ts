/** Conformance tests of every store: ledger. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { BudgetAccount } from '../../../src/core/store/budgets.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { toStored } from '../json/hostile-texts.ts';
import { imported, ledgerRow, rowId, spreadRows } from '../ledger/ledger-rows.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { describeLedgerReading } from './ledger-reading-conformance.ts';
import type { OpenStore } from './store-conformance.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Midnight, an hour before what most tests have their rows at. */
const startMs = Date.UTC(2027, 0, 1);
const somewhere = { segment: 1, offset: 100 };

async function open(t: TestContext, openStore: OpenStore): Promise<Store> {
  return openStore(t, createFakeClock());
}

const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

function account(id: string): BudgetAccount {
  return { id, holderKind: 'key', holderId: 'dev', startsAtMs: startMs, endsAtMs: startMs + dayMs, nanos: 1_000_000 };
}

export function describeLedgerStore(name: string, openStore: OpenStore): void {
  describe(name, () => {
    describe('import', () => {
      test('a row is read as written', async (t) => {
        const { ledger } = await open(t, openStore);
        const plain = ledgerRow();
        const full = ledgerRow({
          clientRequestId: 'mine-1',
          project: 'search',
          attempts: 3,
          tries: [
            {
              upstream: 'a',
              model: 'm',
              credential: 'key 1',
              outcome: 'refused',
              detail: 429,
              startMs: 12.5,
              durationMs: 1.5,
              connectMs: 0.5,
            },
            {
              upstream: 'b',
              model: 'm',
              credential: undefined,
              outcome: 'unknown',
              detail: undefined,
              startMs: undefined,
              durationMs: 2,
              connectMs: undefined,
            },
          ],
          outcome: 'error',
          status: 502,
          error: 'upstream_unreachable',
          completionTokens: 4,
          searchUnits: 2,
          cachedTokens: 3,
          isEstimated: true,
          costNanos: 9_000_000_000_000_000,
          firstByteMs: null,
          upstreamMs: null,
          cache: 'miss',
          clientAddress: '::1',
          traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
          queueMs: 12.5,
          connectMs: 7.5,
          units: { audioInputTokens: 3, seconds: 1.25, toolCalls: { web_search: 2 }, serviceTier: 'flex' },
        });
        const empty = ledgerRow({
          ...{ model: null, upstream: null, upstreamModel: null, outcome: 'lost', status: 0, attempts: 0 },
          ...{ promptTokens: null, totalTokens: null, billedInputTokens: null, billedOutputTokens: null },
          ...{ billedSearchUnits: null, costNanos: null, durationMs: 0, firstByteMs: null, upstreamMs: null },
        });
        const rows = [plain, full, empty];
        assert.equal(
          await ledger.import(
            'j',
            rows.map((row) => ({ row, accounts: [] })),
            somewhere,
          ),
          3,
        );
        for (const row of rows) assert.deepEqual(await ledger.get(row.id), row);
        assert.equal(await ledger.get(rowId(startMs, 999_999_999)), undefined);
      });

      test('daily sums include every hour, current or past, and late rows', async (t) => {
        const clock = createFakeClock(startMs);
        const { ledger } = await openStore(t, clock);
        const units = { images: 2 };
        const beganMs = [0, hourMs, hourMs + 1, 0, 2 * hourMs, dayMs, 1, dayMs + hourMs].map((ms) => startMs + ms);
        const days = new Map<string, number>();
        for (const [index, startedAtMs] of beganMs.entries()) {
          clock.advance(Math.max(0, startedAtMs + 600_000 - clock.nowMs()));
          const key = `key-${index % 3}`;
          const outcome = index % 2 === 0 ? 'ok' : 'error';
          await ledger.import('j', [imported({ startedAtMs, key, units, outcome })], { segment: 1, offset: index });
          const day = startedAtMs < startMs + dayMs ? '2027-01-01' : '2027-01-02';
          days.set(day, (days.get(day) ?? 0) + 1);
          for (const by of [['day'], ['day', 'key'], ['day', 'outcome']] as const) {
            const counted = new Map<string, number>();
            for (const { by: at, sums } of await ledger.usage({}, by)) {
              counted.set(at.day ?? '', (counted.get(at.day ?? '') ?? 0) + sums.requests);
            }
            assert.deepEqual(counted, days);
          }
          const images = (await ledger.unitUsage({}, ['day'])).map((line) => [line.by.day, line.units.images]);
          assert.deepEqual(
            new Map(images as [string, number][]),
            new Map([...days].map(([at, rows]) => [at, 2 * rows])),
          );
          assert.equal((await ledger.page({ key, outcome }, { limit: 1 })).rows.length, 1);
          assert.deepEqual(await ledger.verify(0, startMs + 2 * dayMs), []);
        }
      });

      test('the stored position of a journal is that of its last import', async (t) => {
        const { ledger } = await open(t, openStore);
        assert.equal(await ledger.position('one'), undefined);
        await ledger.import('one', [], { segment: 3, offset: 16_777_216 });
        await ledger.import('two', [imported()], { segment: 1, offset: 7 });
        await ledger.import('one', [], { segment: 4, offset: 0 });
        assert.deepEqual(await ledger.position('one'), { segment: 4, offset: 0 });
        assert.deepEqual(await ledger.position('two'), { segment: 1, offset: 7 });
      });

      test('existing rows change nothing, imported alone or with others', async (t) => {
        const { ledger, budgets } = await open(t, openStore);
        await budgets.draw(account('a'), 'node-1', 1, 500_000);
        const [first, second, third] = [imported({}, ['a']), imported({}, ['a']), imported({}, ['a'])];
        assert.equal(await ledger.import('j', [first, second], somewhere), 2);
        assert.equal(await ledger.import('j', [first, second], somewhere), 0);
        const changed = { ...second, row: { ...second.row, costNanos: 5 } };
        assert.equal(await ledger.import('other', [changed, third, third, first], somewhere), 1);
        const [line] = await ledger.usage({}, []);
        assert.equal(line?.sums.requests, 3);
        assert.equal(line?.sums.costNanos, 3_000n);
        assert.equal((await budgets.state('a'))?.spentNanos, 3_000);
        assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);
      });

      test('a failed import leaves nothing, and can be repeated', async (t) => {
        const { ledger } = await open(t, openStore);
        const rows = [imported(), imported()];
        // Nothing but a journal without a name is refused by the tables themselves.
        await assert.rejects(ledger.import(null as unknown as string, rows, somewhere));
        assert.deepEqual((await ledger.page({}, { limit: 10 })).rows, []);
        assert.deepEqual(await ledger.usage({}, ['hour']), []);
        assert.equal(await ledger.import('j', rows, somewhere), 2);
      });

      test('an import of several parts is one transaction', async (t) => {
        const { ledger, budgets } = await open(t, openStore);
        await budgets.draw(account('a'), 'node-1', 1, 900_000);
        const rows = Array.from({ length: 90 }, () => imported({}, ['a']));
        const twice = [...rows.slice(60), ...rows.slice(0, 5)];
        const parts = [
          { rows: rows.slice(30, 60), position: { segment: 1, offset: 200 } },
          { rows: twice, position: { segment: 2, offset: 7 } },
        ];
        const read = (left = [...parts]) => ({ next: async () => left.shift() });
        const broken = read();
        const failing = async () => (await broken.next()) ?? Promise.reject(new Error('the journal cannot be read'));
        await assert.rejects(ledger.import('j', rows.slice(0, 30), somewhere, failing), /cannot be read/);
        assert.deepEqual((await ledger.page({}, { limit: 10 })).rows, []);
        assert.equal(await ledger.position('j'), undefined);
        assert.equal(await ledger.import('j', rows.slice(0, 30), somewhere, read().next), 90);
        assert.deepEqual(await ledger.position('j'), { segment: 2, offset: 7 });
        const [line] = await ledger.usage({}, []);
        assert.equal(line?.sums.requests, 90);
        assert.equal((await budgets.state('a'))?.spentNanos, Number(line?.sums.costNanos));
        assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);
      });

      test('of parallel imports of the same rows, each row counts once', async (t) => {
        const { ledger, budgets } = await open(t, openStore);
        await budgets.draw(account('a'), 'node-1', 1, 900_000);
        const rows = Array.from({ length: 300 }, () => imported({}, ['a']));
        const turned = rows.toReversed();
        const added = await Promise.all(
          Array.from({ length: 6 }, (_, n) => ledger.import(`j${n}`, n % 2 === 0 ? rows : turned, somewhere)),
        );
        assert.equal(
          added.reduce((a, b) => a + b),
          300,
        );
        const [line] = await ledger.usage({}, []);
        assert.equal(line?.sums.requests, 300);
        assert.equal((await budgets.state('a'))?.spentNanos, 300_000);
        assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);
      });

      test('parallel imports of different rows do not affect each other', async (t) => {
        const { ledger } = await open(t, openStore);
        const spread = {
          rows: 300,
          fromMs: startMs,
          toMs: startMs + hourMs,
          keys: 20,
          projects: 3,
          models: 5,
          upstreams: 2,
        };
        await Promise.all(
          Array.from({ length: 4 }, (_, n) => {
            const rows = [...spreadRows({ ...spread, seed: 1 })].map((row, index) => ({
              row: { ...row, id: rowId(row.startedAtMs, index * 4 + n) },
              accounts: [],
            }));
            return ledger.import(`j${n}`, n % 2 === 0 ? rows : rows.toReversed(), somewhere);
          }),
        );
        assert.equal((await ledger.usage({}, []))[0]?.sums.requests, 1_200);
        assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);
      });

      test("the cost of rows is charged to their accounts and their node's draw", async (t) => {
        const { ledger, budgets } = await open(t, openStore);
        await budgets.draw(account('a'), 'node-1', 1, 10_000);
        await budgets.draw(account('b'), 'node-2', 1, 10_000);
        const rows = [
          imported({ costNanos: 1_000 }, ['a', 'b', 'gone']),
          imported({ costNanos: 200 }, ['a']),
          imported({ costNanos: null }, ['a']),
          imported({ costNanos: 30, node: 'node-2' }, ['b']),
        ];
        await ledger.import('j', rows, somewhere);
        assert.deepEqual(await budgets.state('a'), { spentNanos: 1_200, outstandingNanos: 8_800, holdingNodes: 1 });
        // Node 1 drew nothing of this one: what it spent is spent, and what node 2 drew is still its own.
        assert.deepEqual(await budgets.state('b'), { spentNanos: 1_030, outstandingNanos: 9_970, holdingNodes: 1 });
        assert.equal(await budgets.state('gone'), undefined);
      });

      test("numbers and names beyond a column's range are stored as near as possible", async (t) => {
        const { ledger } = await open(t, openStore);
        const row = ledgerRow({
          model: 'm'.repeat(100_000),
          promptTokens: 10.5,
          billedInputTokens: 1e300,
          durationMs: Number.NaN,
          requestBytes: Number.NaN,
        });
        const older = {
          ...ledgerRow(),
          clientAddress: undefined as unknown as null,
          units: undefined as unknown as null,
          traceId: undefined as unknown as null,
          queueMs: undefined as unknown as null,
          connectMs: undefined as unknown as null,
        };
        assert.equal(
          await ledger.import(
            'j',
            [
              { row, accounts: [] },
              { row: older, accounts: [] },
            ],
            somewhere,
          ),
          2,
        );
        const kept = await ledger.get(row.id);
        assert.deepEqual(
          [kept?.model, kept?.promptTokens, kept?.billedInputTokens, kept?.durationMs, kept?.requestBytes],
          ['m'.repeat(256), 11, Number.MAX_SAFE_INTEGER, 0, 0],
        );
        const olderKept = await ledger.get(older.id);
        assert.deepEqual(
          [olderKept?.clientAddress, olderKept?.units, olderKept?.traceId, olderKept?.queueMs, olderKept?.connectMs],
          [null, null, null, null, null],
        );
        assert.deepEqual(ids((await ledger.page({ model: row.model ?? '' }, { limit: 5 })).rows), [row.id]);
        assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);
      });

      test('a captured body is stored until it expires', async (t) => {
        const clock = createFakeClock();
        const { ledger } = await openStore(t, clock);
        const capture = { request: '{"input":"a\0b"}', response: 'нет "无"', expiresAtMs: clock.nowMs() + 1_000 };
        const row = ledgerRow();
        await ledger.import('j', [{ row, accounts: [], capture }, imported()], somewhere);
        assert.deepEqual(await ledger.capture(row.id), { ...capture, request: toStored(capture.request) });
        assert.equal(await ledger.capture(rowId(startMs, 1_000_000)), undefined);
        assert.equal(await ledger.pruneCaptures(clock.nowMs()), 0);
        clock.advance(1_000);
        assert.equal(await ledger.capture(row.id), undefined);
        assert.equal(await ledger.pruneCaptures(clock.nowMs()), 1);
        assert.deepEqual(await ledger.get(row.id), row);
      });
    });

    describeLedgerReading(openStore);

    describe('retention', () => {
      test('older rows are deleted in steps, and their sums stay', async (t) => {
        const { ledger } = await open(t, openStore);
        const capture = { request: 'q', response: 'a', expiresAtMs: startMs + 100 * dayMs };
        const old = Array.from({ length: 4_500 }, (_, n) => ({
          ...imported({ startedAtMs: startMs + n }),
          ...(n < 3 ? { capture } : {}),
        }));
        const young = imported({ startedAtMs: startMs + dayMs });
        for (let n = 0; n < old.length; n += 1_500) await ledger.import('j', old.slice(n, n + 1_500), somewhere);
        await ledger.import('j', [young], somewhere);
        assert.deepEqual(await ledger.verify(0, startMs + 2 * dayMs), []);

        const gone: number[] = [];
        do {
          gone.push(await ledger.prune(startMs + dayMs));
          // What is half gone is no difference.
          assert.deepEqual(await ledger.verify(0, startMs + 2 * dayMs), []);
        } while (gone.at(-1) !== 0);
        assert.ok(gone.length > 2, `in parts: ${gone.join(', ')}`);
        assert.equal(
          gone.reduce((a, b) => a + b),
          4_503,
        );
        assert.deepEqual(ids((await ledger.page({}, { limit: 10 })).rows), [young.row.id]);
        assert.equal(await ledger.capture(old[0]?.row.id ?? ''), undefined);
        assert.equal((await ledger.usage({}, []))[0]?.sums.requests, 4_501);
        for (const never of [Number.NEGATIVE_INFINITY, -1, 0, Number.NaN]) assert.equal(await ledger.prune(never), 0);
      });
    });

    describe('the stored time', () => {
      test('the stored time begins with the clock, or at most 48 h after the newest row', async (t) => {
        const { ledger } = await open(t, openStore);
        assert.equal(await ledger.readMark(), undefined);
        assert.equal(await ledger.moveMark(startMs + 400 * dayMs), startMs + 400 * dayMs);
        const other = (await open(t, openStore)).ledger;
        await other.import('j', [imported({ startedAtMs: startMs })], somewhere);
        assert.equal(await other.moveMark(startMs + 400 * dayMs), startMs + 2 * dayMs);
      });

      test('the stored time advances with running time, by at most 48 h per start, and never past the clock', async (t) => {
        const { ledger } = await open(t, openStore);
        await ledger.moveMark(startMs);
        assert.equal(await ledger.moveMark(startMs + 90 * dayMs, startMs + 5), startMs + 5);
        assert.equal(await ledger.moveMark(startMs + 7, startMs + 9), startMs + 7);
        const jumpedMs = startMs + 90 * dayMs;
        assert.equal(await ledger.moveMark(jumpedMs), startMs + 7 + 2 * dayMs);
        // Others that start with it have no step of their own.
        assert.equal(await ledger.moveMark(jumpedMs + 1_000), startMs + 7 + 2 * dayMs);
        assert.equal(await ledger.moveMark(startMs), startMs);
        assert.equal(await ledger.readMark(), startMs + 7 + 2 * dayMs);
        await ledger.setMark(jumpedMs);
        assert.equal(await ledger.moveMark(jumpedMs, startMs), jumpedMs);
      });
    });

    describe('verify', () => {
      test('finds nothing in an empty ledger or a correctly imported one', async (t) => {
        const { ledger } = await open(t, openStore);
        assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);
        const spread = {
          rows: 2_000,
          fromMs: startMs,
          toMs: startMs + 3 * dayMs,
          keys: 9,
          projects: 2,
          models: 5,
          upstreams: 2,
        };
        const rows = [...spreadRows(spread)].map((row) => ({ row, accounts: [] }));
        for (let n = 0; n < rows.length; n += 333) await ledger.import('j', rows.slice(n, n + 333), somewhere);
        assert.deepEqual(await ledger.verify(0, startMs + 9 * dayMs), []);
        assert.deepEqual(await ledger.verify(startMs + 1_000, startMs + 5_000), []);
      });
    });
  });
}
