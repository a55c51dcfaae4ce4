import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setUpCommand, userFault } from '../../test/support/gateways/command.ts';
import { writeJournal } from '../../test/support/ledger/orphan-journal.ts';
import { journal } from './journal.ts';

const id = '019abcdef01200000000000000000001';
const kindsOf = (lines: readonly string[]): string[] => lines.map((line) => JSON.parse(line).kind);

test('journal show prints each record as a line of JSON, of all journals or one', async (t) => {
  const { run, cwd } = await setUpCommand(t, journal);
  await writeJournal(join(cwd, 'store', 'journal'), [id]);
  const { code, lines, errors } = await run('show');
  assert.deepEqual([code, errors], [0, []]);
  assert.deepEqual(kindsOf(lines), ['start', 'intent', 'settlement', 'end']);
  const settlement = JSON.parse(lines[2] ?? '');
  assert.deepEqual([settlement.row.id, settlement.row.model, settlement.row.costNanos], [id, 'small – petit', 60]);
  assert.deepEqual((await run('show', 'store/journal/1000')).lines, lines);
  await assert.rejects(run('show', 'store'), userFault(/is no journal; name a folder in ledger\.journal/));
  await assert.rejects(run('read'), userFault(/write it as "postern journal show/));
});

test('journal show prints the text journals of version 0.1.0, and reports unreadable records', async (t) => {
  const { run, cwd } = await setUpCommand(t, journal);
  const slotDirectory = join(cwd, 'store', 'journal', '0');
  cpSync(new URL('../../test/fixtures/text-journal', import.meta.url), slotDirectory, { recursive: true });
  writeFileSync(join(slotDirectory, 'id'), 'journal-1\n');
  const whole = await run('show');
  assert.deepEqual(new Set(kindsOf(whole.lines)), new Set(['start', 'intent', 'settlement']));
  const [name = ''] = readdirSync(slotDirectory).filter((one) => one.endsWith('.journal'));
  const bytes = readFileSync(join(slotDirectory, name));
  bytes[40] = 0;
  writeFileSync(join(slotDirectory, name), bytes);
  const damaged = await run('show');
  assert.ok(damaged.lines.length < whole.lines.length);
  assert.match(damaged.errors.join(), /^postern: \d+ bytes of segment 1, from byte 0 on, cannot be read$/);
  truncateSync(join(slotDirectory, name));
  assert.deepEqual((await run('show')).lines, []);
});
