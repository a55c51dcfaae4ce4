import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intentLine, outcomes, readThrough, settlementLine } from '../../test/support/ledger/journal-lines.ts';
import { createMemoryJournal } from './memory-journal.ts';

test('the in-memory journal returns rows of ended requests in order, and none of open requests', async () => {
  const { journal, reader } = createMemoryJournal();
  await reader.open(undefined);
  await journal.open('a', intentLine('a'));
  await journal.open('b', intentLine('b'));
  await journal.settle('b', settlementLine('b'));
  await journal.note(settlementLine('c'));
  assert.equal(reader.state().rowsBehind, 2);
  const { rows } = await readThrough(reader, { most: 1 });
  assert.deepEqual(outcomes(rows), ['b ok', 'c ok']);
  assert.deepEqual([reader.state().openIntents, reader.state().bytesBehind], [1, 0]);
  assert.ok(journal.state().bytesWritten > 0);
  await journal.settle('a', settlementLine('a'));
  assert.deepEqual(outcomes((await readThrough(reader)).rows), ['a ok']);
});

test('rows that were not imported before the in-memory journal was reopened are returned again', async () => {
  const { journal, reader } = createMemoryJournal();
  for (const id of ['a', 'b', 'c']) await journal.note(settlementLine(id));
  await reader.open(undefined);
  const first = await reader.read(1);
  await reader.imported(first.position);
  await reader.read(1);
  await reader.open(first.position);
  const { rows } = await readThrough(reader, { most: 1 });
  assert.deepEqual(outcomes(rows), ['b ok', 'c ok']);
});

test('the in-memory journal refuses new requests while too much waits for import, and completes running ones', async () => {
  const { journal, reader } = createMemoryJournal(500);
  await reader.open(undefined);
  await journal.open('a', intentLine('a'));
  await journal.note(settlementLine('r'));
  await assert.rejects(journal.open('b', intentLine('b')), { code: 'store_unavailable' });
  assert.equal(journal.state().failing, true);
  await assert.rejects(journal.settle('b', settlementLine('b')), { code: 'store_unavailable' });
  await journal.settle('a', settlementLine('a'));
  assert.equal(journal.state().openExchanges, 0);
  const { rows } = await readThrough(reader);
  assert.deepEqual(outcomes(rows), ['r ok', 'a ok']);
  await journal.open('c', intentLine('c'));
  assert.equal(journal.state().failing, false);
});
