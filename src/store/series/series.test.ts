import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { imported } from '../../../test/support/ledger/ledger-rows.ts';
import { checkFormerRows, describeSeriesStore } from '../../../test/support/stores/series-conformance.ts';
import { type SeriesQuery, wholeStretch } from '../../core/store/series.ts';
import { bucketOf, middleOf, quantilesOf, Sketch } from '../../lib/sketch.ts';
import { migrateStore, openStore } from '../open-store.ts';
import { BlockReader, Cells, cellKinds, others, writeBlock } from './series-block.ts';
import { boundCells, sections } from './series-cells.ts';
import { planSeries } from './series-plan.ts';
import { readSeries } from './series-read.ts';

const dayMs = 86_400_000;

async function makeDirectory(t: TestContext): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-series-'));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  return cwd;
}

describeSeriesStore('the series in a SQLite file', async (t, clock) => {
  const store = await openStore('sqlite:postern.db', { cwd: await makeDirectory(t), clock });
  t.after(() => store.close());
  return store;
});

describeSeriesStore('the series in memory', async (t, clock) => {
  const store = await openStore('sqlite::memory:', { cwd: '/nowhere', clock });
  t.after(() => store.close());
  return store;
});

test('the middle of a histogram bucket differs by at most 1 % from every duration in it', () => {
  for (let ms = 0.0011; ms < 1e9; ms *= 1.0037) {
    assert.ok(Math.abs(middleOf(bucketOf(ms)) - ms) <= ms * 0.0100001, String(ms));
  }
  assert.deepEqual([0, -1, 0.001, Number.NaN].map(bucketOf), [0, 0, 0, 0]);
  assert.equal(bucketOf(1e300), bucketOf(1e9));
});

test('percentiles of added duration sketches are those of all values together', () => {
  const values = Array.from({ length: 999 }, (_, at) => 1 + ((at * 7919) % 5_003));
  const sketch = new Sketch();
  const pairsOf = (some: readonly number[]) => some.flatMap((value) => [bucketOf(value), 1]);
  for (const some of [values.slice(0, 100), values.slice(100)]) sketch.add(pairsOf(some), 2 * some.length);
  const { count, values: found } = quantilesOf(sketch.toPairs(), [0.5, 0.95, 0.99]);
  assert.equal(count, values.length);
  const sorted = values.toSorted((a, b) => a - b);
  for (const [at, share] of [0.5, 0.95, 0.99].entries()) {
    const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
    assert.ok(Math.abs((found[at] ?? 0) - exact) <= exact * 0.0101);
  }
});

test("a sketch's quantiles equal those of its pairs after any additions, removals and outliers", () => {
  const sketch = new Sketch();
  assert.equal(sketch.quantile(0.95), undefined);
  const agree = (): void => {
    for (const share of [0, 0.5, 0.95, 0.99, 1]) {
      assert.deepEqual(quantilesOf(sketch.toPairs(), [share]).values, [sketch.quantile(share)]);
    }
  };
  sketch.add([700, 2, 3, 1], 4);
  agree();
  for (let value = 0; value < 300; value++) sketch.add([(value * 7919) % 500, 1 + (value % 3)], 2);
  agree();
  sketch.add([bucketOf(1e9), 1], 2);
  agree();
  sketch.remove([3, 1, bucketOf(1e9), 1]);
  agree();
  assert.equal(sketch.quantile(1), middleOf(700));
});

const namesOf = (model: string, key: string): string[] => [model, 'up', key, '', 'embeddings', 'ok', '', ''];

test('a block is decoded as it was encoded, with any numbers and names', () => {
  const cells = new Cells();
  const cell = cells.of(cellKinds.request, namesOf('mödel/😀', 'k'));
  cell.add(0, 3);
  cell.add(9, Number.MAX_SAFE_INTEGER);
  cell.sketches[0]?.push(700, 2, 3, 1, 700, 1);
  cells.of(cellKinds.attempt, namesOf('', others)).add(0, 1);
  const reader = new BlockReader(writeBlock(cells.values()));
  assert.equal(reader.next(), true);
  const read = reader.toCell();
  assert.deepEqual([read.kind, read.names, read.counts], [0, cell.names, cell.counts]);
  assert.deepEqual(read.sketches, [[3, 1, 700, 3], [], [], []]);
  assert.equal(reader.next(), true);
  assert.deepEqual(reader.toCell().names, namesOf('', others));
  assert.equal(reader.next(), false);
  assert.equal(reader.find('mödel/😀'), reader.names.length > 0 ? 2 : 0);
});

test('with too many keys, those with the fewest requests are combined as others', () => {
  const cells = new Cells();
  for (let number = 0; number < 100; number++) {
    cells.of(cellKinds.request, namesOf('m', `key-${number}`)).add(0, number === 50 ? 9 : 1);
  }
  const bounded = boundCells(cells.values(), 10);
  assert.equal(bounded.length, 6);
  assert.ok(bounded.some(({ names, counts }) => names[2] === 'key-50' && counts[0] === 9));
  const folded = bounded.find(({ names }) => names[2] === others);
  assert.equal(folded?.counts[0], 95);
});

const stretch = { fromMs: Date.UTC(2020, 0, 1), toMs: Date.UTC(2040, 0, 1) };
const all: SeriesQuery = { ...stretch, ...wholeStretch };

test('a series split by key has daily steps beyond eight days, and shorter ones if filtered by project', () => {
  const stepOf = (days: number, more: Partial<SeriesQuery>) =>
    planSeries({ ...all, ...more, fromMs: stretch.fromMs, toMs: stretch.fromMs + days * dayMs }, stretch.fromMs).stepMs;
  assert.equal(stepOf(8, { by: ['key'] }), dayMs / 24);
  assert.equal(stepOf(30, { by: ['key'] }), dayMs);
  assert.equal(stepOf(30, { by: ['key'], filter: { project: 'p' } }), dayMs / 4);
  assert.equal(stepOf(30, { by: ['model'] }), dayMs / 4);
});

test("a key's attempts in blocks of older versions, which lack the upstream, are counted under an empty name", () => {
  const cells = new Cells();
  for (const upstream of ['', 'up'])
    cells.of(cellKinds.attempt, ['', upstream, 'k', '', 'embeddings', 'failed', '503', '']).add(0, 2);
  const block = { at: stretch.fromMs, section: sections.keys.number, data: writeBlock(cells.values()) };
  const query = { ...all, filter: { key: 'k' } };
  const { attemptErrors } = readSeries(query, planSeries(query, stretch.fromMs), [block], 0);
  assert.deepEqual(
    attemptErrors.map(({ upstream, attempts }) => [upstream, attempts]),
    [
      ['', 2],
      ['up', 2],
    ],
  );
});

/** Imports and rolls up endlessly, and prints how many rows are in the store. */
const importing = `
  const { openStore } = await import(${JSON.stringify(new URL('../open-store.ts', import.meta.url).href)});
  const rows = await import(${JSON.stringify(new URL('../../../test/support/ledger/ledger-rows.ts', import.meta.url).href)});
  const store = await openStore('sqlite:postern.db', { cwd: process.env.STORE });
  for (let number = 1; ; number++) {
    const startedAtMs = Date.now() - (number % 200) * 60_000;
    const batch = Array.from({ length: 50 }, (_, at) =>
      ({ row: rows.ledgerRow({ id: rows.rowId(startedAtMs, number * 100 + at), startedAtMs }), accounts: [] }));
    await store.ledger.import('j', batch, { segment: 1, offset: number });
    await store.series.tend(1e12, Date.now());
    console.log(number * 50);
  }`;

test('series and rows agree after the process was killed during import and roll-up', async (t) => {
  const cwd = await makeDirectory(t);
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', importing],
    {
      env: { ...process.env, STORE: cwd },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let heard = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    heard += text.split('\n').length - 1;
    if (heard >= 300) child.kill('SIGKILL');
  });
  await once(child, 'exit');
  const store = await openStore('sqlite:postern.db', { cwd });
  t.after(() => store.close());
  const [usage] = await store.ledger.usage({}, []);
  const { total } = await store.series.read(all);
  assert.ok((usage?.sums.requests ?? 0) >= 300 * 50);
  assert.equal(total.figures.requests, usage?.sums.requests);
  assert.equal(total.figures.duration?.count, usage?.sums.requests);
});

test('reports the start of the series: the first row, or the upgrade until older rows are converted', async (t) => {
  const cwd = await makeDirectory(t);
  const open = () => openStore('sqlite:postern.db', { cwd });
  const store = await open();
  await store.ledger.import('j', [imported()], { segment: 1, offset: 1 });
  assert.equal((await store.series.read(all)).sinceMs, 0);
  await store.close();
  await migrateStore('sqlite:postern.db', { cwd }, '0.1.0');
  const beforeMs = Date.now();
  const again = await open();
  t.after(() => again.close());
  assert.ok((await again.series.read(all)).sinceMs >= beforeMs);
  while ((await again.series.read(all)).sinceMs > 0) await again.series.tend(1e12, Date.now());
  assert.equal((await again.series.read(all)).total.figures.requests, 1);
});

test('a failed call counts under its system error code, not a message with addresses', async (t) => {
  const store = await openStore('sqlite::memory:', { cwd: '/nowhere' });
  t.after(() => store.close());
  const details = [
    'Error ECONNREFUSED: connect ECONNREFUSED 10.0.0.7:80',
    'Error: unable (CERT_HAS_EXPIRED)',
    'no answer',
    503,
  ];
  const tries = details.map((detail) => {
    return { upstream: 'u', model: 'm', credential: undefined, outcome: 'failed', detail, durationMs: 1 };
  });
  await store.ledger.import('j', [imported({ attempts: 4, tries })], { segment: 1, offset: 1 });
  const { attemptErrors } = await store.series.read(all);
  assert.deepEqual(attemptErrors.map(({ code }) => code).toSorted(), [
    '503',
    'CERT_HAS_EXPIRED',
    'ECONNREFUSED',
    'no answer',
  ]);
});

test('rows of an older version are converted to blocks gradually, and late ones are counted once', async (t) => {
  const cwd = await makeDirectory(t);
  const open = async () => {
    const store = await openStore('sqlite:postern.db', { cwd });
    t.after(() => store.close());
    return store;
  };
  const store = await open();
  await checkFormerRows(store, async () => {
    await store.close();
    await migrateStore('sqlite:postern.db', { cwd }, '0.1.0');
    // Two connections of one thread would wait for each other.
    const again = await open();
    return [again, again];
  });
});
