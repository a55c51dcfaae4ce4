/** The feed of changes in a database: what changed, in order, for all nodes. */

import type { Kysely } from 'kysely';
import type { Change, ChangeFeed } from '../core/store/changes.ts';
import type { Signal } from './recording.ts';
import type { Schema } from './schema.ts';
import { oneOf } from './stored-json.ts';

const mostAtOnce = 1_000;
const kinds = ['key', 'resource', 'setting'] as const;

export function createChangeFeed(db: Kysely<Schema>, signal: Signal): ChangeFeed {
  return {
    async latest() {
      const row = await db.selectFrom('change_counter').select('latest').where('id', '=', 1).executeTakeFirst();
      return row?.latest ?? 0;
    },

    async since(sequence) {
      const rows = await db
        .selectFrom('changes')
        .select(['sequence', 'kind', 'subject'])
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(mostAtOnce)
        .execute();
      return rows.map(({ sequence: number, kind, subject }): Change => {
        // What a newer version tells of is for us at least a reason to look at the configuration again.
        return { sequence: number, kind: oneOf(kinds, kind) ?? 'resource', id: subject };
      });
    },

    listen: (onChange) => signal.listen(onChange),
  };
}
