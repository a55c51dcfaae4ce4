/** Implements the journal in memory, for in-memory stores, which end with the process as well. */

import type { Buffer } from 'node:buffer';
import type { LedgerWaiter } from '../core/accounting/spending.ts';
import { Joiner, nothingJoined } from './joiner.ts';
import { type Journal, refuse } from './journal.ts';

import { countSettlements, type RowItem, toPayload } from './journal-items.ts';
import { type JournalBatch, type JournalReader, mostBatchBytes } from './journal-reader.ts';

const defaultMostBytes = 64 * 1024 * 1024;
const onlySegment = 1;
const done = Promise.resolve();

export interface MemoryJournal {
  readonly journal: Journal;
  readonly reader: JournalReader;
}

/** Creates the journal and its reader. With more bytes than this waiting for the import, new exchanges are refused. */
export function createMemoryJournal(mostBytes = defaultMostBytes): MemoryJournal {
  const waiting = new Waiting();
  let openExchanges = 0;
  const refused = new Set<string>();
  const append = (item: RowItem, waiter: LedgerWaiter | undefined): Promise<void> => {
    waiting.push(toPayload(item));
    if (waiter !== undefined) queueMicrotask(() => waiter.onWritten());
    return done;
  };
  const isFull = (): boolean => waiting.bytes >= mostBytes;

  const journal: Journal = {
    open(id, item, waiter) {
      if (isFull()) {
        refused.add(id);
        return refuse(waiter);
      }
      openExchanges += 1;
      return append(item, waiter);
    },
    settle(id, item, waiter) {
      if (refused.size > 0 && refused.delete(id)) return journal.note(item, waiter);
      openExchanges -= 1;
      return append(item, waiter);
    },
    note: (item, waiter) => (isFull() ? refuse(waiter) : append(item, waiter)),
    fits: ({ length }) => waiting.bytes + length < mostBytes,
    state: () => ({ bytesWritten: waiting.pushedBytes, openExchanges, failing: isFull() }),
    close: async () => undefined,
  };
  return { journal, reader: createReader(waiting) };
}

class Waiting {
  #payloads: Buffer[] = [];
  #firstNumber = 0;
  bytes = 0;
  rows = 0;
  pushedBytes = 0;

  push(payload: Buffer): void {
    this.#payloads.push(payload);
    this.bytes += payload.length;
    this.rows += countSettlements({ payload, isItems: true });
    this.pushedBytes += payload.length;
  }

  payload(number: number): Buffer | undefined {
    return this.#payloads[number - this.#firstNumber];
  }

  drop(to: number): void {
    const dropped = this.#payloads.splice(0, Math.max(0, to - this.#firstNumber));
    this.#firstNumber += dropped.length;
    for (const payload of dropped) {
      this.bytes -= payload.length;
      this.rows -= countSettlements({ payload, isItems: true });
    }
  }
}

function createReader(waiting: Waiting): JournalReader {
  const joiner = new Joiner();
  /** The number of the next item to read. */
  let next = 0;
  let given: JournalBatch[] = [];
  /** Batches returned before and requested again, after a failed import. */
  let again: JournalBatch[] = [];

  return {
    id: 'memory',
    async open() {
      again = [...given];
    },
    async read(most) {
      const repeated = again.shift();
      if (repeated !== undefined) return repeated;
      const joined = nothingJoined();
      let bytes = 0;
      while (joined.rows.length < most && bytes < mostBatchBytes) {
        const payload = waiting.payload(next);
        if (payload === undefined) break;
        next += 1;
        bytes += payload.length;
        joiner.take({ payload, isItems: true, end: next }, onlySegment, joined);
        // Each frame holds all the names that it needs.
        joiner.forgetNames();
      }
      const position = { segment: onlySegment, offset: next };
      const batch = { ...joined, position, bytes, isFull: joined.rows.length >= most || bytes >= mostBatchBytes };
      if (joined.rows.length > 0) given.push(batch);
      return batch;
    },
    async imported({ offset }) {
      given = given.filter(({ position }) => position.offset > offset);
      waiting.drop(offset);
    },
    state() {
      const [oldest] = given;
      return {
        bytesBehind: waiting.bytes,
        rowsBehind: waiting.rows,
        oldestUnimportedAtMs: oldest?.rows[0]?.row.startedAtMs,
        openIntents: joiner.openIntents,
        segments: 1,
      };
    },
    close: async () => undefined,
  };
}
