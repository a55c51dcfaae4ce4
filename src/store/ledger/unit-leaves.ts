/** What rows of the ledger counted beside tokens, one by one, as a database sees it in their JSON. */

import { type RawBuilder, sql } from 'kysely';
import { toolPrefix } from '../../core/accounting/units.ts';

const ofSqlite = (rows: RawBuilder<unknown>) => sql`
  select ledger.*, 'cachedTokens' as unit, cast(cached_tokens as real) as amount from ${rows} as ledger where cached_tokens > 0
  union all
  select ledger.*, case leaf.path when '$' then leaf.key else ${sql.lit(toolPrefix)} || leaf.key end, leaf.atom
  from ${rows} as ledger, json_tree(ledger.units) as leaf where ledger.units is not null and leaf.type in ('integer', 'real')`;

const ofPostgres = (rows: RawBuilder<unknown>) => sql`
  select ledger.*, 'cachedTokens' as unit, cached_tokens::double precision as amount from ${rows} as ledger where cached_tokens > 0
  union all
  select ledger.*, leaf.unit, leaf.amount::double precision
  from ${rows} as ledger, lateral (
    select key as unit, value as amount from json_each_text(units::json) where json_typeof(units::json -> key) = 'number'
    union all
    select ${sql.lit(toolPrefix)} || key, value from json_each_text(units::json -> 'toolCalls')
  ) as leaf where ledger.units is not null`;

/** The columns of the ledger, `unit` and `amount`; a row comes once for each of its units. */
export const unitLeaves = (isSqlite: boolean, rows: RawBuilder<unknown> = sql`ledger`): RawBuilder<unknown> =>
  isSqlite ? ofSqlite(rows) : ofPostgres(rows);
