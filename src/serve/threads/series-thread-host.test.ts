import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { imported } from '../../../test/support/ledger/ledger-rows.ts';
import type { SeriesQuery } from '../../core/store/series.ts';
import { openStore } from '../../store/open-store.ts';
import { createSeriesThread } from './series-thread-host.ts';

const minuteMs = 60_000;
const query: SeriesQuery = {
  fromMs: Date.now() - 60 * minuteMs,
  toMs: Date.now(),
  zoneMs: 0,
  filter: {},
  by: ['model'],
  top: 1_000,
  order: 'requests',
  latency: 'duration',
  wantsHeatmap: true,
  wantsPoints: true,
};

async function open(t: TestContext) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-series-thread-'));
  t.after(() => rm(cwd, { recursive: true, force: true, maxRetries: 20 }));
  const store = await openStore('sqlite:postern.db', { cwd });
  t.after(() => store.close());
  const rows = Array.from({ length: 250 }, (_, at) =>
    imported({ startedAtMs: query.toMs - minuteMs, model: `m-${at}` }),
  );
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  return { store, data: { url: 'sqlite:postern.db', cwd } };
}

test('the thread answers many parallel queries with the same results as the store itself', async (t) => {
  const { store, data } = await open(t);
  const thread = createSeriesThread(data);
  t.after(() => thread.close());
  const exact = await store.series.read(query);
  const answers = await Promise.all(Array.from({ length: 5 }, () => thread.read(query)));
  for (const answer of answers) {
    assert.equal(answer.lines.length, 250);
    assert.deepEqual(answer.total, exact.total);
    assert.deepEqual(answer.lines[7]?.figures.duration, exact.lines[7]?.figures.duration);
    assert.deepEqual(answer.lines[7]?.points, exact.lines[7]?.points);
    assert.deepEqual(answer.heatmap, exact.heatmap);
  }
});

test('the thread rejects an invalid query with a RangeError', async (t) => {
  const { data } = await open(t);
  const thread = createSeriesThread(data);
  t.after(() => thread.close());
  await assert.rejects(
    thread.read({ ...query, fromMs: query.toMs - 72 * 60 * minuteMs, stepMs: minuteMs }),
    RangeError,
  );
});

test('when the thread dies, its waiting queries fail, and the next query starts a new thread', async (t) => {
  const { data } = await open(t);
  let started: Worker | undefined;
  const entry = new URL('./series-thread.ts', import.meta.url);
  const thread = createSeriesThread({
    ...data,
    startWorker(workerData) {
      started = new Worker(entry, { workerData });
      return started;
    },
  });
  t.after(() => thread.close());
  const failing = assert.rejects(thread.read(query), /thread of the series/);
  const first = started;
  assert.ok(first !== undefined);
  await once(first, 'online');
  await first.terminate();
  await failing;
  assert.equal((await thread.read(query)).lines.length, 250);
});

test('a query fails with a StoreError if the store cannot be opened, and the next one tries again', async (t) => {
  const { data } = await open(t);
  const thread = createSeriesThread({ ...data, url: 'sqlite:/proc/nowhere/postern.db' });
  t.after(() => thread.close());
  for (let attempt = 0; attempt < 2; attempt++) await assert.rejects(thread.read(query), { name: 'StoreError' });
});
