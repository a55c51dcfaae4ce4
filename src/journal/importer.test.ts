import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { intentLine, settlementItem, settlementLine } from '../../test/support/ledger/journal-lines.ts';
import { imported, ledgerRow, rowId } from '../../test/support/ledger/ledger-rows.ts';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import { until } from '../../test/support/time/until.ts';
import type { JournalPosition } from '../core/store/ledger.ts';
import type { Store } from '../core/store/store.ts';
import { storedObjectsMs } from '../core/store/stored-objects.ts';
import { openStore } from '../store/open-store.ts';
import { lockFile } from '../store/sqlite/sqlite-file.ts';
import { createImporter, type Importer, type ImporterDeps } from './importer.ts';
import { createJournal } from './journal.ts';
import { createJournalReader, type JournalReader } from './journal-reader.ts';
import { claimSlot, claimSlotAt } from './journal-slot.ts';
import { createMemoryJournal } from './memory-journal.ts';
import { createOrphanClaims } from './orphans.ts';

const startedAtMs = 1_800_000_000_000;
const id = (number: number): string => rowId(startedAtMs, number);

interface Event {
  readonly level: string;
  readonly message: string;
}

async function setUp(t: TestContext, more: Partial<ImporterDeps> = {}) {
  const clock = createFakeClock(startedAtMs + 1_000);
  const store = await openStore('sqlite::memory:', { cwd: '/nowhere', clock });
  t.after(() => store.close());
  const { journal, reader } = createMemoryJournal();
  const events: Event[] = [];
  const logAt = (level: string) => (message: string) => void events.push({ level, message });
  const log = { info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
  const start = (deps: Partial<ImporterDeps> = {}): Importer => {
    const base = {
      own: reader,
      claimOrphans: () => [],
      store,
      clock,
      log,
      retentionMs: Number.POSITIVE_INFINITY,
      pollMs: 1,
    };
    const importer = createImporter({ ...base, ...more, ...deps });
    t.after(() => importer.close());
    return importer;
  };
  return { clock, store, journal, reader, events, start };
}

async function idsIn({ ledger }: Store): Promise<string[]> {
  return (await ledger.page({}, { limit: 1_000 })).rows.map((row) => row.id).toReversed();
}

/** A journal in its own slot, as a process would write it. */
async function setUpFiles(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-importer-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const clock = createFakeClock(startedAtMs);
  const slots = { directory, lock: lockFile, clock, store: 'the store' };
  return { slots, clock, claims: createOrphanClaims({ ...slots, ownSlot: undefined, isSecure: async () => true }) };
}

test('rows are imported as they are written, and ended nodes release their budgets before the journal drops them', async (t) => {
  const { store, journal, reader, events, start } = await setUp(t);
  const order: string[] = [];
  const watched: JournalReader = {
    ...reader,
    read: async (most) => ({ ...(await reader.read(most)), endedNodes: order.length === 0 ? ['gone'] : [] }),
    imported: (position) => {
      order.push('imported');
      return reader.imported(position);
    },
  };
  const budgets = { release: async (node: string) => void order.push(`released ${node}`) };
  const importer = start({ own: watched, store: { ...store, budgets } });
  await journal.note(settlementLine(id(1)));
  await until(() => importer.state().importedRows === 1);
  assert.deepEqual(order.slice(0, 2), ['released gone', 'imported']);
  await journal.note(settlementLine(id(2)));
  await journal.note(settlementLine(id(3)));
  await until(() => importer.state().importedRows === 3);
  assert.deepEqual(await idsIn(store), [id(1), id(2), id(3)]);
  await until(() => importer.state().bytesBehind === 0);
  assert.deepEqual(events, [], 'nothing had failed that would go on again');
});

test('the more rows one import takes, the longer the pause until the next import', async (t) => {
  const { journal, reader, start } = await setUp(t);
  const pollMs = 20;
  const looks: { readonly rows: number; readonly atMs: number }[] = [];
  let times = 1;
  const watched: JournalReader = {
    ...reader,
    async read(most) {
      const atMs = performance.now();
      const batch = await reader.read(most);
      const rows = batch.rows.flatMap((row) => Array.from({ length: times }, () => row));
      looks.push({ rows: rows.length, atMs });
      return { ...batch, rows };
    },
  };
  const importer = start({ own: watched, pollMs });
  await importer.caughtUp();
  const pauseAfter = async (rows: number): Promise<number> => {
    times = rows;
    await journal.note(settlementLine(id(rows)));
    const at = (): number => looks.findIndex((look) => look.rows === rows);
    await until(() => at() >= 0 && looks.length > at() + 1);
    return (looks[at() + 1]?.atMs ?? 0) - (looks[at()]?.atMs ?? 0);
  };
  // Timers may fire slightly early.
  assert.ok((await pauseAfter(1)) > 2 * pollMs - 2);
  assert.ok((await pauseAfter(500)) > 10 * pollMs - 2);
});

test('while the store fails no more rows are read, and afterwards each row is imported once', async (t) => {
  const { clock, store, journal, reader, events, start } = await setUp(t);
  let isAway = true;
  let attempts = 0;
  let reads = 0;
  const ledger = {
    ...store.ledger,
    import: async (...[name, rows, position]: Parameters<Store['ledger']['import']>) => {
      attempts += 1;
      if (isAway) throw new Error('the store is away');
      return store.ledger.import(name, rows, position);
    },
  };
  const counted: JournalReader = {
    ...reader,
    read(most) {
      reads += 1;
      return reader.read(most);
    },
  };
  const importer = start({ own: counted, store: { ...store, ledger }, batch: 2 });
  for (let number = 1; number <= 7; number++) await journal.note(settlementLine(id(number)));
  // Each retry follows a longer pause.
  await until(async () => {
    clock.advance(2_000);
    await wait(1);
    return attempts >= 6;
  });
  assert.deepEqual([importer.state().failure, importer.state().rowsBehind], ['the store is away', 7]);
  const readsBefore = reads;
  assert.ok(readsBefore <= 2, `${readsBefore} reads`);
  assert.deepEqual(
    events.filter(({ level }) => level === 'error').map(({ message }) => message),
    ['journal import failing'],
  );

  isAway = false;
  await until(() => {
    clock.advance(2_000);
    return importer.state().importedRows === 7;
  });
  assert.deepEqual(await idsIn(store), [1, 2, 3, 4, 5, 6, 7].map(id));
  assert.deepEqual([importer.state().failure, importer.state().rowsBehind], [undefined, 0]);
  assert.equal(events.filter(({ message }) => message === 'journal import working again').length, 1);
});

test('a batch of several parts whose import fails at its end is imported again later, each row once', async (t) => {
  const { clock, store, journal, reader, start } = await setUp(t);
  const positions: (JournalPosition | undefined)[] = [];
  const parts: number[] = [];
  let isAway = true;
  const ledger = {
    ...store.ledger,
    import: (...[name, rows, position, next]: Parameters<Store['ledger']['import']>) => {
      let count = 1;
      return store.ledger.import(name, rows, position, async () => {
        const part = await next?.();
        if (part !== undefined) count += 1;
        if (part === undefined) parts.push(count);
        if (part === undefined && isAway) throw new Error('the store is away');
        return part;
      });
    },
  };
  const watched: JournalReader = {
    ...reader,
    open(position) {
      positions.push(position);
      return reader.open(position);
    },
  };
  const numbers = Array.from({ length: 600 }, (_, index) => index + 1);
  for (const number of numbers) await journal.note(settlementLine(id(number)));
  const importer = start({ own: watched, store: { ...store, ledger } });
  await until(() => {
    clock.advance(2_000);
    return parts.length >= 2;
  });
  assert.deepEqual(parts.slice(0, 2), [3, 1], 'all at once, and then one part at a time');
  assert.deepEqual(await idsIn(store), [], 'nothing of a failed import stays');
  assert.deepEqual(positions, [undefined, undefined], 'the journal is read again from where the store is');
  isAway = false;
  await until(() => {
    clock.advance(2_000);
    return importer.state().importedRows === numbers.length;
  });
  assert.deepEqual(await idsIn(store), numbers.map(id));
  assert.deepEqual([importer.state().failure, importer.state().rowsBehind], [undefined, 0]);
});

test('a node that ended in a later part of a batch is released again after releasing it failed', async (t) => {
  const { slots, clock: fileClock, claims } = await setUpFiles(t);
  const { clock, store, start } = await setUp(t);
  const slot = claimSlot(slots);
  const journal = await createJournal({
    directory: slot.directory,
    node: 'node-1',
    durability: 'fast',
    clock: fileClock,
  });
  const numbers = Array.from({ length: 600 }, (_, index) => index + 1);
  for (const number of numbers) await journal.note(settlementLine(id(number)));
  const account = { id: 'key/dev/total', holderKind: 'key', holderId: 'dev', nanos: 1_000_000 } as const;
  await store.budgets.draw({ ...account, startsAtMs: 0, endsAtMs: Number.POSITIVE_INFINITY }, 'node-1', 1, 500_000);
  slot.release(); // as the system does for a killed process
  let failuresLeft = 1;
  const budgets = {
    async release(node: string): Promise<void> {
      if (failuresLeft-- > 0) throw new Error('the store is away');
      await store.budgets.release(node);
    },
  };
  const importer = start({ own: undefined, claimOrphans: claims, store: { ...store, budgets } });
  const isReleased = async () => (await store.budgets.state(account.id))?.holdingNodes === 0;
  for (let tries = 0; tries < 200 && !(await isReleased()); tries++) {
    clock.advance(2_000);
    await wait(1);
  }
  assert.deepEqual(await store.budgets.state(account.id), { spentNanos: 36_000, outstandingNanos: 0, holdingNodes: 0 });
  assert.equal(importer.state().importedRows, numbers.length);
});

test('the size of captured bodies limits how many rows one import takes', async (t) => {
  const { slots, clock: fileClock, claims } = await setUpFiles(t);
  const { store, start } = await setUp(t);
  const slot = claimSlot(slots);
  const journal = await createJournal({
    directory: slot.directory,
    node: 'node-1',
    durability: 'fast',
    clock: fileClock,
  });
  const body = 'b'.repeat(64 * 1024);
  for (let number = 1; number <= 300; number++) {
    const capture = { request: body, response: body, expiresAtMs: startedAtMs + 3_600_000 };
    await journal.note(settlementItem(ledgerRow({ id: id(number) }), [], capture));
  }
  slot.release();
  const taken: number[] = [];
  const ledger = {
    ...store.ledger,
    import: (...[name, rows, position, next]: Parameters<Store['ledger']['import']>) => {
      let count = rows.length;
      const counted = async () => {
        const part = await next?.();
        count += part?.rows.length ?? 0;
        if (part === undefined) taken.push(count);
        return part;
      };
      return store.ledger.import(name, rows, position, counted);
    },
  };
  const importer = start({ own: undefined, claimOrphans: claims, store: { ...store, ledger } });
  await importer.caughtUp();
  assert.equal(importer.state().importedRows, 300);
  const most = Math.max(...taken);
  assert.ok(most * 2 * body.length < 17 * 1024 * 1024, `one import took ${most} rows`);
});

test('an importer catches up under steady traffic, where each import finds further rows', async (t) => {
  const { store, journal, reader, start } = await setUp(t);
  const most = 300;
  let rows = 1;
  const ledger = {
    ...store.ledger,
    async import(...call: Parameters<Store['ledger']['import']>) {
      rows += 1;
      if (rows < most) await journal.note(settlementLine(id(rows)));
      return store.ledger.import(...call);
    },
  };
  await journal.note(settlementLine(id(1)));
  const importer = start({ own: reader, store: { ...store, ledger } });
  await importer.caughtUp();
  const rowsBefore = rows;
  rows = most;
  assert.ok(rowsBefore < most, 'it caught up once the traffic had ended');
});

test('the delay between imports grows after each failure, up to two seconds', async (t) => {
  const { clock, store, journal, start } = await setUp(t);
  const attemptsAt: number[] = [];
  const ledger = {
    ...store.ledger,
    async import(): Promise<number> {
      attemptsAt.push(clock.monotonicMs());
      throw new Error('the store is away');
    },
  };
  await journal.note(settlementLine(id(1)));
  start({ store: { ...store, ledger } });
  await until(async () => {
    clock.advance(50);
    // More than one round of the loop.
    await wait(5);
    return attemptsAt.length >= 9;
  });
  const pauses = attemptsAt.slice(1).map((atMs, index) => atMs - (attemptsAt[index] ?? 0));
  for (const [index, least] of [50, 100, 200, 400, 800, 1_600, 2_000, 2_000].entries()) {
    assert.ok((pauses[index] ?? 0) >= least, `rests: ${pauses.join(', ')}`);
  }
});

test('a failed import can be reported before other work of the store begins', async (t) => {
  const { clock, store, journal, start } = await setUp(t);
  const order: string[] = [];
  let isAway = false;
  const ledger: Store['ledger'] = {
    ...store.ledger,
    async import(...asked) {
      if (!isAway) return store.ledger.import(...asked);
      setTimeout(() => order.push('reported'), 0);
      order.push('import');
      throw new Error('the store is away');
    },
    async prune(beforeMs) {
      order.push('prune');
      return store.ledger.prune(beforeMs);
    },
  };
  const importer = start({ store: { ...store, ledger } });
  await importer.caughtUp();
  await until(() => order.length === 1);
  isAway = true;
  const noted = journal.note(settlementLine(id(1)));
  clock.advance(3_600_000);
  await noted;
  await until(() => order.length >= 4);
  assert.deepEqual(order.slice(0, 4), ['prune', 'import', 'reported', 'prune']);
});

test('rows that were imported by a process that then was killed are not imported twice', async (t) => {
  const { store, journal, reader, start } = await setUp(t);
  await journal.note(settlementLine(id(1)));
  await journal.note(settlementLine(id(2)));
  const forgetful = {
    ...reader,
    async imported(): Promise<void> {
      throw new Error('the process was killed here');
    },
  };
  const first = start({ own: forgetful });
  await until(async () => (await idsIn(store)).length === 2);
  await first.close();
  const second = start();
  await second.caughtUp();
  await journal.note(settlementLine(id(3)));
  await until(() => second.state().importedRows === 1);
  assert.deepEqual(await idsIn(store), [id(1), id(2), id(3)]);
  assert.equal((await store.ledger.usage({}, []))[0]?.sums.requests, 3);
});

test('an import from a journal on disk continues at the position in the store', async (t) => {
  const { slots, clock } = await setUpFiles(t);
  const { store, start } = await setUp(t);
  const slot = claimSlot(slots);
  const journal = await createJournal({ directory: slot.directory, node: 'node-1', durability: 'fast', clock });
  t.after(() => journal.close());
  const read = () => createJournalReader({ directory: slot.directory, isOrphan: () => false });
  await journal.open(id(1), intentLine(id(1)));
  await journal.settle(id(1), settlementLine(id(1)));
  const first = start({ own: read() });
  await first.caughtUp();
  assert.deepEqual(await idsIn(store), [id(1)]);
  await first.close();

  const from: (JournalPosition | undefined)[] = [];
  const reader = read();
  const open = reader.open.bind(reader);
  reader.open = (position) => {
    from.push(position);
    return open(position);
  };
  await journal.open(id(2), intentLine(id(2)));
  await journal.settle(id(2), settlementLine(id(2)));
  const second = start({ own: reader });
  await second.caughtUp();
  assert.equal(second.state().importedRows, 1);
  assert.deepEqual(await idsIn(store), [id(1), id(2)]);
  assert.ok((from[0]?.offset ?? 0) > 0);
});

test('rows that the store lost with its last transactions are imported again, each once', async (t) => {
  const { slots, clock } = await setUpFiles(t);
  const { store, start } = await setUp(t);
  const replica = await openStore('sqlite::memory:', { cwd: '/nowhere', clock });
  t.after(() => replica.close());
  const slot = claimSlot(slots);
  const journal = await createJournal({ directory: slot.directory, node: 'node-1', durability: 'fast', clock });
  t.after(() => journal.close());
  let current = store;
  const ledger = {
    ...store.ledger,
    import: (...call: Parameters<Store['ledger']['import']>) => current.ledger.import(...call),
    position: (name: string) => current.ledger.position(name),
  };
  const own = createJournalReader({ directory: slot.directory, isOrphan: () => false });
  const importer = start({ own, store: { ...store, ledger } });
  const serve = async (number: number): Promise<void> => {
    await journal.open(id(number), intentLine(id(number)));
    await journal.settle(id(number), settlementLine(id(number)));
  };
  await serve(1);
  await until(() => importer.state().importedRows === 1);
  const position = await store.ledger.position(own.id);
  assert.ok(position !== undefined);
  await replica.ledger.import(own.id, [imported({ id: id(1) })], position);
  await serve(2);
  await until(() => importer.state().importedRows === 2);
  current = replica;
  await serve(3);
  await until(async () => (await idsIn(replica)).includes(id(3)));
  assert.deepEqual(await idsIn(replica), [1, 2, 3].map(id));
  assert.equal((await replica.ledger.usage({}, []))[0]?.sums.requests, 3);
});

test('journals of killed processes are imported to the end, their open requests are lost, and the slot is freed', async (t) => {
  const { slots, clock, claims } = await setUpFiles(t);
  const { store, start } = await setUp(t);
  const slot = claimSlot(slots);
  const journal = await createJournal({ directory: slot.directory, node: 'node-1', durability: 'fast', clock });
  await journal.open(id(1), intentLine(id(1)));
  await journal.settle(id(1), settlementLine(id(1)));
  await journal.open(id(2), intentLine(id(2), 'node-1', 700));
  const account = { id: 'key/dev/total', holderKind: 'key', holderId: 'dev', nanos: 10_000 } as const;
  await store.budgets.draw({ ...account, startsAtMs: 0, endsAtMs: Number.POSITIVE_INFINITY }, 'node-1', 1, 5_000);
  // While the process runs, no other reads it.
  assert.deepEqual(claims(), []);
  const early = start({ own: undefined, claimOrphans: claims });
  await early.caughtUp();
  await early.close();
  assert.deepEqual(await idsIn(store), []);

  slot.release(); // as the system does for a killed process
  const importer = start({ own: undefined, claimOrphans: claims });
  await importer.caughtUp();
  const rows = (await store.ledger.page({}, { limit: 10 })).rows;
  assert.deepEqual(
    rows.map((row) => [row.id, row.outcome, row.costNanos, row.isEstimated]),
    [
      [id(2), 'lost', 700, true],
      [id(1), 'ok', 60, false],
    ],
  );
  assert.deepEqual(await store.budgets.state('key/dev/total'), {
    spentNanos: 760,
    outstandingNanos: 0,
    holdingNodes: 0,
  });
  const again = claimSlotAt(slots, slot.number);
  assert.ok(again !== undefined, 'the slot is free again');
  again.release();
  // Nothing was written since.
  assert.deepEqual(claims(), []);
});

test('the journal of a killed process is found and imported within ten seconds', async (t) => {
  const { slots, clock: fileClock, claims } = await setUpFiles(t);
  const { clock, store, start } = await setUp(t);
  const importer = start({ claimOrphans: claims });
  await importer.caughtUp();
  const slot = claimSlot(slots);
  const journal = await createJournal({ directory: slot.directory, node: 'two', durability: 'fast', clock: fileClock });
  await journal.open(id(5), intentLine(id(5), 'two'));
  slot.release();
  clock.advance(9_000);
  await wait(20);
  assert.deepEqual(await idsIn(store), []);
  clock.advance(1_000);
  await until(async () => (await idsIn(store)).length === 1);
});

test('a journal that cannot be read does not block the import of others', async (t) => {
  const { store, journal, reader, events, start } = await setUp(t);
  const broken: JournalReader = {
    ...reader,
    id: 'broken',
    read: () => Promise.reject(new Error('a disk error')),
    close: async () => undefined,
  };
  await journal.note(settlementLine(id(1)));
  const importer = start({ claimOrphans: () => [{ reader: broken, release: () => undefined }] });
  await until(() => importer.state().importedRows === 1);
  assert.deepEqual(await idsIn(store), [id(1)]);
  assert.ok(events.some(({ level }) => level === 'error'));
});

test('damage in a journal is reported once', async (t) => {
  const { buffer, length } = settlementLine(id(0));
  const nameless = { buffer: Buffer.from(buffer), length, names: [] };
  const { journal, events, start } = await setUp(t);
  await journal.note(nameless);
  await journal.note(settlementLine(id(1)));
  const importer = start();
  await until(() => importer.state().importedRows === 1);
  assert.equal(events.filter(({ message }) => message === 'journal damaged').length, 1);
});

test('expired rows are deleted after an import that caught up, and every hour', async (t) => {
  const { clock, store, journal, start } = await setUp(t);
  await journal.note(settlementLine(id(1)));
  let looks = 0;
  const ledger: Store['ledger'] = {
    ...store.ledger,
    prune(beforeMs) {
      looks += 1;
      return store.ledger.prune(beforeMs);
    },
  };
  const importer = start({ retentionMs: 10_000, store: { ...store, ledger } });
  await importer.caughtUp();
  await until(() => looks === 1);
  assert.deepEqual(await idsIn(store), [id(1)]);
  clock.advance(3_000_000);
  await wait(20);
  assert.equal(looks, 1);
  clock.advance(600_000);
  await until(async () => (await idsIn(store)).length === 0);
  assert.equal((await store.ledger.usage({}, []))[0]?.sums.requests, 1);
});

test('stored objects are deleted from the store thirty days after their creation', async (t) => {
  const { clock, store, start } = await setUp(t);
  const madeAtMs = clock.nowMs();
  const object = {
    kind: 'response',
    id: 'resp_1',
    owner: 'key/k',
    upstream: 'up',
    credential: 'c',
    model: 'm',
  } as const;
  await store.storedObjects.add([{ ...object, createdAtMs: madeAtMs }]);
  const importer = start({ retentionMs: Number.POSITIVE_INFINITY });
  await importer.caughtUp();
  clock.advance(storedObjectsMs);
  await wait(50);
  assert.equal((await store.storedObjects.find([object])).length, 1);
  clock.advance(3_600_001);
  await until(async () => (await store.storedObjects.find([object])).length === 0);
});

test('with a clock that jumps ahead, no expired rows are deleted until the new time is confirmed', async (t) => {
  const { clock, store, journal, events, start } = await setUp(t);
  let aheadMs = 0;
  const jumping = { ...clock, nowMs: () => clock.nowMs() + aheadMs };
  await journal.note(settlementLine(id(1)));
  const importer = start({ retentionMs: 90 * 86_400_000, clock: jumping });
  await importer.caughtUp();
  await until(async () => (await store.ledger.readMark()) !== undefined);
  aheadMs = 400 * 86_400_000;
  clock.advance(3_600_000);
  await until(() => events.some(({ message }) => message === 'ledger retention held back: clock ahead'));
  // Another start, with its own 48 h.
  const again = start({ own: undefined, retentionMs: 90 * 86_400_000, clock: jumping });
  await again.caughtUp();
  await until(async () => (await store.ledger.readMark()) === clock.nowMs() + 2 * 86_400_000);
  assert.deepEqual(await idsIn(store), [id(1)]);

  await store.ledger.setMark(jumping.nowMs());
  clock.advance(3_600_000);
  await until(async () => (await idsIn(store)).length === 0);
});

test('a shorter retention deletes rows at once', async (t) => {
  const { clock, store, journal, start } = await setUp(t);
  await journal.note(settlementLine(id(1)));
  const importer = start();
  await importer.caughtUp();
  clock.advance(60_000);
  importer.retain(10_000);
  await until(async () => (await idsIn(store)).length === 0);
});

test('closing the importer imports the remaining rows', async (t) => {
  const { store, journal, start } = await setUp(t, { batch: 3 });
  const importer = start();
  await importer.caughtUp();
  for (let number = 1; number <= 20; number++) await journal.note(settlementLine(id(number)));
  await importer.close();
  assert.equal((await idsIn(store)).length, 20);
  await importer.close();
});

test('the importer can be closed while the store is unreachable, and the journal keeps the rows', async (t) => {
  const { store, journal, reader, start } = await setUp(t);
  await journal.note(settlementLine(id(1)));
  const ledger = { ...store.ledger, import: () => Promise.reject(new Error('the store is away')) };
  const importer = start({ store: { ...store, ledger } });
  await importer.close();
  assert.deepEqual(await idsIn(store), []);
  assert.ok(reader.state().bytesBehind > 0);
});

test('a segment that could not be deleted after its import is deleted later, even without new rows', async (t) => {
  const { clock, journal, reader, start } = await setUp(t);
  await journal.note(settlementLine(id(1)));
  const positions: JournalPosition[] = [];
  const watched: JournalReader = {
    ...reader,
    async imported(position) {
      positions.push(position);
      await reader.imported(position);
    },
  };
  const importer = start({ own: watched });
  await importer.caughtUp();
  const before = positions.length;
  clock.advance(1_000);
  await until(() => positions.length > before);
  assert.deepEqual(positions.at(-1), positions[0]);
  assert.equal(importer.state().importedRows, 1);
});
