/** Settings in the database: a name and any JSON value each. */

import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { SettingStore } from '../core/store/resources.ts';
import type { Clock } from '../lib/clock.ts';
import type { Recorder } from './recording.ts';
import type { Schema } from './schema.ts';
import { readJson } from './stored-json.ts';

const installationName = 'installation';

export function createSettingStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): SettingStore {
  async function claim(name: string): Promise<boolean> {
    const claimed = await db
      .insertInto('claims')
      .values({ name, claimed_at: clock.nowMs() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    return claimed.numInsertedOrUpdatedRows === 1n;
  }

  return {
    async get(name) {
      const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
      return row && readJson(row.value);
    },

    async all() {
      const rows = await db.selectFrom('settings').selectAll().execute();
      return new Map(rows.map(({ name, value }) => [name, readJson(value)]));
    },

    set: (name, value, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        // Locked first, so that `before` in the audit log is the replaced value.
        const before = await transaction
          .updateTable('settings')
          .set((column) => ({ value: column.ref('value') }))
          .where('name', '=', name)
          .returning('value')
          .executeTakeFirst();
        const text = JSON.stringify(value ?? null);
        if (before?.value === text) return;
        await transaction
          .insertInto('settings')
          .values({ name, value: text })
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: text }))
          .execute();
        await trace({
          changed: { kind: 'setting', id: name },
          action: 'setting.set',
          subject: name,
          // Under its own name, as a setting may be a secret itself.
          before: before === undefined ? null : { [name]: readJson(before.value) },
          after: { [name]: value ?? null },
        });
      }),

    claim,

    async installation() {
      await db
        .insertInto('settings')
        .values({ name: installationName, value: JSON.stringify(randomBytes(16).toString('hex')) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      // Another writer may have been first: the value is theirs.
      const { value } = await db
        .selectFrom('settings')
        .select('value')
        .where('name', '=', installationName)
        .executeTakeFirstOrThrow();
      const kept = readJson(value);
      if (typeof kept !== 'string') throw new TypeError('the name of the installation is no text');
      return kept;
    },

    async installedAtMs() {
      await claim(installationName);
      const claimed = await db
        .selectFrom('claims')
        .select('claimed_at')
        .where('name', '=', installationName)
        .executeTakeFirstOrThrow();
      return Number(claimed.claimed_at);
    },
  };
}
