/** Stores settings in the database: each is a name and a JSON value. */

import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { SettingStore } from '../core/store/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { readJson } from '../lib/json/read-json.ts';
import { insertNew } from './ledger/ledger-insert.ts';
import type { Recorder } from './recording.ts';
import type { Schema } from './schema.ts';

const installationName = 'installation';

export async function readSetting(db: Kysely<Schema>, name: string): Promise<string | undefined> {
  return (await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst())?.value;
}

export async function lockSetting(trx: Transaction<Schema>, name: string): Promise<string | undefined> {
  const row = await trx
    .updateTable('settings')
    .set((column) => ({ value: column.ref('value') }))
    .where('name', '=', name)
    .returning('value')
    .executeTakeFirst();
  return row?.value;
}

export async function writeSetting(db: Kysely<Schema>, name: string, value: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

export function createSettingStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): SettingStore {
  const claim = async (name: string): Promise<boolean> =>
    (await insertNew(db, 'claims', [{ name, claimed_at: clock.nowMs() }])) === 1;

  return {
    async get(name) {
      const text = await readSetting(db, name);
      return text === undefined ? undefined : readJson(text);
    },

    async all() {
      const rows = await db.selectFrom('settings').selectAll().execute();
      return new Map(rows.map(({ name, value }) => [name, readJson(value)]));
    },

    set: (name, value, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        // The setting is locked first, so that `before` in the audit log is the replaced value.
        const before = await lockSetting(transaction, name);
        const text = JSON.stringify(value ?? null);
        if (before === text) return;
        await writeSetting(transaction, name, text);
        await trace({
          changed: { kind: 'setting', id: name },
          action: 'setting.set',
          subject: name,
          // Under the setting's name, by which the recorder finds a setting that is a secret itself.
          before: before === undefined ? null : { [name]: readJson(before) },
          after: { [name]: value ?? null },
        });
      }),

    claim,

    async installation() {
      const made = JSON.stringify(randomBytes(16).toString('hex'));
      const found = await readSetting(db, installationName);
      if (found === undefined) await insertNew(db, 'settings', [{ name: installationName, value: made }]);
      // Where another writer was first, its value counts.
      const kept = readJson(found ?? (await readSetting(db, installationName)) ?? '');
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
