/** Lists the rows that wait in journals, without importing them. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../core/store/store.ts';
import { createJournalReader } from './journal-reader.ts';
import { idFile, listSlots, readStore } from './journal-slot.ts';

export interface Waiting {
  readonly slot: number;
  readonly bytes: number;
  readonly rows: number;
}

/** Counts the rows that wait for import into this store, one entry for each journal slot (directory of a process) that has some. */
export async function readWaitingRows(
  directory: string,
  { ledger, settings }: Pick<Store, 'ledger' | 'settings'>,
): Promise<Waiting[]> {
  const identity = await settings.installation();
  const waiting: Waiting[] = [];
  for (const slot of listSlots(directory)) {
    const path = join(directory, String(slot));
    if (!existsSync(join(path, idFile)) || (readStore(path) ?? identity) !== identity) continue;
    const reader = createJournalReader({ directory: path, isOrphan: () => false });
    try {
      await reader.open(await ledger.position(reader.id));
      let state = reader.state();
      // Long journals are counted in several steps.
      for (let rows = -1; state.rowsBehind > rows; state = reader.state()) rows = state.rowsBehind;
      const { bytesBehind: bytes, rowsBehind: rows } = state;
      if (bytes > 0) waiting.push({ slot, bytes, rows });
    } finally {
      await reader.close();
    }
  }
  return waiting;
}
