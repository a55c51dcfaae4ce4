/** Lets Kysely run on Node's own SQLite. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';
import { keptStatements, toBound, toRow } from './sqlite-statements.ts';

/** Takes the right to write at once: one that began by reading cannot go on to write where another process wrote meanwhile. */
class ImmediateDriver extends SqliteDriver {
  readonly #isInTransaction: () => boolean;

  constructor(config: SqliteDialectConfig, isInTransaction: () => boolean) {
    super(config);
    this.#isInTransaction = isInTransaction;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** A full disk ends a transaction by itself: that nothing is left to undo must not hide why. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#isInTransaction()) await super.rollbackTransaction(connection);
  }
}

class ImmediateDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #isInTransaction: () => boolean;

  constructor(config: SqliteDialectConfig, isInTransaction: () => boolean) {
    super(config);
    this.#config = config;
    this.#isInTransaction = isInTransaction;
  }

  override createDriver(): ImmediateDriver {
    return new ImmediateDriver(this.#config, this.#isInTransaction);
  }
}

/** `toError` turns what SQLite throws into what the store throws. */
export function createSqliteDialect(database: DatabaseSync, toError: (thrown: unknown) => unknown): SqliteDialect {
  function attempt<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      throw toError(thrown);
    }
  }

  function adapt(statement: StatementSync): SqliteStatement {
    // Else a number past 2^53 could be written and never read again.
    statement.setReadBigInts(true);
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => attempt(() => statement.all(...toBound(parameters)).map(toRow)),
      run: (parameters) => attempt(() => statement.run(...toBound(parameters))),
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

  /** The oldest first. To prepare a long one takes as long as to run it. */
  const prepared = new Map<string, SqliteStatement>();

  function prepare(sql: string): SqliteStatement {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = attempt(() => adapt(database.prepare(sql)));
    prepared.set(sql, statement);
    const [oldest] = prepared.keys();
    if (prepared.size > keptStatements && oldest !== undefined) prepared.delete(oldest);
    return statement;
  }

  return new ImmediateDialect({ database: { prepare, close: () => database.close() } }, () => database.isTransaction);
}
