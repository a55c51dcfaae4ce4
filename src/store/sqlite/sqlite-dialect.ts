/** Creates Kysely dialects for SQLite: for a connection in this thread, and for anything else that executes statements. */

import type { DatabaseSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { createStatements, isRead, listsOf, type SqliteResult, toBound } from './sqlite-statements.ts';

/** Executes a statement. `session`: the transaction that the statement belongs to; 0 for a statement on its own. */
export type Execute = (session: number, query: CompiledQuery) => Promise<QueryResult<unknown>>;

export const toQueryResult = ({ rows, changes }: SqliteResult): QueryResult<unknown> =>
  changes === undefined ? { rows } : { rows, numAffectedRows: changes };

/** Creates a dialect. `toError` converts SQLite's errors; `checkFiles` throws where writing is not allowed any more. */
export function createSqliteDialect(
  database: DatabaseSync,
  toError: (thrown: unknown) => unknown,
  checkFiles: () => void = () => undefined,
): Dialect {
  const run = createStatements(database);
  async function execute(_session: number, query: CompiledQuery): Promise<QueryResult<unknown>> {
    const { sql, parameters } = query;
    // A full disk ends the transaction by itself: the failing rollback must not hide the cause.
    if (sql === 'rollback' && !database.isTransaction) return { rows: [] };
    if (!isRead(sql) && !database.isTransaction) checkFiles();
    try {
      return toQueryResult(run(sql, toBound(parameters), listsOf(query)));
    } catch (thrown) {
      throw toError(thrown);
    }
  }
  return toDialect(execute, async () => database.close(), new SqliteAdapter());
}

export function toDialect(execute: Execute, close: () => Promise<void>, adapter: SqliteAdapter): Dialect {
  let lastSession = 0;
  const driver: Driver = {
    init: async () => undefined,
    acquireConnection: async () => new Caller(execute),
    async beginTransaction(connection) {
      lastSession += 1;
      await toOurs(connection).begin(lastSession);
    },
    commitTransaction: (connection) => toOurs(connection).end('commit'),
    rollbackTransaction: (connection) => toOurs(connection).end('rollback'),
    releaseConnection: async () => undefined,
    destroy: close,
  };
  return {
    createAdapter: () => adapter,
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** A connection as Kysely sees it: one caller, with or without a transaction. */
class Caller implements DatabaseConnection {
  readonly #execute: Execute;
  #session = 0;

  constructor(execute: Execute) {
    this.#execute = execute;
  }

  /** Begins a transaction with the write lock: one that began by reading cannot write after another process has written. */
  async begin(session: number): Promise<void> {
    await this.#execute(session, CompiledQuery.raw('begin immediate'));
    this.#session = session;
  }

  async end(sql: 'commit' | 'rollback'): Promise<void> {
    await this.#execute(this.#session, CompiledQuery.raw(sql));
    this.#session = 0;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#execute(this.#session, query) as Promise<QueryResult<R>>;
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for a generator.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Rows of this store come all at once; ask for fewer.');
  }
}

function toOurs(connection: DatabaseConnection): Caller {
  if (connection instanceof Caller) return connection;
  throw new TypeError('This connection belongs to another database.');
}
