/** Runs statements on a SQLite file for many callers: reads run at once, waiting writes share one commit. */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy } from './sqlite-file.ts';
import { createStatements, isRead, type Row } from './sqlite-statements.ts';

export interface SqliteCall {
  readonly id: number;
  /** Number of the transaction that the statement belongs to; 0 for a statement on its own. */
  readonly session: number;
  readonly sql: string;
  readonly parameters: SQLInputValue[];
  /** Lists of parameters: the statement runs once with each of them. */
  readonly lists?: readonly SQLInputValue[][] | undefined;
}

export interface SqliteAnswer {
  readonly id: number;
  readonly rows: Row[] | number[];
  readonly changes: bigint | undefined;
  /** The error, if the call failed; the result is then empty. */
  readonly fault: unknown;
}

export interface SqliteEngine {
  take(calls: readonly SqliteCall[]): void;
  /** Resolves when no call waits, apart from calls after a transaction that its caller leaves open. */
  idle(): Promise<void>;
}

export interface SqliteEngineDeps {
  /** The connections. Neither waits for locks of other processes, as the engine retries. */
  readonly writer: DatabaseSync;
  readonly reader: DatabaseSync;
  /** Throws where the files that are open are no longer those of the store. */
  readonly checkFiles: () => void;
  readonly answer: (answers: readonly SqliteAnswer[]) => void;
}

/** How the engine waits for locks of other processes; reads go on in the meantime. */
const patience = { pauseMs: 5, attempts: 1_000 };
/** Limit of writes in one commit: more than ever wait, and few enough for a short commit. */
const mostPerCommit = 1_000;

export function createSqliteEngine({ writer, reader, checkFiles, answer }: SqliteEngineDeps): SqliteEngine {
  const write = createStatements(writer);
  const read = createStatements(reader);
  /** Calls in the order of arrival: single writes, and the first statements of transactions. */
  let waiting: SqliteCall[] = [];
  /** Number of the open transaction; 0 where there is none. */
  let owner = 0;
  let isPumping = false;
  let pumping = Promise.resolve();

  function attempt(run: typeof write, { id, sql, parameters, lists }: SqliteCall): SqliteAnswer {
    try {
      return { id, ...run(sql, parameters, lists), fault: undefined };
    } catch (fault) {
      return toFault(id, fault);
    }
  }

  function take(calls: readonly SqliteCall[]): void {
    const answers: SqliteAnswer[] = [];
    for (const call of calls) {
      if (call.session !== 0 && call.session === owner) answers.push(continueTransaction(call));
      else if (call.session === 0 && isRead(call.sql)) answers.push(attempt(read, call));
      else if (call.session !== 0 && !isBegin(call.sql)) answers.push(toFault(call.id, ended()));
      else waiting.push(call);
    }
    if (answers.length > 0) answer(answers);
    if (!isPumping) pumping = pump();
  }

  function continueTransaction(call: SqliteCall): SqliteAnswer {
    const isRollback = /^rollback$/i.test(call.sql);
    // A full disk ends a transaction by itself: its later statements must not run on their own.
    if (!writer.isTransaction) {
      if (isRollback) owner = 0;
      return isRollback ? { id: call.id, rows: [], changes: 0n, fault: undefined } : toFault(call.id, ended());
    }
    const made = attempt(write, call);
    if (writer.isTransaction || made.fault !== undefined) return made;
    try {
      checkFiles();
    } catch (fault) {
      return toFault(call.id, fault);
    }
    owner = 0;
    return made;
  }

  /** Runs the waiting calls. Never throws: every call that was taken from the queue is answered. */
  async function pump(): Promise<void> {
    isPumping = true;
    for (;;) {
      const [first] = waiting;
      if (owner !== 0 || first === undefined) break;
      if (first.session === 0) {
        const end = waiting.findIndex(({ session }) => session !== 0);
        const group = waiting.slice(0, Math.min(end === -1 ? waiting.length : end, mostPerCommit));
        waiting = waiting.slice(group.length);
        answer(await commitTogether(group));
      } else {
        waiting = waiting.slice(1);
        const fault = await begin();
        if (fault === undefined) owner = first.session;
        answer([{ id: first.id, rows: [], changes: undefined, fault }]);
      }
    }
    isPumping = false;
  }

  /** Runs single writes in one transaction, so that the disk is synced once; SQLite undoes a failing statement only. */
  async function commitTogether(group: readonly SqliteCall[]): Promise<SqliteAnswer[]> {
    const isLight = group.every(({ sql }) => lightWrite.test(sql));
    if (isLight) writer.exec('PRAGMA synchronous = NORMAL');
    try {
      return await commit(group);
    } finally {
      if (isLight) writer.exec('PRAGMA synchronous = FULL');
    }
  }

  async function commit(group: readonly SqliteCall[]): Promise<SqliteAnswer[]> {
    const fault = await begin();
    if (fault !== undefined) return group.map(({ id }) => toFault(id, fault));
    const answers: SqliteAnswer[] = [];
    try {
      for (const call of group) {
        const made = attempt(write, call);
        if (!writer.isTransaction) throw made.fault ?? ended();
        answers.push(made);
      }
      write('commit', []);
      checkFiles();
    } catch (thrown) {
      if (writer.isTransaction) writer.exec('rollback');
      return group.map(({ id }) => toFault(id, thrown));
    }
    return answers;
  }

  async function begin(): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        checkFiles();
        write('begin immediate', []);
        return undefined;
      } catch (fault) {
        if (!isBusy(fault) || tries >= patience.attempts) return fault;
      }
      await sleep(patience.pauseMs);
    }
  }

  return { take, idle: () => pumping };
}

function toFault(id: number, fault: unknown): SqliteAnswer {
  return { id, rows: [], changes: undefined, fault };
}

function ended(): Error {
  return new Error('The transaction has ended already; nothing of it was written.');
}

/** Writes that a power cut may undo without harm: all processes see them, and the next durable commit syncs them. */
const lightWrite = /^(?:insert into|delete from) "kept_objects"/i;

const isBegin = (sql: string): boolean => /^begin\b/i.test(sql);
