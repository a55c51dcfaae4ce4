import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createFaultyFiles } from '../../test/support/ledger/faulty-files.ts';
import { intentLine, outcomes, readThrough, settlementLine } from '../../test/support/ledger/journal-lines.ts';
import { GatewayError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { EndReserve } from './end-reserve.ts';
import { createJournal, type Journal, type JournalOptions } from './journal.ts';
import type { RowItem } from './journal-items.ts';
import { createJournalReader } from './journal-reader.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'postern-room-'));
  writeFileSync(join(directory, 'id'), 'journal-1\n');
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function open(options: Partial<JournalOptions> = {}): Promise<Journal> {
  return createJournal({ directory, node: 'node-1', durability: 'fast', clock: systemClock, retryMs: 5, ...options });
}

async function isTaken(promise: Promise<void>): Promise<boolean> {
  try {
    await promise;
    return true;
  } catch (error) {
    assert.ok(error instanceof GatewayError && error.code === 'store_unavailable', String(error));
    return false;
  }
}

test('every admitted request can record its end on a full disk, however long its names', async () => {
  const longName = '\u0001'.repeat(256);
  const intent = (id: string): RowItem => intentLine(id, longName);
  // The model's name occurs three times in an end: twice, and in a failed call. Here it occurs once.
  const end = (id: string): RowItem => settlementLine(id, longName);
  const disk = createFaultyFiles('ENOSPC');
  const journal = await open({ files: disk.files, node: longName, segmentBytes: 64 * 1024 });
  disk.judge((call) => (call === 'writeLater' ? 'fails' : undefined));
  const running: string[] = [];
  for (let n = 0; await isTaken(journal.open(`id-${n}`, intent(`id-${n}`))); n += 1) running.push(`id-${n}`);
  assert.ok(running.length >= 5, `${running.length}`);
  for (const id of running) assert.equal(await isTaken(journal.settle(id, end(id))), true, id);
  disk.judge(undefined);
  await journal.close();
  const reader = createJournalReader({ directory, isOrphan: () => true });
  await reader.open(undefined);
  assert.deepEqual(
    outcomes((await readThrough(reader)).rows),
    running.map((id) => `${id} ok`),
  );
});

test('space reserved for end records is released to the byte, in any order', () => {
  const reserve = new EndReserve();
  for (const [id, bytes] of [
    ['a', 400],
    ['b', 5_000],
    ['c', 512],
    ['d', 513],
  ] as const) {
    reserve.open(id, bytes);
  }
  assert.deepEqual([reserve.count, reserve.bytes], [4, 2_048 + 11_024 + 2_048 + 2_050]);
  for (const id of ['b', 'a', 'd', 'c']) reserve.close(id);
  assert.deepEqual([reserve.count, reserve.bytes], [0, 0]);
});

test('a request that is refused on a full disk releases its reserved space', async () => {
  const disk = createFaultyFiles('ENOSPC');
  disk.judge((call) => (call === 'writeLater' ? 'fails' : undefined));
  const journal = await open({ files: disk.files });
  for (let n = 0; n < 50; n += 1)
    assert.equal(await isTaken(journal.open(`${n}`, intentLine('x'.repeat(2_000)))), false);
  assert.equal(journal.state().openExchanges, 0);
  disk.judge(undefined);
  while (journal.state().failing) await wait(2);
  assert.equal(await isTaken(journal.open('a', intentLine('a'))), true);
  await journal.close();
});

for (const durability of ['fast', 'strict'] as const) {
  test(`after the journal's files were deleted, writes are refused: ${durability}`, async () => {
    const journal = await open({ durability });
    await journal.open('a', intentLine('a'));
    rmSync(directory, { recursive: true });
    // It polls fifty times a second.
    await wait(40);
    assert.equal(await isTaken(journal.open('b', intentLine('b'))), false);
    assert.equal(await isTaken(journal.settle('a', settlementLine('a'))), false);
    assert.equal(journal.state().failing, true);
    await journal.close();
  });
}
