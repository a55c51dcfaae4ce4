/**
 * Fills a ledger with many rows through the import, then measures queries on it.
 *
 *   node bench/ledger-rows.ts [--rows 10000000] [--store sqlite:/tmp/x/postern.db] [--keep]
 *
 * Without --store it makes a SQLite file in the system's temporary directory, and removes it at the end unless --keep is
 * given. A store that holds as many rows already is measured as it is.
 */

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toTable } from '../src/cli/output.ts';
import type { ImportedRow, LedgerStore } from '../src/core/store/ledger.ts';
import { openStore } from '../src/store/open-store.ts';
import { spreadRows } from '../test/support/ledger/ledger-rows.ts';
import { median } from './measurement.ts';

const dayMs = 86_400_000;
const days = 90;
const rowsPerImport = 10_000;
const pages = 1_000;
const progressEveryMs = 10_000;
const repetitions = 7;

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    store: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const wanted = Number(values.rows);
if (!Number.isSafeInteger(wanted) || wanted < 1) throw new Error(`--rows ${values.rows} is no number of rows`);

const directory = values.store === undefined ? await mkdtemp(join(tmpdir(), 'postern-ledger-')) : undefined;
const url = values.store ?? `sqlite:${join(directory ?? '', 'postern.db')}`;
const store = await openStore(url, { cwd: process.cwd() });
try {
  await fill(store.ledger);
  await measure(store.ledger);
} finally {
  await store.close();
  if (directory !== undefined && !values.keep) await rm(directory, { recursive: true, force: true });
}

/** The newest rows end now, so that "the last 30 days" are what they are for an operator. */
async function fill(ledger: LedgerStore): Promise<void> {
  const there = (await ledger.usage({}, []))[0]?.sums.requests ?? 0;
  if (there >= wanted) return;
  const toMs = Date.now();
  const spread = { fromMs: toMs - days * dayMs, toMs, keys: 200, projects: 10, models: 30, upstreams: 6 };
  const beganMs = performance.now();
  let imported = 0;
  let saidMs = beganMs;
  const report = (): void => {
    const perSecond = Math.round(imported / ((performance.now() - beganMs) / 1_000));
    console.error(`${imported} of ${wanted} rows, ${perSecond} a second`);
  };
  let batch: ImportedRow[] = [];
  const send = async (): Promise<void> => {
    imported += await ledger.import('bench', batch, { segment: 1, offset: imported });
    batch = [];
    if (performance.now() - saidMs < progressEveryMs) return;
    saidMs = performance.now();
    report();
  };
  for (const row of spreadRows({ rows: wanted, ...spread })) {
    batch.push({ row, accounts: [] });
    if (batch.length === rowsPerImport) await send();
  }
  await send();
  report();
}

async function measure(ledger: LedgerStore): Promise<void> {
  const nowMs = Date.now();
  const newest = await ledger.page({}, { limit: 50 });
  const busyKey = newest.rows[0]?.key ?? '';
  const rareKey = `key_${'199'.padStart(16, 'a')}`;
  const used = new Set((await ledger.usage({ key: busyKey }, ['model'])).map(({ by }) => by.model));
  const rareModel = (await ledger.usage({}, ['model'])).find(({ by }) => !used.has(by.model))?.by.model ?? '';
  const deep = await findDeepCursor(ledger);
  const figures: [what: string, barMs: number, ask: () => Promise<{ readonly length: number }>][] = [
    ['usage by key and day, 30 days', 200, () => ledger.usage({ fromMs: nowMs - 30 * dayMs }, ['key', 'day'])],
    ['usage by key and day, 90 days', 200, () => ledger.usage({ fromMs: nowMs - days * dayMs }, ['key', 'day'])],
    ['usage by day, 30 days', 200, () => ledger.usage({ fromMs: nowMs - 30 * dayMs }, ['day'])],
    [
      'usage of one key by hour, 7 days',
      200,
      () => ledger.usage({ key: busyKey, fromMs: nowMs - 7 * dayMs }, ['hour']),
    ],
    ['newest page', 20, () => readRows({})],
    ['newest page of a busy key', 20, () => readRows({ key: busyKey })],
    ['newest page of a rare key', 20, () => readRows({ key: rareKey })],
    ['newest page of nobody', 20, () => readRows({ key: 'nobody' })],
    ['newest page of what went wrong', 20, () => readRows({ outcome: 'error' })],
    ['newest page of a key, what was refused', 200, () => readRows({ key: busyKey, outcome: 'refused' })],
    ['newest page of a key with a model it never used', 200, () => readRows({ key: busyKey, model: rareModel })],
    ['newest page of a rare key, what was refused', 200, () => readRows({ key: rareKey, outcome: 'refused' })],
    ['a page a month ago', 20, () => readRows({ toMs: nowMs - 30 * dayMs })],
    [`page ${pages}, by cursor`, 20, () => readRows({}, deep)],
  ];
  async function readRows(filter: Parameters<LedgerStore['page']>[0], before?: string) {
    return (await ledger.page(filter, { before, limit: 50 })).rows;
  }

  const lines: string[][] = [];
  for (const [what, barMs, ask] of figures) {
    const times: number[] = [];
    const cpuTimes: number[] = [];
    let length = 0;
    for (let n = 0; n < repetitions; n++) {
      const beganMs = performance.now();
      const cpu = process.cpuUsage();
      ({ length } = await ask());
      times.push(performance.now() - beganMs);
      const { user, system } = process.cpuUsage(cpu);
      cpuTimes.push((user + system) / 1_000);
    }
    const medianMs = median(times) ?? 0;
    const shown = [times[0] ?? 0, medianMs, Math.max(...times), median(cpuTimes) ?? 0].map((ms) => ms.toFixed(1));
    lines.push([what, String(length), ...shown, String(barMs), medianMs <= barMs ? 'yes' : 'NO']);
  }
  const rows = (await ledger.usage({}, []))[0]?.sums.requests ?? 0;
  console.log(`${rows} rows${await sizeOf()}`);
  for (const line of toTable(
    ['WHAT', 'LINES', 'FIRST MS', 'MEDIAN MS', 'WORST MS', 'CPU MS', 'BAR MS', 'WITHIN'],
    lines,
  )) {
    console.log(line);
  }
}

/** As a reader gets there: page by page. */
async function findDeepCursor(ledger: LedgerStore): Promise<string | undefined> {
  let before: string | undefined;
  for (let page = 1; page < pages; page++) {
    const { next } = await ledger.page({}, { before, limit: 50 });
    if (next === undefined) break;
    before = next;
  }
  return before;
}

async function sizeOf(): Promise<string> {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path === undefined) return '';
  const { size } = await stat(path);
  return `, ${(size / 1024 ** 3).toFixed(2)} GiB`;
}
