/**
 * Fills the metric series of a store minute by minute through the import, and measures every query of the console.
 *
 *   node bench/series.ts [--days 90] [--series 4000] [--active 0.05] [--store sqlite:/tmp/x/postern.db] [--keep]
 *
 * A store that holds as many rows already is measured as it is. Fails where a question takes more than 200 ms (the median of five; of the processor, as other work of a machine that is shared is none of it). --days 2 is enough for a look.
 */

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toTable } from '../src/cli/output.ts';
import type { SeriesQuery } from '../src/core/store/series.ts';
import { openStore } from '../src/store/open-store.ts';
import { createRandom, imported, rowId } from '../test/support/ledger/ledger-rows.ts';
import { createFakeClock } from '../test/support/time/fake-clock.ts';
import { median } from './measurement.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mostMs = 200;
const minutesPerImport = 10;
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
const url = values.store ?? `sqlite:${join(directory ?? '', 'postern.db')}`;
const startMs = Date.UTC(2027, 0, 1);
const clock = createFakeClock(startMs);
const store = await openStore(url, { cwd: process.cwd(), clock });

async function tend(): Promise<void> {
  while (await store.series.tend(400 * dayMs, clock.nowMs()));
}

/** Forty models at two upstreams each, for as many keys as make the series. */
async function fill(): Promise<void> {
  const rowCount = days * 24 * 60 * perMinute;
  if (((await store.ledger.usage({}, []))[0]?.sums.requests ?? 0) >= rowCount) {
    clock.advance(days * dayMs);
    return;
  }
  const random = createRandom(1);
  let number = 0;
  let saidMs = performance.now();
  for (let minute = 0; minute < days * 24 * 60; minute += minutesPerImport) {
    const rows = Array.from({ length: minutesPerImport * perMinute }, (_, at) => {
      const series = Math.floor(random() * seriesCount);
      const startedAtMs = startMs + (minute + Math.floor(at / perMinute)) * minuteMs + Math.floor(random() * minuteMs);
      const model = series % 40;
      const failed = random() < 0.02;
      return imported({
        id: rowId(startedAtMs, ++number),
        startedAtMs,
        model: `vendor/model-${model}`,
        upstream: `upstream-${model % 8}`,
        key: `key_${String(Math.floor(series / 40)).padStart(16, 'a')}`,
        project: `project-${series % 10}`,
        operation: model % 2 === 0 ? 'embeddings' : 'rerank',
        outcome: failed ? 'error' : 'ok',
        status: failed ? 502 : 200,
        durationMs: Math.round(10_000 * random() ** 4) / 10,
      });
    });
    await store.ledger.import('bench', rows, { segment: 1, offset: minute + 1 });
    clock.advance(minutesPerImport * minuteMs);
    await tend();
    if (performance.now() - saidMs < 10_000) continue;
    saidMs = performance.now();
    console.error(`${(minute / 24 / 60).toFixed(1)} of ${days} days, ${number} rows`);
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
  ['p95 by model', { by: ['model'], order: 'p95' }],
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
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path !== undefined) console.log(`${((await stat(path)).size / 1024 ** 3).toFixed(2)} GiB, rows included`);
  if (isTooSlow) process.exitCode = 1;
} finally {
  await store.close();
  if (directory !== undefined && !values.keep) await rm(directory, { recursive: true, force: true });
}
