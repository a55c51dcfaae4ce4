/** Sums by hour and by day of what requests counted beside tokens: images, seconds, characters, calls of tools, what was saved. */

import { type CreateTableBuilder, type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { unitLeaves } from '../ledger/unit-leaves.ts';

const places = ['span', 'key', 'project', 'route', 'operation', 'model', 'upstream', 'outcome', 'unit'] as const;

export const usageUnits: Migration = {
  async up(db: Kysely<unknown>) {
    const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
    for (const name of ['usage_unit_hours', 'usage_unit_days']) {
      const table = withPlaces(db.schema.createTable(name))
        .addColumn('amount', 'double precision', (column) => column.notNull())
        .addPrimaryKeyConstraint(
          `${name}_pk`,
          places.filter((place) => place !== 'operation'),
        );
      await (isSqlite ? table.modifyEnd(sql`without rowid`) : table).execute();
    }
    await sql`
      insert into usage_unit_hours
      select started_at - started_at % 3600000, key, coalesce(project, ''), route, min(operation), coalesce(model, ''),
        coalesce(upstream, ''), outcome, unit, sum(amount)
      from (${unitLeaves(isSqlite)}) as leaves
      group by 1, 2, 3, 4, 6, 7, 8, 9`.execute(db);
    await sql`
      insert into usage_unit_days
      select span - span % 86400000, key, project, route, min(operation), model, upstream, outcome, unit, sum(amount)
      from usage_unit_hours group by 1, 2, 3, 4, 6, 7, 8, 9`.execute(db);
  },
};

function withPlaces(table: CreateTableBuilder<string>) {
  let result: CreateTableBuilder<string, string> = table;
  for (const place of places) {
    result = result.addColumn(place, place === 'span' ? 'bigint' : 'text', (column) => column.notNull());
  }
  return result;
}
