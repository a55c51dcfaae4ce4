import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { createFaultyFiles, type FaultyFiles } from '../../test/support/ledger/faulty-files.ts';
import { readThrough, settlementItem } from '../../test/support/ledger/journal-lines.ts';
import { ledgerRow } from '../../test/support/ledger/ledger-rows.ts';
import { Captured } from '../core/accounting/captured.ts';
import type { Reservation } from '../core/accounting/spending.ts';
import { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Route } from '../core/route.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { ImportedRow } from '../core/store/ledger.ts';
import { createJournal, type Journal } from '../journal/journal.ts';
import type { RowItem } from '../journal/journal-items.ts';
import { createJournalReader } from '../journal/journal-reader.ts';
import { createMemoryJournal } from '../journal/memory-journal.ts';
import { systemClock } from '../lib/clock.ts';
import { createLedger } from './ledger.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'postern-ledger-'));
  writeFileSync(join(directory, 'id'), 'journal-1\n');
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const noSpace = '[not kept: the journal had no room for it]';
const body = Buffer.from(JSON.stringify({ input: 'x'.repeat(40_000) }));
const route = { path: '/v1/embeddings', operation: 'embeddings', label: 'openai' } as Route;
const key = { id: 'dev', captureMs: 60_000 } as KeyRecord;
const partial: unknown = {
  server: { logClientAddress: false },
  upstreams: new Map(),
  ledger: { hiddenFields: [] },
};
const snapshot = partial as Snapshot;
const reservation: Reservation = {
  rateLines: '',
  nanos: 0,
  accounts: [],
  enter: () => undefined,
  endLimits: () => undefined,
  settle: () => undefined,
};

function exchangeOf(id: string): Exchange {
  const exchange = new Exchange(id, undefined, snapshot, 1_800_000_000_000, 0);
  const captured = new Captured(body);
  captured.push(Buffer.from('{}'));
  return Object.assign(exchange, { key, route, captured, outcome: 'ok', status: 200, attempts: 1 });
}

function openJournal({ files }: FaultyFiles, segmentBytes: number): Promise<Journal> {
  return createJournal({
    directory,
    node: 'n',
    durability: 'fast',
    clock: systemClock,
    files,
    segmentBytes,
    retryMs: 5,
  });
}

async function rowsOf(most?: number): Promise<readonly ImportedRow[]> {
  const reader = createJournalReader({ directory, isOrphan: () => true });
  await reader.open(undefined);
  return (await readThrough(reader, most === undefined ? {} : { most })).rows;
}

test('stores captured bodies with the ledger row', async () => {
  const journal = await openJournal(createFaultyFiles(), 1024 * 1024);
  const ledger = createLedger({ journal, node: 'n', clock: systemClock });
  const exchange = exchangeOf('a');
  await ledger.open(exchange, reservation);
  await ledger.settle(exchange, reservation);
  await journal.close();
  const [row] = await rowsOf();
  assert.deepEqual([row?.capture?.request, row?.capture?.response], [body.toString(), '{}']);
});

test('with a full disk, ledger rows are written without captured bodies', async () => {
  const disk = createFaultyFiles('ENOSPC');
  const journal = await openJournal(disk, 256 * 1024);
  const ledger = createLedger({ journal, node: 'n', clock: systemClock });
  const running = Array.from({ length: 60 }, (_, n) => exchangeOf(`r${n}`));
  for (const exchange of running) await ledger.open(exchange, reservation);
  disk.judge((call) => (call === 'writeLater' ? 'fails' : undefined));
  // With bodies each would take ten times the space that is left.
  for (const exchange of running) await ledger.settle(exchange, reservation);
  disk.judge(undefined);
  await journal.close();
  const rows = await rowsOf();
  assert.equal(rows.length, 60);
  assert.deepEqual(new Set(rows.map(({ row }) => row.outcome)), new Set(['ok']));
  assert.ok(rows.some(({ capture }) => capture?.request === noSpace));
  assert.ok(rows.every(({ capture }) => capture?.request === noSpace || capture?.request === body.toString()));
});

test('captured bodies leave journal space for requests that end at the same moment', async () => {
  const journal = await openJournal(createFaultyFiles(), 256 * 1024);
  const ledger = createLedger({ journal, node: 'n', clock: systemClock });
  const running = Array.from({ length: 60 }, (_, n) => exchangeOf(`r${n}`));
  await Promise.all(running.map((exchange) => ledger.open(exchange, reservation)));
  await Promise.all(running.map((exchange) => ledger.settle(exchange, reservation)));
  await journal.close();
  const rows = await rowsOf();
  assert.deepEqual([rows.length, new Set(rows.map(({ row }) => row.outcome))], [60, new Set(['ok'])]);
});

test('imports rows with captured bodies into the store a few at a time', async () => {
  const journal = await openJournal(createFaultyFiles(), 64 * 1024 * 1024);
  const capture = { request: 'x'.repeat(1024 * 1024), response: '', expiresAtMs: 1 };
  const line = (n: number): RowItem => settlementItem(ledgerRow({ id: `${n}`, node: 'n' }), [], capture);
  for (let n = 0; n < 20; n++) await journal.note(line(n));
  await journal.close();
  const reader = createJournalReader({ directory, isOrphan: () => true });
  await reader.open(undefined);
  const first = await reader.read(1_000);
  assert.ok(first.rows.length >= 1 && first.rows.length <= 10, `${first.rows.length} at once`);
  assert.equal(first.rows.length + (await readThrough(reader)).rows.length, 20);
});

test('an in-memory journal keeps captured bodies only while there is space', async () => {
  const { journal, reader } = createMemoryJournal(100_000);
  const ledger = createLedger({ journal, node: 'n', clock: systemClock });
  for (const id of ['a', 'b', 'c']) {
    const exchange = exchangeOf(id);
    await ledger.open(exchange, reservation);
    await ledger.settle(exchange, reservation);
  }
  await reader.open(undefined);
  const { rows } = await reader.read(10);
  assert.deepEqual(
    rows.map(({ capture }) => capture?.request === noSpace),
    [false, false, true],
  );
});
