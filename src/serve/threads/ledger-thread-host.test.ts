import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { intentLine, settlementLine } from '../../../test/support/ledger/journal-lines.ts';
import { rowId } from '../../../test/support/ledger/ledger-rows.ts';
import { until } from '../../../test/support/time/until.ts';
import { createJournal } from '../../journal/journal.ts';
import { claimSlot } from '../../journal/journal-slot.ts';
import { systemClock } from '../../lib/clock.ts';
import { openStore } from '../../store/open-store.ts';
import { lockFile } from '../../store/sqlite/sqlite-file.ts';
import type { LedgerThreadData } from './ledger-thread.ts';
import { startLedgerThread } from './ledger-thread-host.ts';

const startedAtMs = 1_800_000_000_000;
const id = (number: number): string => rowId(startedAtMs, number);

/** A process that writes a journal beside a store, and its rows in the store. */
async function setUp(t: TestContext) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-ledger-thread-'));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  const url = 'sqlite:postern.db';
  const store = await openStore(url, { cwd });
  t.after(() => store.close());
  const directory = join(cwd, 'journal');
  const slot = claimSlot({ directory, lock: lockFile, clock: systemClock, store: 'the store' });
  t.after(() => slot.release());
  const journal = await createJournal({
    directory: slot.directory,
    node: 'one',
    durability: 'fast',
    clock: systemClock,
  });
  t.after(() => journal.close());
  const reported: string[] = [];
  const report = (message: string) => void reported.push(message);
  const data: LedgerThreadData = {
    url,
    cwd,
    directories: [directory],
    identity: 'the store',
    slot,
    retentionMs: Number.POSITIVE_INFINITY,
  };
  return {
    store,
    reported,
    data: { ...data, slot: { number: slot.number, directory: slot.directory } },
    log: { info: report, warn: report, error: report },
    async write(number: number) {
      await journal.open(id(number), intentLine(id(number), 'one'));
      await journal.settle(id(number), settlementLine(id(number), 'one'));
    },
    ids: async () => (await store.ledger.page({}, { limit: 100 })).rows.map((row) => row.id).toReversed(),
  };
}

test('the thread imports the rows that the journal has at the start, and those written later', async (t) => {
  const { data, log, write, ids, reported } = await setUp(t);
  for (let number = 1; number <= 5; number++) await write(number);
  const thread = startLedgerThread({ ...data, log });
  await thread.caughtUp();
  assert.deepEqual(await ids(), [1, 2, 3, 4, 5].map(id));
  await write(6);
  await until(async () => (await ids()).length === 6);
  await write(7);
  await thread.close();
  assert.deepEqual(await ids(), [1, 2, 3, 4, 5, 6, 7].map(id));
  const { importedRows, bytesBehind, rowsBehind, oldestAtMs, failure } = thread.state();
  assert.deepEqual([importedRows, bytesBehind, rowsBehind, oldestAtMs, failure], [7, 0, 0, undefined, undefined]);
  assert.deepEqual(reported, []);
});

test('the thread has a lower priority than the rest of the process', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const { data, log } = await setUp(t);
  const ours = getPriority();
  const lower = Math.min(19, ours + 5);
  const prioritiesOfOthers = async () => {
    const threads = (await readdir('/proc/self/task')).map(Number).filter((threadId) => threadId !== process.pid);
    return threads.map(getPriority);
  };
  assert.ok(!(await prioritiesOfOthers()).includes(lower));
  const thread = startLedgerThread({ ...data, log });
  await thread.caughtUp();
  assert.equal((await prioritiesOfOthers()).filter((priority) => priority === lower).length, 1);
  assert.equal(getPriority(), ours);
  await thread.close();
});

test('a thread that dies is restarted, and every row is imported once', async (t) => {
  const { data, log, write, ids, reported } = await setUp(t);
  const workers: Worker[] = [];
  const startWorker = (given: LedgerThreadData): Worker => {
    const worker = new Worker(new URL('./ledger-thread.ts', import.meta.url), { workerData: given });
    workers.push(worker);
    return worker;
  };
  await write(1);
  const thread = startLedgerThread({ ...data, log, startWorker });
  await thread.caughtUp();
  await until(() => thread.state().importedRows === 1);
  await workers[0]?.terminate();
  await write(2);
  await until(async () => (await ids()).length === 2);
  await thread.close();
  assert.deepEqual(await ids(), [id(1), id(2)]);
  assert.equal(thread.state().importedRows, 2, 'what the dead one imported counts on');
  assert.equal(workers.length, 2);
  assert.deepEqual(reported, ['ledger thread crashed']);
});

test('while the store cannot be opened, the thread reports the reason and the rows stay in the journal', async (t) => {
  const { data, log, write, store, reported } = await setUp(t);
  await write(1);
  const thread = startLedgerThread({ ...data, url: 'sqlite:journal', log });
  await until(() => reported.length > 0);
  assert.equal(reported[0], 'store not opened');
  await until(() => thread.state().failure !== undefined);
  assert.match(thread.state().failure ?? '', /is a directory/);
  await thread.close();
  assert.deepEqual((await store.ledger.page({}, { limit: 1 })).rows, []);
});
