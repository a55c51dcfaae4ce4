/** Lets Kysely run on Node's own SQLite. */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { SqliteDialect, type SqliteStatement } from 'kysely';

type Row = Record<string, SQLOutputValue>;

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

  return new SqliteDialect({
    database: {
      prepare: (sql) => attempt(() => adapt(database.prepare(sql))),
      close: () => database.close(),
    },
  });
}

/** SQLite takes a plain object in the first place for a table of names; nothing but values may get that far. */
function toBound(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    switch (typeof value) {
      case 'string':
      case 'number':
      case 'bigint':
        return value;
      default:
        if (value === null || value instanceof Uint8Array) return value;
        throw new TypeError(`A value of type ${typeof value} cannot be bound to an SQL statement.`);
    }
  });
}

/** Whole numbers that a JavaScript number holds exactly become one; larger ones stay as they are. */
function toRow(row: Row): Row {
  for (const column in row) {
    const value = row[column];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[column] = number;
  }
  return row;
}
