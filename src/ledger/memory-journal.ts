/** A journal in memory, for stores in memory: what is lost with the process is lost together. */

import { Joiner, nothingJoined } from './joiner.ts';
import type { Journal } from './journal.ts';
import { journalUnavailable } from './journal-error.ts';
import type { JournalBatch, JournalReader } from './journal-reader.ts';
import { isRow } from './rows-behind.ts';

const defaultMostCharacters = 64 * 1024 * 1024;
const onlySegment = 1;
const done = Promise.resolve();

export interface MemoryJournal {
  readonly journal: Journal;
  readonly reader: JournalReader;
}

/** Where more than this waits for the import, nothing new is taken on. */
export function createMemoryJournal(mostCharacters = defaultMostCharacters): MemoryJournal {
  const waiting = new Waiting();
  let openExchanges = 0;
  const refused = new Set<string>();
  const append = (text: string): Promise<void> => {
    waiting.push(text);
    return done;
  };
  const isFull = (): boolean => waiting.characters >= mostCharacters;

  const journal: Journal = {
    open(id, text) {
      if (isFull()) {
        refused.add(id);
        return Promise.reject(journalUnavailable());
      }
      openExchanges += 1;
      return append(text);
    },
    settle(id, text) {
      if (refused.size > 0 && refused.delete(id)) return journal.note(text);
      openExchanges -= 1;
      return append(text);
    },
    note: (text) => (isFull() ? Promise.reject(journalUnavailable()) : append(text)),
    fits: (text) => waiting.characters + text.length < mostCharacters,
    state: () => ({ bytesWritten: waiting.pushedCharacters, openExchanges, failing: isFull() }),
    close: async () => undefined,
  };
  return { journal, reader: createReader(waiting) };
}

class Waiting {
  #lines: string[] = [];
  /** The number of the first line that is still here. */
  #first = 0;
  characters = 0;
  rows = 0;
  pushedCharacters = 0;

  push(text: string): void {
    this.#lines.push(text);
    this.characters += text.length;
    if (isRow(text)) this.rows += 1;
    this.pushedCharacters += text.length;
  }

  line(number: number): string | undefined {
    return this.#lines[number - this.#first];
  }

  drop(to: number): void {
    const dropped = this.#lines.splice(0, Math.max(0, to - this.#first));
    this.#first += dropped.length;
    for (const line of dropped) {
      this.characters -= line.length;
      if (isRow(line)) this.rows -= 1;
    }
  }
}

function createReader(waiting: Waiting): JournalReader {
  const joiner = new Joiner();
  /** The number of the next line to read, which is also the place of the last one plus one. */
  let next = 0;
  let given: JournalBatch[] = [];
  /** Given before, and asked for again. */
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
      for (let line = waiting.line(next); line !== undefined && joined.rows.length < most; line = waiting.line(next)) {
        next += 1;
        joiner.take([line], onlySegment, next, joined);
      }
      const position = { segment: onlySegment, offset: next };
      const batch = { ...joined, position, isFull: joined.rows.length >= most };
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
        bytesBehind: waiting.characters,
        rowsBehind: waiting.rows,
        oldestUnimportedAtMs: oldest?.rows[0]?.row.startedAtMs,
        openIntents: joiner.openIntents,
        segments: 1,
      };
    },
    close: async () => undefined,
  };
}
