import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { lockFile } from '../store/sqlite/sqlite-file.ts';
import { claimSlot, claimSlotAt, listSlots, readStore } from './journal-slot.ts';

let directory: string;
const deps = () => ({ directory, lock: lockFile, clock: systemClock, store: 'the store' });

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'postern-slots-')), 'journal');
});
afterEach(() => rmSync(join(directory, '..'), { recursive: true, force: true }));

test('each process claims a journal slot of its own, and the first free slot is reused', () => {
  assert.deepEqual(listSlots(directory), []);
  const slots = [claimSlot(deps()), claimSlot(deps()), claimSlot(deps())];
  assert.deepEqual(
    slots.map(({ number }) => number),
    [1_000, 1_001, 1_002],
  );
  assert.equal(new Set(slots.map(({ id }) => id)).size, 3);
  assert.equal(claimSlotAt(deps(), 1_001), undefined);
  slots[1]?.release();
  assert.equal(claimSlot(deps()).number, 1_001);
  assert.deepEqual(listSlots(directory), [1_000, 1_001, 1_002]);
});

test('slots that version 0.1.0 uses are not claimed, and slots that it left are listed', () => {
  claimSlotAt(deps(), 0)?.release();
  const { number } = claimSlot(deps());
  // The slots that version 0.1.0 sees.
  assert.doesNotMatch(String(number), /^(0|[1-9]\d{0,2})$/);
  assert.deepEqual(listSlots(directory), [0, number]);
});

test('a journal slot keeps its ID while it has segments, and gets a new ID afterwards', () => {
  const first = claimSlot(deps());
  writeFileSync(join(first.directory, '0000000001.journal'), '');
  first.release();
  const second = claimSlot(deps());
  assert.equal(second.id, first.id);
  rmSync(join(first.directory, '0000000001.journal'));
  second.release();
  assert.notEqual(claimSlot(deps()).id, first.id);
});

test('journal slots are accessible to the user only', () => {
  const slot = claimSlot(deps());
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(statSync(slot.directory).mode & 0o777, 0o700);
  for (const name of readdirSync(slot.directory)) {
    assert.equal(statSync(join(slot.directory, name)).mode & 0o777, 0o600, name);
  }
});

test('reports when all journal slots are taken', () => {
  assert.throws(
    () => claimSlot({ ...deps(), lock: () => undefined }),
    /All 256 directories .+ set another ledger\.journal/,
  );
});

test('a journal slot of another store is reported and kept, and the next slot is used', () => {
  const first = claimSlot(deps());
  writeFileSync(join(first.directory, '0000000001.journal'), 'rows');
  first.release();
  const foreign: string[] = [];
  const other = { ...deps(), store: 'another store', onForeign: (path: string) => foreign.push(path) };
  const second = claimSlot(other);
  assert.equal(second.number, 1_001);
  assert.deepEqual(foreign, [first.directory]);
  assert.equal(readFileSync(join(first.directory, '0000000001.journal'), 'utf8'), 'rows');
  assert.equal(claimSlotAt(deps(), 1_000)?.id, first.id);
  second.release();
});

test('a slot without a store name belongs to the configured store, unless another store used the directory', () => {
  const first = claimSlot(deps());
  writeFileSync(join(first.directory, '0000000001.journal'), 'rows');
  first.release();
  rmSync(join(first.directory, 'store'));
  const adopted = claimSlotAt(deps(), 1_000);
  assert.equal(adopted?.id, first.id);
  assert.equal(readStore(first.directory), 'the store');
  adopted?.release();

  rmSync(join(first.directory, 'store'));
  claimSlotAt({ ...deps(), store: 'another store' }, 1_001)?.release();
  assert.equal(claimSlotAt(deps(), 1_000), undefined);
  assert.equal(readStore(first.directory), undefined);
  assert.equal(claimSlotAt({ ...deps(), adopts: true }, 1_000)?.id, first.id);
  assert.equal(readStore(first.directory), 'the store');
});
