/** The places in the journal's directory: one for each process that runs, locked as long as it does. */

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { JournalError, toJournalError } from './journal-error.ts';

/** Takes a lock that ends with the process; undefined where someone has it. */
type LockFile = (path: string) => { release(): void } | undefined;

export interface Slot {
  readonly number: number;
  readonly directory: string;
  /** Of the journal in it. */
  readonly id: string;
  release(): void;
}

export interface SlotDeps {
  /** The setting `ledger.journal`, absolute. */
  readonly directory: string;
  readonly lock: LockFile;
  readonly clock: Clock;
}

export const idFile = 'id';
const lockName = 'lock';
const mostSlots = 256;

/** The first that is free; throws with a sentence for the operator where there is none. */
export function claimSlot(deps: SlotDeps): Slot {
  for (let number = 0; number < mostSlots; number++) {
    const slot = claimSlotAt(deps, number);
    if (slot !== undefined) return slot;
  }
  throw new JournalError(
    `All ${mostSlots} places in the journal directory "${deps.directory}" are taken by running processes; give this one another ledger.journal.`,
  );
}

/** Undefined where a running process has it. */
export function claimSlotAt({ directory, lock, clock }: SlotDeps, number: number): Slot | undefined {
  const path = join(directory, String(number));
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const held = lock(join(path, lockName));
    if (held === undefined) return undefined;
    try {
      return { number, directory: path, id: readId(path, clock), release: () => held.release() };
    } catch (thrown) {
      held.release();
      throw thrown;
    }
  } catch (thrown) {
    throw toJournalError(thrown, directory);
  }
}

/** The numbers of those that are there, taken or not. */
export function listSlots(directory: string): number[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => /^(0|[1-9]\d{0,2})$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** A journal without segments is a new one: its numbers begin anew, and the store must not take it for the former. */
function readId(path: string, clock: Clock): string {
  const file = join(path, idFile);
  const hasSegments = readdirSync(path).some((name) => name.endsWith('.journal'));
  if (hasSegments && existsSync(file)) return readFileSync(file, 'utf8').trim();
  const id = createId(clock.nowMs());
  writeFileSync(`${file}.new`, `${id}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return id;
}
