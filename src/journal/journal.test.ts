import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import {
  createFaultyFiles,
  type Fault,
  type FaultyFiles,
  type FileCall,
} from '../../test/support/ledger/faulty-files.ts';
import { intentLine, outcomes, readThrough, settlementLine } from '../../test/support/ledger/journal-lines.ts';
import { patientMs } from '../../test/support/time/patience.ts';
import { until } from '../../test/support/time/until.ts';
import { durabilities } from '../core/accounting/ledger-row.ts';
import { GatewayError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { createJournal, type Journal, type JournalOptions } from './journal.ts';
import { type JournalFiles, systemFiles } from './journal-files.ts';
import type { RowItem } from './journal-items.ts';
import { createJournalReader, type JournalReader } from './journal-reader.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'postern-journal-'));
  writeFileSync(join(directory, 'id'), 'journal-1\n');
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function open(options: Partial<JournalOptions> = {}): Promise<Journal> {
  return createJournal({ directory, node: 'node-1', durability: 'fast', clock: systemClock, retryMs: 5, ...options });
}

async function read(isOrphan = true): Promise<JournalReader> {
  const reader = createJournalReader({ directory, isOrphan: () => isOrphan });
  await reader.open(undefined);
  return reader;
}

/** Resolves to each result, `true` for success. */
async function outcomeOf(promise: Promise<void>): Promise<true | string> {
  try {
    await promise;
    return true;
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

/** The next segment exists, so that a test from here on meets no allocation. */
async function hasSpare(): Promise<void> {
  await until(() => {
    const sizes = readdirSync(directory)
      .filter((name) => name.endsWith('.journal'))
      .map((name) => statSync(join(directory, name)).size);
    return sizes.length === 2 && sizes[0] === sizes[1];
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
}

test('records that wait for a write share one frame, and a single record is written at once', async () => {
  const counted = createFaultyFiles();
  const journal = await open({ files: counted.files });
  await journal.open('0', intentLine('0'));
  let writes = 0;
  counted.judge((call) => {
    if (call === 'write') writes += 1;
    return undefined;
  });
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const promises: Promise<void>[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    for (const letter of ['a', 'b']) promises.push(journal.open(`${turn}${letter}`, intentLine(`${turn}${letter}`)));
    assert.equal(writes, 0);
    await nextTurn();
  }
  await Promise.all(promises);
  assert.equal(writes, 1);
  const alone = journal.open('alone', intentLine('alone'));
  await nextTurn();
  assert.equal(writes, 2);
  await alone;
  // A full frame does not wait for another turn.
  const many = Array.from({ length: 20 }, (_, index) => journal.open(`m${index}`, intentLine(`m${index}`)));
  await nextTurn();
  assert.equal(writes, 3);
  await Promise.all(many);
  await journal.close();
});

for (const durability of durabilities) {
  test(`records of one event-loop turn form one frame, and are read back unchanged: ${durability}`, async () => {
    const counted = createFaultyFiles();
    const journal = await open({ durability, files: counted.files });
    await journal.open('0', intentLine('0'));
    await hasSpare();
    const writes: FileCall[] = [];
    counted.judge((call) => {
      if (call === (durability === 'fast' ? 'write' : 'writeLater')) writes.push(call);
      return undefined;
    });
    const promises = [
      journal.open('a', intentLine('a')),
      journal.open('b', intentLine('b')),
      journal.settle('0', settlementLine('0')),
    ];
    await Promise.all(promises);
    assert.equal(promises[0], promises[1]);
    assert.equal(writes.length, 1);
    await journal.settle('b', settlementLine('b'));
    await journal.note(settlementLine('c'));
    await journal.settle('a', settlementLine('a'));
    await journal.close();
    const { rows, endedNodes, damage } = await readThrough(await read());
    assert.deepEqual(outcomes(rows), ['0 ok', 'b ok', 'c ok', 'a ok']);
    assert.deepEqual(rows[1]?.row.model, 'small – petit');
    assert.deepEqual(rows[1]?.accounts, ['key/dev/total']);
    assert.deepEqual([endedNodes, damage], [['node-1'], []]);
  });

  test(`a full journal continues in further segments, with a larger one for a larger record: ${durability}`, async () => {
    const journal = await open({ durability, segmentBytes: 4096 });
    const ids = Array.from({ length: 60 }, (_, index) => `id-${index}`);
    for (const id of ids) {
      await journal.open(id, intentLine(id));
      await journal.settle(id, settlementLine(id));
    }
    const large = 'x'.repeat(20_000);
    await Promise.all([journal.open(large, intentLine(large)), journal.open('y', intentLine('y'))]);
    await journal.settle(large, settlementLine(large));
    await journal.settle('y', settlementLine('y'));
    await journal.close();
    const { rows, damage } = await readThrough(await read(), { import: false });
    assert.deepEqual(
      outcomes(rows),
      [...ids, large, 'y'].map((id) => `${id} ok`),
    );
    assert.deepEqual(damage, []);
  });
}

test('imported segments are deleted, except those with the start record of an open request', async () => {
  const journal = await open({ segmentBytes: 4096 });
  await journal.open('long', intentLine('long'));
  const segments = () => readdirSync(directory).filter((name) => name.endsWith('.journal'));
  const fill = async (from: number) => {
    for (let index = from; index < from + 40; index++) {
      await journal.open(`${index}`, intentLine(`${index}`));
      await journal.settle(`${index}`, settlementLine(`${index}`));
    }
  };
  await fill(0);
  const reader = await read(false);
  const first = await readThrough(reader);
  assert.equal(first.rows.length, 40);
  assert.equal(segments()[0], '0000000001.journal');
  assert.ok(segments().length <= 4, `${segments()}`);
  assert.equal(reader.state().openIntents, 1);
  assert.equal(reader.state().bytesBehind, 0);

  await fill(40);
  await journal.settle('long', settlementLine('long'));
  assert.ok(reader.state().bytesBehind > 40 * 100);
  const second = await readThrough(reader);
  assert.equal(second.rows.length, 41);
  assert.notEqual(segments()[0], '0000000001.journal');
  assert.deepEqual([reader.state().openIntents, reader.state().bytesBehind], [0, 0]);
  await journal.close();
});

test('journal files are accessible to the user only', async () => {
  const inner = join(directory, 'inner');
  const journal = await open({ directory: inner });
  assert.equal(statSync(inner).mode & 0o777, 0o700);
  for (const name of readdirSync(inner)) assert.equal(statSync(join(inner, name)).mode & 0o777, 0o600);
  await journal.close();
});

test('a journal directory that cannot be created is a configuration fault in one sentence', async () => {
  await assert.rejects(
    open({ directory: join(directory, 'id', 'below') }),
    /lies under something that is no directory/,
  );
});

test('a request without an end record becomes lost when its process ended, with its reserved amount', async () => {
  const journal = await open();
  await journal.open('a', intentLine('a', 'node-1', 700));
  await journal.open('b', intentLine('b', 'node-1', 0));
  await hasSpare();
  const reader = await read(false);
  assert.deepEqual((await readThrough(reader)).rows, []);

  // The next process begins in the same slot; the first one never ended.
  const next = await open({ node: 'node-2' });
  await next.open('c', intentLine('c', 'node-2'));
  const { rows, endedNodes } = await readThrough(reader);
  assert.deepEqual(outcomes(rows), ['a lost', 'b lost']);
  assert.deepEqual(endedNodes, ['node-1']);
  const [a, b] = rows;
  assert.deepEqual(
    [a?.row.costNanos, a?.row.isEstimated, a?.row.status, a?.row.attempts, a?.accounts],
    [700, true, 0, 0, ['key/dev/total']],
  );
  assert.equal(b?.row.costNanos, null);
  assert.equal(reader.state().openIntents, 1);
  await next.close();
  const last = await readThrough(reader);
  assert.deepEqual([outcomes(last.rows), last.endedNodes], [['c lost'], ['node-2']]);
});

test('open requests in an abandoned slot become lost once, however often the slot is read', async () => {
  const journal = await open({ segmentBytes: 4096 });
  await journal.open('a', intentLine('a'));
  await hasSpare();
  let reader = await read(true);
  const first = await readThrough(reader);
  assert.deepEqual(outcomes(first.rows), ['a lost']);
  assert.deepEqual(first.position, { segment: 3, offset: 0 });
  for (const name of readdirSync(directory))
    if (name.endsWith('.journal')) assert.equal(statSync(join(directory, name)).size, 0);

  reader = createJournalReader({ directory, isOrphan: () => true });
  await reader.open(first.position);
  assert.deepEqual((await readThrough(reader)).rows, []);

  const next = await open({ node: 'node-2' });
  await next.note(settlementLine('b', 'node-2'));
  reader = createJournalReader({ directory, isOrphan: () => false });
  await reader.open(first.position);
  assert.deepEqual(outcomes((await readThrough(reader)).rows), ['b ok']);
  await next.close();
});

test("a reader that restarts continues at the store's position and knows the open requests", async () => {
  const journal = await open({ segmentBytes: 4096 });
  for (let index = 0; index < 20; index++) {
    await journal.open(`o${index}`, intentLine(`o${index}`));
    await journal.note(settlementLine(`n${index}`));
  }
  await journal.close();
  const all = await readThrough(await read(), { import: false });
  assert.equal(all.rows.length, 40);

  // From every position that was ever given, the same rows follow.
  const reader = await read();
  let seen = 0;
  for (let isMore = true; isMore; ) {
    const { rows, position } = await reader.read(3);
    isMore = rows.length > 0;
    seen += rows.length;
    const restarted = createJournalReader({ directory, isOrphan: () => true });
    await restarted.open(position);
    const rest = await readThrough(restarted, { import: false });
    assert.deepEqual(outcomes(rest.rows), outcomes(all.rows.slice(seen)));
    assert.deepEqual(rest.endedNodes, ['node-1']);
  }
});

test('on a full disk new requests are refused and running ones complete, and writing resumes by itself', async () => {
  const disk = createFaultyFiles('ENOSPC');
  const logged: string[] = [];
  const note = (message: string): void => void logged.push(message);
  const log = { info: note, warn: note, error: note };
  const journal = await open({ files: disk.files, log, segmentBytes: 64 * 1024 });
  disk.judge((call) => (call === 'writeLater' ? 'fails' : undefined));
  const open_: string[] = [];
  let refused: unknown;
  for (let index = 0; refused === undefined && index < 1_000; index++) {
    const id = `id-${index}`;
    await journal.open(id, intentLine(id)).then(
      () => open_.push(id),
      (error: unknown) => {
        refused = error;
      },
    );
  }
  assert.ok(refused instanceof GatewayError);
  assert.equal(refused.code, 'store_unavailable');
  assert.match(refused.message, /journal/);
  assert.deepEqual(refused.headers, ['Retry-After', '1']);
  assert.ok(open_.length > 20);
  assert.equal(journal.state().failing, true);
  assert.equal(journal.state().openExchanges, open_.length);

  for (const id of open_) assert.equal(await outcomeOf(journal.settle(id, settlementLine(id))), true);
  assert.equal(journal.state().openExchanges, 0);

  disk.judge(undefined);
  await until(() => !journal.state().failing);
  assert.equal(await outcomeOf(journal.open('after', intentLine('after'))), true);
  await journal.settle('after', settlementLine('after'));
  await journal.close();
  const { rows } = await readThrough(await read());
  assert.deepEqual(
    outcomes(rows),
    [...open_, 'after'].map((id) => `${id} ok`),
  );
  assert.equal(logged.length, 2, `${logged}`);
});

test('if the disk is full at the start, the journal waits for space', async () => {
  const disk = createFaultyFiles('ENOSPC');
  disk.judge((call) => (call === 'writeLater' ? 'fails' : undefined));
  const journal = await open({ files: disk.files });
  assert.equal(journal.state().failing, true);
  assert.equal(await outcomeOf(journal.open('a', intentLine('a'))), 'store_unavailable');
  disk.judge(undefined);
  await until(() => !journal.state().failing);
  assert.equal(await outcomeOf(journal.open('b', intentLine('b'))), true);
  await journal.close();
  assert.deepEqual(outcomes((await readThrough(await read())).rows), ['b lost']);
});

test('a segment whose sync failed is abandoned, and its last write is repeated in another segment', async () => {
  const disk = createFaultyFiles();
  const journal = await open({ durability: 'strict', files: disk.files });
  await journal.open('a', intentLine('a'));
  await hasSpare();
  let syncs = 0;
  disk.judge((call) => (call === 'sync' && syncs++ === 0 ? 'fails' : undefined));
  assert.equal(await outcomeOf(journal.settle('a', settlementLine('a'))), true);
  await journal.close();
  const { rows } = await readThrough(await read());
  assert.deepEqual(outcomes(rows), ['a ok']);
});

for (const durability of durabilities) {
  test(`a disk that does not answer causes refusals, and no other write is tried meanwhile: ${durability}`, async () => {
    const stalled = Promise.withResolvers<void>();
    let isStalled = false;
    const disk = createFaultyFiles();
    const files: JournalFiles = {
      ...disk.files,
      async writeLater(file, bytes, position) {
        if (isStalled) await stalled.promise;
        return disk.files.writeLater(file, bytes, position);
      },
      async create(path) {
        if (isStalled) await stalled.promise;
        return disk.files.create(path);
      },
    };
    const journal = await open({ durability, waitMs: patientMs(25), files });
    for (const id of ['a', 'b', 'c']) await journal.open(id, intentLine(id));
    await hasSpare();
    isStalled = true;
    const written = journal.settle('a', settlementLine('a'));
    const begun = journal.open('d', intentLine('d'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const behind = journal.open('e', intentLine('e'));
    const refused = 'store_unavailable';
    assert.deepEqual(await Promise.all([written, begun, behind].map(outcomeOf)), [refused, refused, refused]);
    assert.equal(await outcomeOf(journal.settle('d', settlementLine('d'))), refused);
    assert.equal(journal.state().failing, true);
    assert.equal(journal.fits(intentLine('f')), false);
    // From here on nobody waits: no write is tried until the disk has answered.
    const calls = disk.calls();
    for (let index = 0; index < 20; index += 1) {
      assert.equal(await outcomeOf(journal.open('f', intentLine('f'))), refused);
      assert.equal(await outcomeOf(journal.settle('f', settlementLine('f'))), refused);
    }
    assert.equal(disk.calls(), calls);
    isStalled = false;
    stalled.resolve();
    await until(() => !journal.state().failing);
    await journal.settle('b', settlementLine('b'));
    await journal.close();
    const { rows } = await readThrough(await read());
    const found = new Map(rows.map(({ row }) => [row.id, row.outcome]));
    assert.equal(found.size, rows.length, `doubled: ${outcomes(rows)}`);
    // What a stalled write held is on the disk in the end, confirmed or not.
    assert.match(found.get('a') ?? '', /^(cut|ok)$/);
    assert.deepEqual([found.get('b'), found.get('c')], ['ok', 'lost']);
    for (const id of ['d', 'e', 'f']) assert.notEqual(found.get(id), 'lost', id);
  });
}

test('a record whose write failed in two segments is refused, even if more segments can be allocated', async () => {
  const disk = createFaultyFiles();
  const journal = await open({ files: disk.files });
  await journal.open('a', intentLine('a'));
  await hasSpare();
  let writes = 0;
  disk.judge((call) => (call === 'write' && writes++ < 20 ? 'fails' : undefined));
  assert.equal(await outcomeOf(journal.open('b', intentLine('b'))), 'store_unavailable');
  assert.equal(writes, 2);
  disk.judge(undefined);
  await journal.close();
});

for (const durability of durabilities) {
  test(`while a new segment cannot be created, records that need it are refused in time: ${durability}`, async () => {
    const answered = Promise.withResolvers<void>();
    let created = 0;
    const disk = createFaultyFiles();
    const files: JournalFiles = {
      ...disk.files,
      async create(path) {
        created += 1;
        if (created === 2) await answered.promise;
        return disk.files.create(path);
      },
    };
    const journal = await open({ durability, waitMs: patientMs(100), segmentBytes: 8_192, files });
    await journal.open('a', intentLine('a'));
    const long = 'x'.repeat(9_000);
    const refused = 'store_unavailable';
    // An end that has no space must not stay before all others either.
    const ended = outcomeOf(journal.settle('a', settlementLine('a', 'node-1', { label: long })));
    const begun = outcomeOf(journal.open('b', intentLine('b')));
    assert.deepEqual(await Promise.all([ended, begun]), [refused, refused]);
    answered.resolve();
    for (
      let number = 0;
      (await outcomeOf(journal.open(`c${number}`, intentLine(`c${number}`)))) !== true;
      number += 1
    ) {
      await journal.settle(`c${number}`, settlementLine(`c${number}`)).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await journal.close();
    const rows = outcomes((await readThrough(await read())).rows);
    assert.deepEqual(
      rows.filter((row) => /^[ab] /.test(row)),
      ['a cut'],
    );
  });
}

test('a request in the first frame of a segment whose write failed is not lost', async () => {
  const answered = Promise.withResolvers<void>();
  let frames = 0;
  const files: JournalFiles = {
    ...systemFiles,
    async writeLater(file, bytes, position) {
      const written = await systemFiles.writeLater(file, bytes, position);
      if (bytes[0] === 0) return written;
      frames += 1;
      if (frames === 1) await answered.promise;
      if (frames === 2) throw new Error('made up by the test');
      return written;
    },
  };
  const journal = await open({ waitMs: patientMs(125), segmentBytes: 65_536, files });
  await hasSpare();
  // The journal starts anew together with an exchange.
  const opened = journal.open('a', intentLine('a'));
  answered.resolve();
  await opened;
  await journal.settle('a', settlementLine('a'));
  await journal.close();
  assert.equal(frames > 2, true);
  assert.deepEqual(outcomes((await readThrough(await read())).rows), ['a ok']);
});

test('while a write does not return, records that need a new segment are refused', async () => {
  const answered = Promise.withResolvers<void>();
  let isStalled = false;
  const files: JournalFiles = {
    ...systemFiles,
    async writeLater(file, bytes, position) {
      if (isStalled && bytes[0] !== 0) await answered.promise;
      return systemFiles.writeLater(file, bytes, position);
    },
  };
  const journal = await open({ waitMs: patientMs(100), segmentBytes: 8_192, files });
  await journal.open('a', intentLine('a'));
  await hasSpare();
  isStalled = true;
  const refused = 'store_unavailable';
  assert.equal(await outcomeOf(journal.open('b', intentLine('b'))), refused);
  // The other files answer, so that there is no fault any more.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const long = 'x'.repeat(9_000);
  const ended = outcomeOf(journal.settle('a', settlementLine('a', 'node-1', { label: long })));
  const begun = outcomeOf(journal.open('c', intentLine(long)));
  assert.deepEqual(await Promise.all([ended, begun]), [refused, refused]);
  isStalled = false;
  answered.resolve();
  await journal.close();
});

test('end records that cannot be written are rejected, and become rows with outcome cut when the journal recovers', async () => {
  const disk = createFaultyFiles();
  const journal = await open({ files: disk.files });
  await journal.open('a', intentLine('a'));
  await journal.open('b', intentLine('b'));
  disk.judge(() => 'fails');
  const ended = [journal.settle('a', settlementLine('a')), journal.open('c', intentLine('c'))];
  assert.deepEqual(await Promise.all(ended.map(outcomeOf)), ['store_unavailable', 'store_unavailable']);
  assert.equal(await outcomeOf(journal.settle('c', settlementLine('c'))), 'store_unavailable');
  disk.judge(undefined);
  await until(() => !journal.state().failing);
  await journal.settle('b', settlementLine('b'));
  await journal.close();
  const { rows } = await readThrough(await read());
  assert.deepEqual(outcomes(rows), ['a cut', 'b ok']);
  assert.equal(rows[0]?.row.error, 'store_unavailable');
  assert.equal(rows[0]?.row.costNanos, 60);
});

test('end records that cannot be written are kept up to a limit, and losses beyond it are reported', async () => {
  const disk = createFaultyFiles();
  const lost: unknown[] = [];
  const error = (message: string, fields?: unknown): void => {
    if (message === 'request records lost') lost.push(fields);
  };
  const journal = await open({ files: disk.files, log: { info: () => undefined, warn: () => undefined, error } });
  const ids = ['a', 'b', 'c'];
  for (const id of ids) await journal.open(id, intentLine(id));
  disk.judge(() => 'fails');
  const longEnd = (id: string): RowItem => settlementLine(id, 'node-1', { error: 'x'.repeat(6 * 1024 * 1024) });
  for (const id of ids) assert.equal(await outcomeOf(journal.settle(id, longEnd(id))), 'store_unavailable');
  assert.deepEqual(lost.length, 1);
  disk.judge(undefined);
  await until(() => !journal.state().failing);
  await journal.close();
  const { rows } = await readThrough(await read());
  assert.deepEqual(outcomes(rows), ['a cut', 'b cut', 'c lost']);
});

test('closing the journal leaves no empty segment', async () => {
  const journal = await open();
  await journal.note(settlementLine('a'));
  await hasSpare();
  await journal.close();
  assert.equal(readdirSync(directory).filter((name) => name.endsWith('.journal')).length, 1);
});

/** A short scenario in which each disk operation can fail once, or from then on. */
async function live(
  disk: FaultyFiles,
  durability: 'fast' | 'strict',
): Promise<{ taken: Set<string>; refused: Set<string>; ends: Set<string> }> {
  const taken = new Set<string>();
  const refused = new Set<string>();
  const ends = new Set<string>();
  const journal = await open({ files: disk.files, durability, segmentBytes: 2048, retryMs: 1 });
  const one = async (id: string): Promise<void> => {
    if ((await outcomeOf(journal.open(id, intentLine(id)))) !== true) {
      refused.add(id);
      await outcomeOf(journal.settle(id, settlementLine(id)));
      return;
    }
    taken.add(id);
    if (id.endsWith('3')) return;
    if ((await outcomeOf(journal.settle(id, settlementLine(id)))) === true) ends.add(id);
  };
  for (let index = 0; index < 6; index += 2) {
    await Promise.all([one(`${index}`), one(`${index + 1}`)]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await until(() => !journal.state().failing);
  await journal.close();
  return { taken, refused, ends };
}

for (const durability of durabilities) {
  for (const fault of ['fails', 'fails-afterwards', 'breaks-off', 'is-short'] satisfies Fault[]) {
    test(`a failure at any step neither loses nor doubles a request: ${durability}, a step ${fault}`, async () => {
      const disk = createFaultyFiles();
      disk.judge(() => undefined);
      await live(disk, durability);
      const steps = disk.calls();
      assert.ok(steps > 15);
      let rejected = 0;
      for (const isLasting of [false, true]) {
        for (let step = 0; step < steps; step++) {
          rmSync(directory, { recursive: true, force: true });
          systemFiles.makeDirectory(directory);
          writeFileSync(join(directory, 'id'), 'journal-1\n');
          // Lasting faults begin with the scenario, and end after a while.
          disk.judge((_call, number) =>
            number === step || (isLasting && number > step && number < step + 6) ? fault : undefined,
          );
          const { taken, refused, ends } = await live(disk, durability);
          rejected += refused.size;
          disk.judge(undefined);
          const { rows } = await readThrough(await read(), { most: 2 });
          const found = new Map(rows.map(({ row }) => [row.id, row.outcome]));
          assert.equal(found.size, rows.length, `doubled at step ${step}: ${outcomes(rows)}`);
          for (const id of taken) {
            // Unconfirmed records may have reached the disk all the same.
            const expected = ends.has(id) ? ['ok'] : id.endsWith('3') ? ['lost'] : ['cut', 'ok'];
            assert.ok(expected.includes(found.get(id) ?? 'nothing'), `${id} is ${found.get(id)} at step ${step}`);
          }
          for (const id of refused) assert.notEqual(found.get(id), 'lost', `${id} was refused at step ${step}`);
        }
      }
      if (fault === 'is-short') assert.equal(rejected, 0);
    });
  }
}
