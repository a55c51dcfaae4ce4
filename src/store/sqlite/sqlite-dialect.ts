/** Kysely dialect for Node's built-in SQLite. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';
import { keepPrepared, listsOf, runEach, toBound, toRow } from './sqlite-statements.ts';

type RunLists = (sql: string, lists: Iterable<SQLInputValue[]>) => number[];

/** Kysely's connection, extended by statements that run for many lists. */
class ListConnection implements DatabaseConnection {
  readonly #inner: DatabaseConnection;
  readonly #run: RunLists;

  constructor(inner: DatabaseConnection, run: RunLists) {
    this.#inner = inner;
    this.#run = run;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const lists = listsOf(query);
    return lists === undefined ? this.#inner.executeQuery(query) : { rows: this.#run(query.sql, lists) as R[] };
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#inner.streamQuery(query, chunkSize);
  }
}

/** Begins as a writer: a transaction that began by reading cannot write after another process wrote. */
class ImmediateDriver extends SqliteDriver {
  readonly #isInTransaction: () => boolean;
  readonly #run: RunLists;

  constructor(config: SqliteDialectConfig, isInTransaction: () => boolean, run: RunLists) {
    super(config);
    this.#isInTransaction = isInTransaction;
    this.#run = run;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return new ListConnection(await super.acquireConnection(), this.#run);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** A full disk ends the transaction by itself: the failing rollback must not hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#isInTransaction()) await super.rollbackTransaction(connection);
  }
}

/** `toError` converts SQLite's errors. `checkFiles` throws where writing is not allowed any more. */
export function createSqliteDialect(
  database: DatabaseSync,
  toError: (thrown: unknown) => unknown,
  checkFiles: () => void = () => undefined,
): SqliteDialect {
  function attempt<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      throw toError(thrown);
    }
  }

  interface Adapted extends SqliteStatement {
    each(lists: Iterable<SQLInputValue[]>): number[];
  }

  function adapt(statement: StatementSync): Adapted {
    const isRead = /^\s*select\b/i.test(statement.sourceSQL);
    function perform<T>(call: () => T): T {
      if (!isRead && !database.isTransaction) checkFiles();
      return attempt(call);
    }
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => perform(() => statement.all(...toBound(parameters)).map(toRow)),
      run: (parameters) => perform(() => statement.run(...toBound(parameters))),
      each: (lists) => perform(() => runEach(statement, lists)),
      *iterate(parameters) {
        const rows = attempt(() => statement.iterate(...toBound(parameters)));
        for (;;) {
          const next = attempt(() => rows.next());
          if (next.done === true) return;
          yield toRow(next.value);
        }
      },
    };
  }

  const prepared = keepPrepared(database, adapt);
  const prepare = (sql: string): Adapted => attempt(() => prepared(sql));

  const config = { database: { prepare, close: () => database.close() } };
  const createDriver = () =>
    new ImmediateDriver(
      config,
      () => database.isTransaction,
      (sql, lists) => prepare(sql).each(lists),
    );
  return Object.assign(new SqliteDialect(config), { createDriver });
}
