/**
 * Fills the metric series of a SQLite store, and measures its size and every query of the console.
 *
 *   node bench/series.ts [--days 90] [--series 4000] [--active 0.05] [--store sqlite:/tmp/x/postern.db] [--keep]
 *
 * The blocks of the last 14 days are written minute by minute, as an import writes them, and rolled up by the store. Of older days the store has no
 * minutes any more: their hours are written as the roll-up of their minutes leaves them, and the store makes days of them. There are no rows of the ledger.
 * A store that holds as many days already is measured as it is. Fails where a question takes more than 200 ms (the median of five; of the
 * processor, as other work of a machine that is shared is none of it) or the file is larger than 10 GB. --days 2 is enough for a look.
 */

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { toTable } from '../src/cli/output.ts';
import type { SeriesQuery } from '../src/core/store/series.ts';
import { type NamedRow, toFigures, toNames } from '../src/store/ledger/ledger-rows.ts';
import { openStore } from '../src/store/open-store.ts';
import { Cells, writeBlock } from '../src/store/series/series-block.ts';
import { toBlocks } from '../src/store/series/series-blocks.ts';
import { boundCells, Minutes, sections } from '../src/store/series/series-cells.ts';
import { keptMs, levels } from '../src/store/series/series-plan.ts';
import { createRandom, ledgerRow } from '../test/support/ledger/ledger-rows.ts';
import { createFakeClock } from '../test/support/time/fake-clock.ts';
import { median } from './measurement.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mostMs = 200;
const mostBytes = 10e9;
const repetitions = 5;

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '90' },
    series: { type: 'string', default: '4000' },
    active: { type: 'string', default: '0.05' },
    store: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const days = Number(values.days);
const seriesCount = Number(values.series);
const perMinute = Math.round(seriesCount * Number(values.active));

const directory = values.store === undefined ? await mkdtemp(join(tmpdir(), 'postern-series-')) : undefined;
const path = values.store?.replace(/^sqlite:/, '') ?? join(directory ?? '', 'postern.db');
const startMs = Date.UTC(2027, 0, 1);
const clock = createFakeClock(startMs);
const store = await openStore(`sqlite:${path}`, { cwd: process.cwd(), clock });

async function tend(): Promise<void> {
  while (await store.series.tend(400 * dayMs, clock.nowMs()));
}

const random = createRandom(1);

/** Forty models at two upstreams each, for as many keys as make the series; each once as it succeeds and once as it fails. */
const samples = Array.from({ length: 2 * seriesCount }, (_, at): NamedRow => {
  const series = Math.floor(at / 2);
  const model = series % 40;
  const isFailed = at % 2 === 1;
  // One attempt alone: with two, a day would have more cells than a block holds.
  const attempt = { upstream: `upstream-${(series * 3) % 8}`, model: 'm', credential: undefined, outcome: 'failed' };
  const row = ledgerRow({
    model: `vendor/model-${model}`,
    upstream: `upstream-${model % 8}`,
    key: `key_${String(Math.floor(series / 40)).padStart(16, 'a')}`,
    project: `project-${series % 10}`,
    operation: model % 2 === 0 ? 'embeddings' : 'rerank',
    outcome: isFailed ? 'error' : 'ok',
    status: isFailed ? 502 : 200,
    tries: isFailed ? [{ ...attempt, detail: 503, startMs: 1, durationMs: 9 }] : [],
  });
  return { names: toNames(row), row: toFigures(row) };
});

function cellsOf(minuteAtMs: number): ReadonlyMap<number, Cells> {
  const minutes = new Minutes();
  minutes.add([...rowsOf(minuteAtMs)]);
  return minutes.cells;
}

function* rowsOf(minuteAtMs: number): Generator<NamedRow> {
  for (let left = perMinute; left > 0; left--) {
    const sample = samples[2 * Math.floor(random() * seriesCount) + (random() < 0.02 ? 1 : 0)];
    if (sample === undefined) continue;
    const { names, row } = sample;
    const duration_ms = Math.round(10_000 * random() ** 4) / 10;
    yield { names, row: { ...row, started_at: minuteAtMs + Math.floor(random() * minuteMs), duration_ms } };
  }
}

async function fill(): Promise<void> {
  const database = new DatabaseSync(path);
  try {
    const filled = database.prepare('select max(at) as last from series_blocks where level = 2').get();
    if (Number(filled?.last ?? 0) >= startMs + days * dayMs - 2 * hourMs) {
      clock.advance(days * dayMs);
      return;
    }
    const insert = database.prepare(
      'insert into series_blocks (level, section, at, rolled, data) values (?, ?, ?, ?, ?)',
    );
    const minutesFromMs = startMs + days * dayMs - keptMs.minute;
    let saidMs = performance.now();
    for (let hour = 0; hour < days * 24; hour++) {
      const fromMs = startMs + hour * hourMs;
      const minutes = Array.from({ length: 60 }, (_, minute) => fromMs + minute * minuteMs);
      database.exec('begin immediate');
      if (fromMs < minutesFromMs) {
        const cells = new Cells();
        for (const minute of minutes) {
          for (const cell of cellsOf(minute).get(minute)?.values() ?? []) cells.of(cell.kind, cell.names).addCell(cell);
        }
        for (const one of toBlocks(levels.hour, fromMs, cells))
          insert.run(one.level, one.section, one.at, one.rolled, one.data);
      } else {
        for (const minute of minutes) {
          for (const [at, cells] of cellsOf(minute))
            insert.run(levels.raw, sections.detail.number, at, 0, writeBlock(boundCells(cells.values())));
        }
      }
      database.exec('commit');
      clock.advance(hourMs);
      await tend();
      if (performance.now() - saidMs < 10_000) continue;
      saidMs = performance.now();
      console.error(`${(hour / 24).toFixed(1)} of ${days} days`);
    }
  } finally {
    database.close();
  }
}

const standard: Omit<SeriesQuery, 'fromMs' | 'toMs'> = {
  zoneMs: 0,
  filter: {},
  by: [],
  top: 10,
  order: 'requests',
  latency: 'duration',
  wantsHeatmap: true,
  wantsPoints: true,
};
const key = `key_${'7'.padStart(16, 'a')}`;
const shapes: readonly (readonly [string, Partial<SeriesQuery>])[] = [
  ['all', {}],
  ['by model', { by: ['model'] }],
  ['by model and upstream', { by: ['model', 'upstream'] }],
  ['by key', { by: ['key'] }],
  ['of a model', { filter: { model: 'vendor/model-7' } }],
  ['of a model, by key', { filter: { model: 'vendor/model-7' }, by: ['key'] }],
  ['of a key', { filter: { key } }],
  ['of a key, by model', { filter: { key }, by: ['model'] }],
  ['of an upstream, by code', { filter: { upstream: 'upstream-3' }, by: ['code'] }],
  ['by key and model', { by: ['key', 'model'] }],
  ['lines of a comparison', { by: ['key', 'model'], lines: [[key, 'vendor/model-7']], wantsHeatmap: false }],
  ['p95 by model', { by: ['model'], order: 'p95' }],
  ['p95 by key', { by: ['key'], order: 'p95' }],
  ['p95 by key and model', { by: ['key', 'model'], order: 'p95' }],
];
const ranges = { '1 h': hourMs, '24 h': dayMs, '7 d': 7 * dayMs, '30 d': 30 * dayMs, '90 d': 90 * dayMs };

try {
  await fill();
  const lines: string[][] = [];
  let isTooSlow = false;
  for (const [range, lengthMs] of Object.entries(ranges)) {
    if (lengthMs > days * dayMs) continue;
    for (const [shape, more] of shapes) {
      const times: number[] = [];
      const cpuTimes: number[] = [];
      let requests = 0;
      for (let n = 0; n < repetitions; n++) {
        const beganMs = performance.now();
        const cpu = process.cpuUsage();
        const toMs = clock.nowMs();
        const found = await store.series.read({ ...standard, ...more, fromMs: toMs - lengthMs, toMs });
        times.push(performance.now() - beganMs);
        const { user, system } = process.cpuUsage(cpu);
        cpuTimes.push((user + system) / 1_000);
        requests = found.total.figures.requests;
      }
      const cpuMs = median(cpuTimes) ?? 0;
      if (cpuMs > mostMs) isTooSlow = true;
      const shown = [median(times) ?? 0, Math.max(...times), cpuMs].map((ms) => ms.toFixed(1));
      lines.push([range, shape, String(requests), ...shown, cpuMs <= mostMs ? 'yes' : 'NO']);
    }
  }
  for (const line of toTable(['RANGE', 'QUESTION', 'REQUESTS', 'MEDIAN MS', 'WORST MS', 'CPU MS', 'WITHIN'], lines)) {
    console.log(line);
  }
  const { size } = await stat(path);
  console.log(
    `${(size / 1e9).toFixed(2)} GB without rows, ${size <= mostBytes ? 'within' : 'OVER'} ${mostBytes / 1e9}`,
  );
  if (isTooSlow || size > mostBytes) process.exitCode = 1;
} finally {
  await store.close();
  if (directory !== undefined && !values.keep) await rm(directory, { recursive: true, force: true });
}
