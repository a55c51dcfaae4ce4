/** A journal as left by a process that ended before its import. */

import { createJournal } from '../../../src/journal/journal.ts';
import { claimSlot } from '../../../src/journal/journal-slot.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { lockFile } from '../../../src/store/sqlite/sqlite-file.ts';
import { intentLine, settlementLine } from './journal-lines.ts';

/** With an exchange for each ID that began and ended. */
export async function writeJournal(directory: string, ids: readonly string[], store = 'the store'): Promise<void> {
  const slot = claimSlot({ directory, lock: lockFile, clock: systemClock, store });
  const journal = await createJournal({
    directory: slot.directory,
    node: 'one',
    durability: 'fast',
    clock: systemClock,
  });
  for (const id of ids) {
    await journal.open(id, intentLine(id, 'one'));
    await journal.settle(id, settlementLine(id, 'one'));
  }
  await journal.close();
  slot.release();
}
