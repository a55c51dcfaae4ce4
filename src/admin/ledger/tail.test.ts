import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { imported, ledgerRow, rowId } from '../../../test/support/ledger/ledger-rows.ts';
import { until } from '../../../test/support/time/until.ts';
import type { LedgerFilter } from '../../core/store/ledger.ts';
import { systemClock } from '../../lib/clock.ts';
import { openStore } from '../../store/open-store.ts';
import { createLedgerTail, fits, type TailEvent } from './tail.ts';

const atMs = Date.UTC(2027, 0, 1);

async function open(t: TestContext) {
  const store = await openStore('sqlite::memory:', { cwd: '.' });
  t.after(() => store.close());
  const counts = { looks: 0, isAway: false };
  const tail = createLedgerTail({
    ledger: {
      page: (filter, options) => {
        counts.looks += 1;
        if (counts.isAway) return Promise.reject(new Error('away'));
        return store.ledger.page(filter, options);
      },
    },
    clock: systemClock,
    log: { warn: () => undefined },
    everyMs: 10,
  });
  let position = 0;
  const add = (...rows: Parameters<typeof imported>[0][]): Promise<number> =>
    store.ledger.import(
      'j',
      rows.map((row) => imported(row)),
      { segment: 1, offset: ++position },
    );

  function watch(filter: LedgerFilter = {}, lastId?: string) {
    const over = new AbortController();
    t.after(() => over.abort());
    const events = tail.watch(filter, lastId, over.signal)[Symbol.asyncIterator]();
    return {
      stop: () => over.abort(),
      async next(): Promise<TailEvent> {
        const { value } = await events.next();
        return value;
      },
      async ids(count: number): Promise<string[]> {
        const ids: string[] = [];
        while (ids.length < count) {
          const event = await this.next();
          if (event.kind === 'row') ids.push(event.row.id);
        }
        return ids;
      },
    };
  }
  return { add, watch, counts };
}

const at = (number: number) => ({ id: rowId(atMs + number, number), startedAtMs: atMs + number });

test('each new row is sent once, even if its request began earlier; rows from before the tail are not sent', async (t) => {
  const { add, watch } = await open(t);
  await add(at(1), at(3));
  const watcher = watch();
  assert.deepEqual(await watcher.next(), { kind: 'ready' });
  await add(at(5), at(4));
  assert.deepEqual(await watcher.ids(2), [at(4).id, at(5).id]);
  await add(at(2));
  assert.deepEqual(await watcher.ids(1), [at(2).id]);
});

test('the first row of an empty ledger is sent', async (t) => {
  const { add, watch } = await open(t);
  const watcher = watch();
  await watcher.next();
  await add(at(1));
  assert.deepEqual(await watcher.ids(1), [at(1).id]);
});

test('all readers of the tail share one query, each gets rows by its filter, and without readers none is sent', async (t) => {
  const { add, watch, counts } = await open(t);
  const watchers = Array.from({ length: 20 }, (_, index) => watch(index === 0 ? { key: 'other' } : {}));
  await Promise.all(watchers.map((watcher) => watcher.next()));
  const before = counts.looks;
  const looks = (): number => counts.looks - before;
  await until(() => looks() >= 3);
  assert.ok(looks() < watchers.length, `${looks()} looks`);
  await add(at(1), { ...at(2), key: 'other' });
  const [first, ...others] = watchers;
  assert.deepEqual(await first?.ids(1), [at(2).id]);
  for (const other of others) assert.deepEqual(await other.ids(2), [at(1).id, at(2).id]);
  const ends = watchers.map((watcher) => watcher.next());
  for (const watcher of watchers) watcher.stop();
  await Promise.all(ends);
  await wait(30);
  const after = counts.looks;
  await wait(60);
  assert.equal(counts.looks, after);
});

test('a reader that reconnects to the tail gets the rows after its last one, including rows that came late', async (t) => {
  const { add, watch } = await open(t);
  const watcher = watch();
  await watcher.next();
  await add(at(10), at(20));
  assert.deepEqual(await watcher.ids(2), [at(10).id, at(20).id]);
  watcher.stop();
  await watcher.next();
  await add(at(30), at(15));
  assert.deepEqual(await watch({}, at(20).id).ids(2), [at(15).id, at(30).id]);
  assert.deepEqual(await watch({}, at(10).id).ids(3), [at(20).id, at(15).id, at(30).id]);
});

test("the first reader of a tail can continue after a row, by the time in the row's ID", async (t) => {
  const { add, watch } = await open(t);
  await add(at(1), at(2), at(3));
  assert.deepEqual(await watch({}, at(1).id).ids(2), [at(2).id, at(3).id]);
});

test('an unreachable store is reported once, and rows written meanwhile are sent when it is reachable again', async (t) => {
  const { add, watch, counts } = await open(t);
  const watcher = watch();
  await watcher.next();
  counts.isAway = true;
  assert.deepEqual(await watcher.next(), { kind: 'waiting' });
  await add(at(1));
  counts.isAway = false;
  assert.deepEqual(await watcher.next(), { kind: 'row', row: ledgerRow(at(1)) });
});

test('reports that rows were skipped when more rows arrive than the tail sends at once', async (t) => {
  const { add, watch } = await open(t);
  await add(at(0));
  const watcher = watch();
  await watcher.next();
  await add(...Array.from({ length: 700 }, (_, index) => at(index + 1)));
  assert.deepEqual(await watcher.next(), { kind: 'skipped' });
  const ids = await watcher.ids(500);
  assert.equal(ids.at(-1), at(700).id);
});

test('filters rows of the tail as the store does', () => {
  const row = ledgerRow({ ...at(1), project: null, status: 429, outcome: 'refused', clientRequestId: 'mine' });
  const rows: [LedgerFilter, boolean][] = [
    [{}, true],
    [{ key: 'dev', model: 'bge-m3', upstream: 'near', operation: 'embeddings', outcome: 'refused', status: 429 }, true],
    [{ key: 'Dev' }, false],
    [{ project: 'p' }, false],
    [{ status: 200 }, false],
    [{ clientRequestId: 'mine' }, true],
    [{ clientRequestId: 'other' }, false],
    [{ fromMs: atMs + 1, toMs: atMs + 2 }, true],
    [{ fromMs: atMs + 2 }, false],
    [{ toMs: atMs + 1 }, false],
  ];
  for (const [filter, wanted] of rows) assert.equal(fits(row, filter), wanted, JSON.stringify(filter));
});
