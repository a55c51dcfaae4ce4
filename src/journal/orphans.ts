/** Finds and claims journals of dead processes that are not completely imported. */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { OrphanJournal } from './importer.ts';
import { createJournalReader } from './journal-reader.ts';
import { claimSlotAt, listSlots, type SlotDeps, storeFile } from './journal-slot.ts';

export interface OrphansDeps extends SlotDeps {
  /** This process's slot, which is skipped. */
  readonly ownSlot: number | undefined;
  /** Whether all imported rows are durable in the store: see `JournalReaderDeps`. */
  readonly isSecure: () => Promise<boolean>;
}

/** Makes a function that claims journals without a writer that have something new; each stays claimed until it is released. */
export function createOrphanClaims({ ownSlot, isSecure, ...deps }: OrphansDeps): () => OrphanJournal[] {
  /** Fingerprint of each slot when it was released: while it is unchanged, the slot has nothing new. */
  const seen = new Map<number, string>();

  function claim(number: number): OrphanJournal | undefined {
    const onForeign = (path: string): void => {
      seen.set(number, lookOf(path));
      deps.onForeign?.(path);
    };
    const slot = claimSlotAt({ ...deps, onForeign }, number);
    if (slot === undefined) return undefined;
    try {
      return {
        reader: createJournalReader({ directory: slot.directory, isOrphan: () => true, isSecure }),
        release() {
          seen.set(number, lookOf(slot.directory));
          slot.release();
        },
      };
    } catch (thrown) {
      slot.release();
      throw thrown;
    }
  }

  return () =>
    listSlots(deps.directory).flatMap((number) => {
      if (number === ownSlot || seen.get(number) === lookOf(join(deps.directory, String(number)))) return [];
      return claim(number) ?? [];
    });
}

/** A fingerprint of the directory, which changes with every write to it. */
function lookOf(directory: string): string {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.journal') || name === storeFile)
    .sort()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(directory, name), { throwIfNoEntry: false }) ?? {};
      return `${name} ${size} ${mtimeMs}`;
    })
    .join('\n');
}
