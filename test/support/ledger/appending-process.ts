/** A program that appends to a journal until it is killed, and prints each confirmed record: `i ID` and `s ID`. */

import { writeSync } from 'node:fs';
import type { Durability } from '../../../src/core/accounting/ledger-row.ts';
import { createJournal } from '../../../src/journal/journal.ts';
import { claimSlot } from '../../../src/journal/journal-slot.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { lockFile } from '../../../src/store/sqlite/sqlite-file.ts';
import { intentLine, settlementLine } from './journal-lines.ts';

const [directory = '', node = '', durability = ''] = process.argv.slice(2);
const concurrency = 8;

const { directory: slot } = claimSlot({ directory, lock: lockFile, clock: systemClock, store: 'the store' });
const journal = await createJournal({
  directory: slot,
  node,
  durability: durability === 'strict' ? 'strict' : ('fast' satisfies Durability),
  clock: systemClock,
  segmentBytes: 256 * 1024,
});
writeSync(1, 'ready\n');

async function work(worker: number): Promise<never> {
  for (let count = 0; ; count++) {
    const id = `${node}-${worker}-${count}`;
    await journal.open(id, intentLine(id, node));
    writeSync(1, `i ${id}\n`);
    await journal.settle(id, settlementLine(id, node));
    writeSync(1, `s ${id}\n`);
  }
}

await Promise.all(Array.from({ length: concurrency }, (_, worker) => work(worker)));
