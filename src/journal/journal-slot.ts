/** Claims directories for journals, called slots: each running process locks one. */

import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { makeDirectory } from '../lib/make-directory.ts';
import { JournalError, toJournalError } from './journal-error.ts';

/** Locks a file until the process ends; undefined where another process has it. */
type LockFile = (path: string) => { release(): void } | undefined;

export interface Slot {
  readonly number: number;
  readonly directory: string;
  readonly id: string;
  release(): void;
}

export interface SlotDeps {
  /** The journals' directory (the setting `ledger.journal`), as an absolute path. */
  readonly directory: string;
  readonly lock: LockFile;
  readonly clock: Clock;
  readonly store: string;
  /** Called for a journal of another store, which is left unchanged. */
  readonly onForeign?: (path: string) => void;
  /** Takes over journals of any store. */
  readonly adopts?: boolean;
}

export const idFile = 'id';
/** Name of the file that identifies the store to which a journal belongs. Version 0.1.0 wrote none. */
export const storeFile = 'store';
export const lockName = 'lock';
/** Number of the first slot. Version 0.1.0 uses lower ones: it could not read this format, and would delete it. */
export const firstSlot = 1_000;
const mostSlots = 256;

/** Claims the first free slot; throws with a sentence for the operator where there is none. */
export function claimSlot(deps: SlotDeps): Slot {
  for (let number = firstSlot; number < firstSlot + mostSlots; number++) {
    const slot = claimSlotAt(deps, number);
    if (slot !== undefined) return slot;
  }
  throw new JournalError(
    `All ${mostSlots} directories in the journal "${deps.directory}" are in use by running processes; set another ledger.journal for this one.`,
  );
}

/** Claims a slot; undefined where a running process has it, or its journal belongs to another store. */
export function claimSlotAt(deps: SlotDeps, number: number): Slot | undefined {
  const { directory, lock, clock } = deps;
  const path = join(directory, String(number));
  try {
    makeDirectory(path, 0o700);
    const held = lock(join(path, lockName));
    if (held === undefined) return undefined;
    try {
      if (!isOwn(path, deps)) {
        held.release();
        deps.onForeign?.(path);
        return undefined;
      }
      const id = readId(path, clock);
      if (readStore(path) !== deps.store) writeWhole(join(path, storeFile), deps.store);
      return { number, directory: path, id, release: () => held.release() };
    } catch (thrown) {
      held.release();
      throw thrown;
    }
  } catch (thrown) {
    throw toJournalError(thrown, directory);
  }
}

/** The numbers of existing slots, free or not. */
export function listSlots(directory: string): number[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => /^(0|[1-9]\d{0,3})$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Identifies the store of a journal; undefined where nothing was written. */
export function readStore(path: string): string | undefined {
  const file = join(path, storeFile);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** Whether a journal belongs to this store. Without identity it does, if no other store used the directory. */
function isOwn(path: string, { directory, store, adopts = false }: SlotDeps): boolean {
  if (adopts || !hasSegments(path)) return true;
  const written = readStore(path);
  if (written !== undefined) return written === store;
  return listSlots(directory).every((number) => (readStore(join(directory, String(number))) ?? store) === store);
}

/** The journal's ID. A journal without segments gets a new one, as its numbers restart: the store must not confuse it with the former. */
function readId(path: string, clock: Clock): string {
  const file = join(path, idFile);
  if (hasSegments(path) && existsSync(file)) return readFileSync(file, 'utf8').trim();
  const id = createId(clock.nowMs());
  writeWhole(file, id);
  return id;
}

const hasSegments = (path: string): boolean => readdirSync(path).some((name) => name.endsWith('.journal'));

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
