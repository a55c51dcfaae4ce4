/**
 * Measures the CPU time of importing a ledger row: reading the journal's frames, joining them into rows, and writing those to the store.
 *
 *   node bench/ledger-import.ts [--rows 100000] [--batch 4000] [--keys 200] [--store sqlite:/tmp/x/postern.db] [--rounds 3]
 *
 * Without --store it makes a SQLite file in the system's temporary directory for each round, and removes it at the end. A store
 * that is named is imported into as it is; of PostgreSQL the figure is this process's part.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { LedgerRow } from '../src/core/accounting/ledger-row.ts';
import type { LedgerStore } from '../src/core/store/ledger.ts';
import { createJournal } from '../src/journal/journal.ts';
import { systemFiles } from '../src/journal/journal-files.ts';
import { createJournalReader, type JournalBatch, type JournalReader } from '../src/journal/journal-reader.ts';
import { listSegments, SegmentReader } from '../src/journal/journal-segment.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createId } from '../src/lib/ids.ts';
import { openStore } from '../src/store/open-store.ts';
import { intentItem, settlementItem } from '../test/support/ledger/journal-lines.ts';
import { spreadRows } from '../test/support/ledger/ledger-rows.ts';
import { median } from './measurement.ts';

/** Of a gateway that answers 4,000 a second, one in ten milliseconds after it was asked. */
const rowsASecond = 4_000;
const openAtOnce = 40;
/** Intents and settlements each, in a turn of the event loop. */
const rowsATurn = 2;
const warmUpRows = 5_000;
/** Read at a time, as the importer does. */
const partRows = Number(process.env.PART ?? 256);

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    batch: { type: 'string', default: '4000' },
    keys: { type: 'string', default: '200' },
    store: { type: 'string' },
    rounds: { type: 'string', default: '3' },
  },
});
const rowCount = toNumber('rows');
const batchRows = toNumber('batch');
const keyCount = toNumber('keys');
const rounds = toNumber('rounds');

function toNumber(name: 'rows' | 'batch' | 'keys' | 'rounds'): number {
  const number = Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} ${values[name]} is no number`);
  return number;
}

const directory = await mkdtemp(join(tmpdir(), 'postern-import-'));
try {
  const figures: Record<'frames' | 'rows' | 'import', number[]> = { frames: [], rows: [], import: [] };
  await measureRound(join(directory, 'warm-up'), warmUpRows);
  for (let round = 1; round <= rounds; round++) {
    const of = await measureRound(join(directory, String(round)), rowCount);
    for (const what of ['frames', 'rows', 'import'] as const) figures[what].push(of[what]);
    console.error(`round ${round}: ${toText(of.frames)} + ${toText(of.rows)} + ${toText(of.import)} us a row`);
  }
  console.log(
    `${rowCount} rows of ${keyCount} keys, ${batchRows} at a time; CPU microseconds a row, medians of ${rounds}`,
  );
  console.log(`frames read and checked   ${toText(median(figures.frames) ?? 0)}`);
  console.log(`rows parsed and joined    ${toText(median(figures.rows) ?? 0)}`);
  console.log(`rows into the store       ${toText(median(figures.import) ?? 0)}`);
} finally {
  await rm(directory, { recursive: true, force: true });
}

function toText(us: number): string {
  return us.toFixed(2);
}

/** What is read for the frames alone is taken off what is read for the rows. */
async function measureRound(directory: string, rows: number): Promise<Record<'frames' | 'rows' | 'import', number>> {
  const slot = join(directory, 'journal');
  await writeJournal(slot, rows);
  const store = await openStore(values.store ?? `sqlite:${join(directory, 'postern.db')}`, { cwd: process.cwd() });
  try {
    const frames = await cpuUs(() => readFrames(slot));
    const reader = createJournalReader({ directory: slot, isOrphan: () => true });
    const into = await readAndImport(reader, store.ledger);
    if (into.rows !== rows) throw new Error(`${into.rows} rows came of ${rows}`);
    return { frames: frames / rows, rows: (into.readUs - frames) / rows, import: into.importUs / rows };
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function readAndImport(reader: JournalReader, ledger: LedgerStore) {
  let rows = 0;
  let readUs = 0;
  let importUs = 0;
  await reader.open(undefined);
  const read = async (): Promise<JournalBatch> => {
    let batch: JournalBatch | undefined;
    readUs += await cpuUs(async () => {
      batch = await reader.read(partRows);
    });
    if (batch === undefined) throw new Error('nothing was read');
    rows += batch.rows.length;
    return batch;
  };
  for (let last = await read(); last.rows.length > 0; last = await read()) {
    const until = rows + batchRows - partRows;
    const readBefore = readUs;
    const usOfAll = await cpuUs(() =>
      ledger.import(reader.id, last.rows, last.position, async () => {
        if (!last.isFull || rows >= until) return undefined;
        last = await read();
        return last;
      }),
    );
    importUs += usOfAll - (readUs - readBefore);
  }
  await reader.close();
  return { rows, readUs, importUs };
}

/** Of this process, in user and system. */
async function cpuUs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function readFrames(slot: string): void {
  for (const number of listSegments(slot, systemFiles)) {
    const segment = new SegmentReader(slot, number, systemFiles);
    for (let frame = segment.frameAt(0); frame !== undefined; frame = segment.frameAt(frame.end));
    segment.close();
  }
}

/** As a gateway does: each exchange is opened, and settled while others are open. */
async function writeJournal(slot: string, rows: number): Promise<void> {
  await mkdir(slot, { recursive: true });
  await writeFile(join(slot, 'id'), createId(Date.now()));
  const journal = await createJournal({ directory: slot, node: 'node-1', durability: 'fast', clock: systemClock });
  const open: LedgerRow[] = [];
  let written: Promise<void>[] = [];
  const settle = (row: LedgerRow): void => {
    written.push(journal.settle(row.id, settlementItem(row, [])));
  };
  const toMs = Date.now();
  const fromMs = toMs - (rows / rowsASecond) * 1_000;
  for (const spread of spreadRows({ rows, fromMs, toMs, keys: keyCount, projects: 10, models: 30, upstreams: 6 })) {
    const row = { ...spread, id: createId(spread.startedAtMs), node: 'node-1' };
    open.push(row);
    written.push(journal.open(row.id, intentItem(row, { nanos: 0, accounts: [] })));
    const ended = open.length > openAtOnce ? open.shift() : undefined;
    if (ended !== undefined) settle(ended);
    if (written.length < rowsATurn * 2) continue;
    await Promise.all(written);
    written = [];
  }
  open.forEach(settle);
  await Promise.all(written);
  await journal.close();
}
