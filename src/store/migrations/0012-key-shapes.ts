/** Which service the clients of a key were written for. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keyShapes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('keys').addColumn('shape', 'text').execute();
  },
};
