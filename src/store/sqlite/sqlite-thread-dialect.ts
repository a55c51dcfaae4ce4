/** Creates a Kysely dialect for a SQLite file that a separate thread reads and writes. */

import { Worker } from 'node:worker_threads';
import { type CompiledQuery, type QueryResult, SqliteAdapter } from 'kysely';
import { threadEnvironment } from '../../lib/threads.ts';
import { StoreError } from '../store-error.ts';
import { toDialect, toQueryResult } from './sqlite-dialect.ts';
import type { SqliteCall } from './sqlite-engine.ts';
import { toStoreError } from './sqlite-faults.ts';
import { listsOf, toBound } from './sqlite-statements.ts';
import type { SentAnswer, SentFault, SqliteThreadData } from './sqlite-thread.ts';

/** The thread's code; this works in the source tree and in the build. */
const entry = new URL(import.meta.url.endsWith('.ts') ? './sqlite-thread.ts' : './sqlite-thread.js', import.meta.url);

/** Pause before a dead thread is restarted, so that not every call starts one. */
const restMs = 250;

interface Pending {
  resolve(result: QueryResult<unknown>): void;
  reject(reason: unknown): void;
}

interface SqliteThreadDeps extends SqliteThreadData {
  /** For tests: starts another thread, which dies on request. */
  readonly startWorker?: (data: SqliteThreadData) => Worker;
}

const startThread = (data: SqliteThreadData): Worker =>
  new Worker(entry, { workerData: data, name: 'sqlite', env: threadEnvironment() });

export function createSqliteThread({ path, storeName, startWorker = startThread }: SqliteThreadDeps) {
  const pending = new Map<number, Pending>();
  let outbox: SqliteCall[] = [];
  let worker: Worker | undefined;
  let lastId = 0;
  let pausedUntilMs = 0;
  let isClosed = false;

  function start(): Worker {
    const started = startWorker({ path, storeName });
    let cause: unknown;
    started.on('message', (answers: readonly SentAnswer[]) => {
      for (const answer of answers) settle(answer);
      if (pending.size === 0) started.unref();
    });
    started.once('error', (error) => {
      cause = error;
    });
    started.once('exit', () => {
      if (worker !== started) return;
      worker = undefined;
      pausedUntilMs = performance.now() + restMs;
      // The statement may or may not have been written: the caller learns that this is unknown.
      const reason = isClosed ? closed() : broken(storeName, cause);
      for (const { reject } of pending.values()) reject(reason);
      pending.clear();
      outbox = [];
    });
    return started;
  }

  function settle({ id, rows, changes, fault }: SentAnswer): void {
    const call = pending.get(id);
    pending.delete(id);
    if (fault !== undefined) call?.reject(toStoreError(fromSent(fault), storeName));
    else call?.resolve(toQueryResult({ rows, changes }));
  }

  function execute(session: number, query: CompiledQuery): Promise<QueryResult<unknown>> {
    if (isClosed) return Promise.reject(closed());
    if (worker === undefined && performance.now() < pausedUntilMs) return Promise.reject(broken(storeName, undefined));
    worker ??= start();
    const { sql, parameters } = query;
    const lists = listsOf(query);
    return enqueue(worker, { session, sql, parameters: toBound(parameters), lists: lists && [...lists] });
  }

  function enqueue(to: Worker, call: Omit<SqliteCall, 'id'>) {
    // Calls in progress keep the process alive.
    if (pending.size === 0) to.ref();
    lastId += 1;
    const id = lastId;
    // Calls of one tick are sent in one message.
    if (outbox.length === 0) queueMicrotask(() => post(to));
    outbox.push({ id, ...call });
    return new Promise<QueryResult<unknown>>((resolve, reject) => pending.set(id, { resolve, reject }));
  }

  function post(to: Worker): void {
    if (outbox.length === 0) return;
    to.postMessage(outbox);
    outbox = [];
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    const ending = worker;
    if (ending === undefined) return;
    post(ending);
    const ended = new Promise((resolve) => ending.once('exit', resolve));
    ending.ref();
    ending.postMessage(null);
    await ended;
  }

  // One file, but any number of callers: the thread orders them.
  const dialect = toDialect(execute, close, new ManyCallersAdapter());
  return { dialect /** `close` answers pending calls first. */, close };
}

class ManyCallersAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function fromSent({ name, message, details }: SentFault): Error {
  const error = Object.assign(new Error(message), details);
  error.name = name;
  return error;
}

function closed(): StoreError {
  return new StoreError('The store is closed.');
}

function broken(storeName: string, thrown: unknown): unknown {
  const cause = toStoreError(thrown, storeName);
  // The thread sends a StoreError as a plain error with that name.
  if (cause instanceof Error && cause.name === 'StoreError') return new StoreError(cause.message, thrown);
  return new StoreError(`${storeName} broke off; it is opened again, and what failed can be tried again.`, thrown);
}
