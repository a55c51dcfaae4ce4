/** Conformance tests of every store: time series, which agree with sums over rows after any roll-up. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LedgerRow, RowOutcome } from '../../../src/core/accounting/ledger-row.ts';
import type { SeriesAnswer, SeriesDimension, SeriesQuery } from '../../../src/core/store/series.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { createRandom, imported, ledgerRow, rowId } from '../ledger/ledger-rows.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { OpenStore } from './store-conformance.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2027, 0, 1);

let segment = 0;

async function fill(store: Store, rows: readonly LedgerRow[]): Promise<void> {
  segment += 1;
  await store.ledger.import(
    'j',
    rows.map((row) => ({ row, accounts: [] })),
    { segment, offset: 1 },
  );
}

async function tendAll(store: Store, nowMs: number): Promise<void> {
  while (await store.series.tend(90 * dayMs, nowMs));
}

const all: Omit<SeriesQuery, 'fromMs' | 'toMs'> = {
  zoneMs: 0,
  filter: {},
  by: [],
  top: 1_000,
  order: 'requests',
  latency: 'duration',
  wantsHeatmap: false,
  wantsPoints: true,
};

const outcomes: readonly RowOutcome[] = ['ok', 'ok', 'ok', 'ok', 'error', 'refused', 'aborted', 'cut', 'lost'];

/** Rows of three days and a bit, with calls that failed before another one answered. */
function* someRows(count: number, seed: number): Generator<LedgerRow> {
  const random = createRandom(seed);
  const pick = (number: number): number => Math.floor(random() * number);
  for (let number = 0; number < count; number++) {
    const startedAtMs = startMs + pick(3 * dayMs + 5 * hourMs);
    const outcome = outcomes[pick(outcomes.length)] ?? 'ok';
    const isSent = outcome !== 'refused';
    const failures = isSent ? pick(3) : 0;
    const upstream = isSent ? `up-${pick(3)}` : null;
    const tries = Array.from({ length: failures }, () => ({
      upstream: `up-${pick(3)}`,
      model: 'm',
      credential: undefined,
      outcome: 'failed',
      detail: 500 + pick(4),
      durationMs: 1 + pick(1_000),
    }));
    const answered = { upstream: upstream ?? '', model: 'm', credential: undefined, detail: 200, durationMs: 5 };
    yield ledgerRow({
      id: rowId(startedAtMs, seed * 1_000_000 + number),
      startedAtMs,
      key: `key-${pick(5)}`,
      project: pick(2) === 0 ? null : `project-${pick(2)}`,
      model: pick(20) === 0 ? null : `model-${pick(4)}`,
      operation: pick(2) === 0 ? 'embeddings' : 'rerank',
      upstream,
      attempts: isSent ? failures + 1 : 0,
      tries: failures > 0 && outcome === 'ok' ? [...tries, { ...answered, outcome: 'answered' }] : tries,
      outcome,
      status: outcome === 'ok' ? 200 : 502,
      error: outcome === 'ok' ? null : `code_${pick(3)}`,
      cache: pick(4) === 0 ? 'hit' : null,
      costNanos: pick(6) === 0 ? null : pick(1e9),
      billedInputTokens: isSent ? pick(5_000) : null,
      items: pick(10),
      durationMs: Math.round(10_000 * random() ** 3) / 10,
      firstByteMs: isSent ? 5 : null,
      upstreamMs: isSent ? 4 : null,
      units: pick(9) === 0 ? { savedItems: 2, savedNanos: 700 } : null,
    });
  }
}

const resultOf = {
  ok: 'succeeded',
  error: 'failed',
  cut: 'failed',
  lost: 'failed',
  refused: 'refused',
  aborted: 'cancelled',
};

/** The expected series, from the rows themselves. */
function sumOf(rows: readonly LedgerRow[]): Record<string, number> {
  const sums: Record<string, number> = {};
  const add = (name: string, amount: number): void => {
    sums[name] = (sums[name] ?? 0) + amount;
  };
  for (const row of rows) {
    add('requests', 1);
    add(resultOf[row.outcome], 1);
    add('attempts', row.attempts);
    add('failedAttempts', row.tries.filter(({ outcome }) => outcome === 'failed').length);
    if (row.outcome === 'cut' && row.attempts > row.tries.length) add('failedAttempts', 1);
    if (row.cache === 'hit') add('cached', 1);
    add('items', row.items);
    add('inputTokens', row.billedInputTokens ?? 0);
    add('costNanos', row.costNanos ?? 0);
    if (row.costNanos === null && (row.billedInputTokens !== null || row.outcome === 'lost')) add('unpriced', 1);
    add('savedItems', row.units?.savedItems ?? 0);
    add('savedNanos', row.units?.savedNanos ?? 0);
  }
  return sums;
}

function assertSums(found: SeriesAnswer['total'], rows: readonly LedgerRow[], what: string): void {
  const sums = sumOf(rows);
  for (const [name, sum] of Object.entries(sums)) {
    assert.equal(found.figures[name as 'requests'], sum, `${what}: ${name}`);
    const points = found.points.counts[name as 'requests'];
    if (points !== undefined)
      assert.equal(
        points.reduce((a, b) => a + b, 0),
        sum,
        `${what}: points of ${name}`,
      );
  }
  assert.equal(found.figures.requests, rows.length, what);
  const measured = rows.filter(({ outcome }) => outcome === 'ok' || outcome === 'error' || outcome === 'cut');
  const sorted = measured.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  assert.equal(found.figures.duration?.count ?? 0, sorted.length, `${what}: measured`);
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    const exact = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
    const shown = found.figures.duration?.[name] ?? 0;
    assert.ok(Math.abs(shown - exact) <= exact * 0.0101 + 0.001, `${what}: ${name} is ${shown}, and not ${exact}`);
  }
}

/** The ten most frequent failures of the rows' calls, most frequent first. */
function errorsOf(rows: readonly LedgerRow[]): string[] {
  const failed = rows.flatMap(({ tries }) => tries).filter(({ outcome }) => outcome === 'failed');
  return [...Map.groupBy(failed, ({ upstream, outcome, detail }) => `${upstream} ${outcome} ${detail}`)]
    .map(([error, { length }]) => `${length} ${error}`)
    .sort(compareErrors)
    .slice(0, 10);
}

const compareErrors = (one: string, other: string): number =>
  Number.parseInt(other, 10) - Number.parseInt(one, 10) || (one < other ? -1 : 1);

const named: Partial<Record<SeriesDimension, (row: LedgerRow) => string>> = {
  model: (row) => row.model ?? '',
  key: (row) => row.key,
  project: (row) => row.project ?? '',
  operation: (row) => row.operation,
  outcome: (row) => row.outcome,
  code: (row) => row.error ?? '',
};

export function describeSeriesStore(name: string, openStore: OpenStore): void {
  describe(name, () => {
    test('time series agree with the rows over any interval, filtered and split, after roll-up and late rows', async (t) => {
      const clock = createFakeClock(startMs);
      const store = await openStore(t, clock);
      const rows = [...someRows(1_200, 7)];
      const known: LedgerRow[] = [];
      const random = createRandom(11);
      // In no order: most come long after their minute, hour and day were rolled up.
      for (let part = 0; part < 6; part++) {
        const some = rows.slice(part * 200, part * 200 + 200);
        await fill(store, some);
        known.push(...some);
        clock.advance(16 * hourMs);
        if (part % 2 === 0) await tendAll(store, clock.nowMs());
        for (let question = 0; question < 6; question++) {
          const fromMs = startMs + Math.floor(random() * 3 * 24 * 60) * minuteMs;
          const lengthMs =
            [7 * minuteMs, 3 * hourMs, 26 * hourMs, 3 * dayMs, 9 * dayMs, 50 * dayMs][question] ?? hourMs;
          const toMs = fromMs + lengthMs;
          const key = question % 2 === 0 ? undefined : 'key-1';
          const model = question % 3 === 0 ? undefined : 'model-2';
          const found = await store.series.read({ ...all, fromMs, toMs, filter: { key, model } });
          const fitting = known.filter(
            (row) =>
              row.startedAtMs >= found.fromMs &&
              row.startedAtMs < found.toMs &&
              (key === undefined || row.key === key) &&
              (model === undefined || row.model === model),
          );
          assertSums(found.total, fitting, `part ${part}, question ${question}`);
        }
      }
      for (const by of ['model', 'key', 'project', 'operation', 'outcome', 'code'] as const) {
        const found = await store.series.read({ ...all, fromMs: startMs, toMs: startMs + 4 * dayMs, by: [by] });
        const expected = Map.groupBy(known, (row) => named[by]?.(row) ?? '');
        assert.equal(found.lines.length, expected.size, by);
        for (const line of found.lines) {
          const own = expected.get(line.names[0] ?? '') ?? [];
          if (by !== 'outcome') assertSums(line, own, `${by} ${line.names[0]}`);
          assert.equal(line.figures.requests, own.length, `${by} ${line.names[0]}`);
        }
      }
      for (const filter of [{ key: 'key-1' }, { project: 'project-0' }, { key: 'key-2', project: 'project-1' }]) {
        for (const by of [[], ['upstream'], ['key', 'upstream'], ['project']] as const) {
          const asked = { ...all, fromMs: startMs, toMs: startMs + 50 * dayMs, by, filter };
          const { attemptErrors } = await store.series.read(asked);
          const fitting = known.filter((row) =>
            Object.entries(filter).every(([name, value]) => row[name as 'key' | 'project'] === value),
          );
          assert.deepEqual(
            attemptErrors.map(({ upstream, kind, code, attempts }) => `${attempts} ${upstream} ${kind} ${code}`),
            errorsOf(fitting),
            `${JSON.stringify(filter)} by ${by}`,
          );
        }
      }
      for (const { by, model } of [
        { by: ['key'] },
        { by: ['key', 'model'] },
        { by: ['key'], model: 'model-2' },
      ] as const) {
        const range = { fromMs: startMs, toMs: startMs + 50 * dayMs };
        const { lines, attemptErrors } = await store.series.read({ ...all, ...range, by, filter: { model }, top: 2 });
        const isOf = (row: LedgerRow, names: readonly string[]) =>
          by.every((name, at) => named[name]?.(row) === names[at]);
        const others = known
          .filter((row) => model === undefined || row.model === model)
          .filter((row) => !lines.some(({ isOthers, names }) => !isOthers && isOf(row, names)));
        const rest = lines.find(({ isOthers }) => isOthers);
        assert.ok(rest, `${by}`);
        assertSums(rest, others, `others by ${by}`);
        assert.ok(attemptErrors.length > 0 && attemptErrors.every(({ upstream }) => upstream !== ''));
      }
    });

    test('count calls by upstream, with their failures', async (t) => {
      const store = await openStore(t, createFakeClock(startMs + hourMs));
      const rows = [...someRows(400, 3)].map((row) => ({
        ...row,
        startedAtMs: startMs,
        id: rowId(startMs, ++segment),
      }));
      await fill(store, rows);
      const found = await store.series.read({ ...all, fromMs: startMs, toMs: startMs + hourMs, by: ['upstream'] });
      for (const line of found.lines) {
        const upstream = line.names[0] ?? '';
        const tried = rows.flatMap(({ tries }) => tries).filter((one) => one.upstream === upstream);
        const direct = rows.filter((row) => row.upstream === upstream && row.attempts > row.tries.length);
        assert.equal(line.figures.attempts, tried.length + direct.length, upstream);
        const failed = tried.filter(({ outcome }) => outcome === 'failed').length;
        assert.equal(line.figures.failedAttempts, failed + direct.filter(({ outcome }) => outcome === 'cut').length);
      }
      const [most] = found.attemptErrors;
      const counts = Map.groupBy(
        rows.flatMap(({ tries }) => tries).filter(({ outcome }) => outcome === 'failed'),
        (one) => `${one.upstream} ${one.detail}`,
      );
      const exact = Math.max(...[...counts.values()].map(({ length }) => length));
      assert.equal(most?.attempts, exact);
    });

    test('a row that arrives after its day was rolled up is added to minute, hour and day', async (t) => {
      const clock = createFakeClock(startMs + 2 * dayMs);
      const store = await openStore(t, clock);
      await fill(store, [ledgerRow({ startedAtMs: startMs + hourMs })]);
      await tendAll(store, clock.nowMs());
      const ask = async (fromMs: number, toMs: number) =>
        (await store.series.read({ ...all, fromMs, toMs })).total.figures.requests;
      const stretches = [
        [hourMs, hourMs + minuteMs],
        [0, 2 * hourMs],
        [0, 40 * dayMs],
      ] as const;
      const counts = () => Promise.all(stretches.map(([from, to]) => ask(startMs + from, startMs + to)));
      assert.deepEqual(await counts(), [1, 1, 1]);
      await fill(store, [ledgerRow({ startedAtMs: startMs + hourMs + 5 })]);
      assert.deepEqual(await counts(), [2, 2, 2]);
      clock.advance(hourMs);
      await tendAll(store, clock.nowMs());
      assert.deepEqual(await counts(), [2, 2, 2]);
      // The same row once more is none.
      const row = ledgerRow({ startedAtMs: startMs + hourMs + 7 });
      await fill(store, [row]);
      await fill(store, [row]);
      assert.deepEqual(await counts(), [3, 3, 3]);
    });

    test('minutes are deleted after two weeks, hours after three months, and queries report their rounding', async (t) => {
      const clock = createFakeClock(startMs + dayMs);
      const store = await openStore(t, clock);
      await fill(store, [ledgerRow({ startedAtMs: startMs + 90 * minuteMs })]);
      await tendAll(store, clock.nowMs());
      clock.advance(20 * dayMs);
      await tendAll(store, clock.nowMs());
      const asked = { ...all, fromMs: startMs + 85 * minuteMs, toMs: startMs + 95 * minuteMs };
      const found = await store.series.read(asked);
      assert.deepEqual(
        [found.fromMs, found.toMs, found.stepMs, found.total.figures.requests],
        [startMs + hourMs, startMs + 2 * hourMs, hourMs, 1],
      );
      clock.advance(90 * dayMs);
      await tendAll(store, clock.nowMs());
      const later = await store.series.read(asked);
      assert.deepEqual(
        [later.fromMs, later.toMs, later.stepMs, later.total.figures.requests],
        [startMs, startMs + dayMs, dayMs, 0],
      );
    });

    test('parallel roll-ups count nothing twice', async (t) => {
      const clock = createFakeClock(startMs + 2 * dayMs);
      const store = await openStore(t, clock);
      await fill(
        store,
        [...someRows(150, 5)].filter(({ startedAtMs }) => startedAtMs < startMs + dayMs),
      );
      const question = { ...all, fromMs: startMs, toMs: startMs + 40 * dayMs };
      const before = await store.series.read(question);
      await Promise.all([1, 2, 3, 4].map(() => tendAll(store, clock.nowMs())));
      const after = await store.series.read(question);
      assert.deepEqual(after.total.figures, before.total.figures);
    });

    test('lines beyond the limit are combined, and a comparison has the same lines', async (t) => {
      const store = await openStore(t, createFakeClock(startMs + hourMs));
      const of = (model: string, count: number) =>
        Array.from({ length: count }, () => imported({ startedAtMs: startMs, model }).row);
      await fill(store, [...of('a', 3), ...of('b', 2), ...of('c', 1)]);
      const question = { ...all, fromMs: startMs, toMs: startMs + hourMs, by: ['model'] as const };
      const found = await store.series.read({ ...question, top: 1 });
      assert.deepEqual(
        found.lines.map(({ names, isOthers, figures }) => [...names, isOthers, figures.requests]),
        [
          ['a', false, 3],
          ['', true, 3],
        ],
      );
      const given = await store.series.read({ ...question, lines: [['c'], ['gone']] });
      assert.deepEqual(
        given.lines.map(({ names, figures }) => [...names, figures.requests]),
        [
          ['c', 1],
          ['gone', 0],
          ['', 5],
        ],
      );
    });
  });
}

/** Rows that a former version wrote are in no block. `reopen` goes back to it, and comes again: as two nodes. */
export async function checkFormerRows(store: Store, reopen: () => Promise<readonly [Store, Store]>): Promise<void> {
  // Four weeks ago, by the clock of the system, which migrations go by.
  const firstMs = Math.floor(Date.now() / dayMs) * dayMs - 28 * dayMs;
  const rows = [...someRows(300, 13)].map((row, number) => {
    const startedAtMs = row.startedAtMs - startMs + firstMs;
    return { ...row, startedAtMs, id: rowId(startedAtMs, 13_000_000 + number) };
  });
  await fill(store, rows.slice(0, 200));
  const [one, other] = await reopen();
  const question = { ...all, fromMs: firstMs, toMs: firstMs + 27 * dayMs };
  const before = await one.series.read(question);
  assert.ok(before.sinceMs > firstMs + 4 * dayMs);
  // Late ones of the time before: they are in blocks, and in the rows that come into blocks.
  await fill(one, rows.slice(200, 250));
  const looks = async (each: Store) => {
    while ((await each.series.read(question)).sinceMs > 0) await each.series.tend(400 * dayMs, Date.now());
  };
  await Promise.all([looks(one), looks(other), fill(other, rows.slice(250))]);
  const found = await one.series.read(question);
  assert.equal(found.sinceMs, 0);
  assertSums(found.total, rows, 'all');
  const hour = { ...all, fromMs: firstMs + 5 * hourMs, toMs: firstMs + 6 * hourMs };
  const ofHour = rows.filter(({ startedAtMs }) => startedAtMs >= hour.fromMs && startedAtMs < hour.toMs);
  assertSums((await other.series.read(hour)).total, ofHour, 'an hour');
}
