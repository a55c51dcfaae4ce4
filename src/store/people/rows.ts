/** Shared code of the stores of people: reads members with their roles, and lets changes happen one at a time. */

import type { Kysely, Selectable, Transaction } from 'kysely';
import { type Role, roles } from '../../core/role.ts';
import type { StoredMember } from '../../core/store/members.ts';
import { fromRow } from '../columns.ts';
import type { Recorder, Trace } from '../recording.ts';
import type { MemberTable, Schema } from '../schema.ts';
import { oneOf } from '../stored-json.ts';

export type Tracer = (trace: Trace) => Promise<void>;

/** The role of a text; a role that only a newer version knows gives no more than read access. */
export const toRole = (text: string): Role => oneOf(roles, text) ?? 'viewer';

/** Runs changes one at a time, by a lock that is taken first: else two owners who demote each other at once would both succeed. */
export function inTurn(recorder: Recorder) {
  return <T>(actor: string, work: (transaction: Transaction<Schema>, trace: Tracer) => Promise<T>): Promise<T> =>
    recorder.write(actor, async (transaction, trace) => {
      const turns = transaction.updateTable('access_turn').set((column) => ({ turns: column('turns', '+', 1) }));
      await turns.where('id', '=', 1).execute();
      return work(transaction, trace);
    });
}

export type MemberRow = Selectable<MemberTable>;
export type CountedRow = MemberRow & { readonly passkeys: number | null };

export const toMember = (row: CountedRow): StoredMember => ({
  ...fromRow(row),
  role: toRole(row.role),
  passkeys: Number(row.passkeys ?? 0),
});

export function selectMembers(db: Kysely<Schema>) {
  return db
    .selectFrom('members')
    .selectAll('members')
    .select((is) =>
      is
        .selectFrom('passkeys')
        .whereRef('passkeys.member', '=', 'members.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('passkeys'),
    );
}

type UniqueColumn = 'id' | 'email' | 'oidc_subject';

export const findMemberRow = (
  db: Kysely<Schema>,
  column: UniqueColumn,
  value: string,
): Promise<CountedRow | undefined> => selectMembers(db).where(`members.${column}`, '=', value).executeTakeFirst();

export async function findMember(
  db: Kysely<Schema>,
  id: string,
  column: UniqueColumn = 'id',
): Promise<StoredMember | undefined> {
  const row = await findMemberRow(db, column, id);
  return row && toMember(row);
}
