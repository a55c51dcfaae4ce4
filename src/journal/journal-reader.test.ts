import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { intentLine, outcomes, readThrough, settlementLine } from '../../test/support/ledger/journal-lines.ts';
import { systemClock } from '../lib/clock.ts';
import { createJournal } from './journal.ts';
import { type JournalFiles, systemFiles } from './journal-files.ts';
import { headBytes, readHead } from './journal-frame.ts';
import { createJournalReader, type JournalReader } from './journal-reader.ts';

let directory: string;
/** A small journal of one segment. */
let whole: Buffer;
/** Where its frames end, and the rows of each. */
const frames: { end: number; rows: string[]; opens: string[] }[] = [];

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'postern-reader-'));
  writeFileSync(join(directory, 'id'), 'journal-1\n');
  const journal = await createJournal({
    directory,
    node: 'n',
    durability: 'fast',
    clock: systemClock,
    segmentBytes: 8_192,
  });
  const turns: { rows: string[]; opens: string[]; lines: () => Promise<unknown> }[] = [
    { rows: [], opens: ['a'], lines: () => journal.open('a', intentLine('a', 'n')) },
    {
      rows: ['a ok', 'r ok'],
      opens: ['b'],
      lines: () =>
        Promise.all([
          journal.settle('a', settlementLine('a', 'n')),
          journal.note(settlementLine('r', 'n')),
          journal.open('b', intentLine('b', 'n')),
        ]),
    },
    { rows: [], opens: ['c'], lines: () => journal.open('c', intentLine('c', 'n')) },
    { rows: ['b ok'], opens: [], lines: () => journal.settle('b', settlementLine('b', 'n')) },
  ];
  for (const { lines } of turns) await lines();
  const name = readdirSync(directory).find((file) => file.endsWith('.journal')) ?? '';
  const segment = readFileSync(join(directory, name));
  let end = 0;
  for (let head = readHead(segment, 0); head !== undefined; head = readHead(segment, end)) {
    end += headBytes + head.length;
    frames.push({ end, ...(turns[frames.length - (frames.length === 0 ? 0 : 1)] ?? { rows: [], opens: [] }) });
  }
  // The journal's own first frame has no exchanges.
  if (frames.length === turns.length + 1) frames[0] = { end: frames[0]?.end ?? 0, rows: [], opens: [] };
  assert.equal(frames.length, turns.length + 1);
  whole = segment.subarray(0, end);
  await journal.close();
});

after(() => rmSync(directory, { recursive: true, force: true }));

/** Reads segments from memory, one after the other. */
async function readerOf(...segments: Buffer[]): Promise<JournalReader> {
  const files: JournalFiles = {
    ...systemFiles,
    list: () => segments.map((_, index) => `${String(index + 1).padStart(10, '0')}.journal`),
    open: (path) => Number(path.slice(-18, -8)) - 1,
    close: () => undefined,
    size: (file) => segments[file]?.length ?? 0,
    read: (file, into, length, position) => segments[file]?.copy(into, 0, position, position + length) ?? 0,
    remove: () => undefined,
    truncate: () => undefined,
  };
  const reader = createJournalReader({ directory, files, isOrphan: () => true });
  await reader.open(undefined);
  return reader;
}

/** The rows of these frames, open ones included. */
function rowsOf(some: typeof frames): string[] {
  const rows = some.flatMap((frame) => frame.rows);
  const ended = new Set(rows.map((row) => row.split(' ')[0]));
  const open = some.flatMap(({ opens }) => opens).filter((id) => !ended.has(id));
  return [...rows, ...open.map((id) => `${id} lost`)];
}

test('of a journal file that is truncated at any byte, exactly the complete frames are read', async () => {
  for (let cut = 0; cut <= whole.length; cut++) {
    const expected = rowsOf(frames.filter(({ end }) => end <= cut));
    const zeroed = Buffer.alloc(whole.length + 512);
    whole.copy(zeroed, 0, 0, cut);
    for (const segment of [whole.subarray(0, cut), zeroed]) {
      const { rows, damage } = await readThrough(await readerOf(segment));
      assert.deepEqual(outcomes(rows), expected, `cut at ${cut}`);
      if (segment === zeroed) assert.deepEqual(damage, [], `cut at ${cut}`);
    }
  }
});

test("an incomplete last frame is not reported as damage, even if its last byte looks like a frame's end", async () => {
  const second = frames[0]?.end ?? 0;
  // The frame's head, the first item's, and a part of that item.
  const cut = second + headBytes + 12;
  const zeroed = Buffer.alloc(whole.length + 512);
  whole.copy(zeroed, 0, 0, cut);
  zeroed[cut - 1] = 0x0a;
  assert.deepEqual((await readThrough(await readerOf(zeroed))).damage, []);
});

test('a damaged byte in a journal file loses at most its own frame, and is always reported', async () => {
  let start = 0;
  for (const [index, { end }] of frames.entries()) {
    for (let at = start; at < end; at++) {
      const damaged = Buffer.alloc(whole.length + 512);
      whole.copy(damaged);
      damaged[at] = (whole[at] ?? 0) ^ 0xff;
      const { rows, damage } = await readThrough(await readerOf(damaged));
      assert.deepEqual(outcomes(rows), rowsOf(frames.filter((_, other) => other !== index)), `byte ${at}`);
      assert.equal(damage.length, 1, `byte ${at}`);
      assert.match(damage[0] ?? '', /^\d+ bytes of .+0000000001\.journal, from byte \d+ on, cannot be read/);
      if (index < frames.length - 1) assert.match(damage[0] ?? '', new RegExp(`^${end - start} bytes`));
    }
    start = end;
  }
});

test('reading continues with the next segment after one with a damaged end', async () => {
  const damaged = Buffer.from(whole);
  damaged.fill(0x41, whole.length - 30);
  const { rows, damage } = await readThrough(await readerOf(damaged, Buffer.alloc(100), whole));
  const once = rowsOf(frames.slice(0, -1)).slice(0, 2);
  // The same process name begins anew: earlier open exchanges are lost.
  assert.deepEqual(outcomes(rows).slice(0, 4), [...once, 'b lost', 'c lost']);
  assert.deepEqual(outcomes(rows).slice(4), rowsOf(frames));
  assert.equal(damage.length, 1);
});

test('reading waits at the end of a segment in use, and returns no partial frame', async () => {
  const live = Buffer.alloc(whole.length + 512);
  const files: JournalFiles = {
    ...systemFiles,
    list: () => ['0000000001.journal'],
    open: () => 1,
    close: () => undefined,
    size: () => live.length,
    read: (_file, into, length, position) => live.copy(into, 0, position, position + length),
  };
  const reader = createJournalReader({ directory, files, isOrphan: () => false });
  await reader.open(undefined);
  const seen: string[] = [];
  for (let written = 0; written < whole.length; written += 7) {
    whole.copy(live, written, written, written + 7);
    const { rows, damage } = await reader.read(100);
    seen.push(...outcomes(rows));
    assert.deepEqual(damage, []);
    const due = frames.filter(({ end }) => end <= written + 7).flatMap((frame) => frame.rows);
    assert.deepEqual(seen, due);
  }
  assert.equal(reader.state().openIntents, 1);
  assert.equal(reader.state().bytesBehind, whole.length);
  await reader.imported((await reader.read(1)).position);
  assert.deepEqual([reader.state().bytesBehind, reader.state().oldestUnimportedAtMs], [0, undefined]);
});

test('an imported segment is not deleted before the store confirms that its data is durable', async (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'postern-reader-'));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(directory, copy, { recursive: true });
  const [name = ''] = readdirSync(copy).filter((one) => one.endsWith('.journal'));
  cpSync(join(copy, name), join(copy, '0000000002.journal'));
  let isSecure = false;
  const reader = createJournalReader({ directory: copy, isOrphan: () => true, isSecure: async () => isSecure });
  await reader.open(undefined);
  const { position, rows } = await readThrough(reader);
  assert.ok(rows.length > 0);
  assert.equal(reader.state().segments, 2);
  assert.ok(statSync(join(copy, name)).size > 0);

  isSecure = true;
  await reader.imported(position);
  assert.equal(reader.state().segments, 1);
  // The last segment stays for its number.
  assert.equal(statSync(join(copy, '0000000002.journal')).size, 0);
  await reader.close();
});

test('the reader reports the number of rows that wait for import, counting each frame once', async () => {
  const reader = await readerOf(whole);
  assert.equal(reader.state().rowsBehind, 3);
  const first = await reader.read(2);
  assert.deepEqual(outcomes(first.rows), ['a ok', 'r ok']);
  assert.equal(reader.state().rowsBehind, 3);
  await reader.imported(first.position);
  assert.equal(reader.state().rowsBehind, 1);
  await readThrough(reader);
  assert.equal(reader.state().rowsBehind, 0);
  // A reader that begins at a position known to the store.
  const later = await readerOf(whole);
  await later.open(first.position);
  assert.equal(later.state().rowsBehind, 1);
  const untouched = await readerOf(whole);
  await readThrough(untouched);
  assert.equal(untouched.state().rowsBehind, 0);
});

test('the reader skips a segment that was deleted after it was listed', async () => {
  const gone = (): never => {
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  };
  const segments = [whole];
  const files: JournalFiles = {
    ...systemFiles,
    // The second one could not be completed: its writer has removed it again.
    list: () => ['0000000001.journal', '0000000002.journal'],
    open: (path) => (path.endsWith('2.journal') ? gone() : 0),
    close: () => undefined,
    size: () => whole.length,
    read: (file, into, length, position) => segments[file]?.copy(into, 0, position, position + length) ?? 0,
    remove: gone,
    truncate: gone,
  };
  const reader = createJournalReader({ directory, files, isOrphan: () => false });
  await reader.open(undefined);
  const { rows } = await readThrough(reader);
  assert.deepEqual(outcomes(rows), ['a ok', 'r ok', 'b ok']);
  assert.deepEqual([reader.state().bytesBehind, reader.state().rowsBehind], [0, 0]);
  // A position beyond the last segment is no problem either.
  await reader.open({ segment: 3, offset: 0 });
  await reader.imported({ segment: 3, offset: 0 });
});

test('the reader reads a journal of version 0.1.0, then the segments of this version', async () => {
  const fixture = new URL('../../test/fixtures/text-journal/', import.meta.url);
  const former = readFileSync(new URL('0000000001.journal', fixture));
  const expected = JSON.parse(readFileSync(new URL('rows.json', fixture), 'utf8'));
  const reader = await readerOf(former, whole);
  assert.equal(reader.state().rowsBehind, 4 + 3);
  const { rows, endedNodes, damage } = await readThrough(reader);
  assert.deepEqual(JSON.parse(JSON.stringify(rows.slice(0, 5))), expected);
  assert.deepEqual(outcomes(rows.slice(5)), rowsOf(frames));
  assert.deepEqual([endedNodes, damage], [['node-1', 'n'], []]);
});
