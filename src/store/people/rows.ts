/** What the stores of people share: names of columns, roles, and changes one after another. */

import type { Kysely, Selectable, Transaction } from 'kysely';
import { type Role, roles } from '../../core/role.ts';
import type { StoredMember } from '../../core/store/members.ts';
import type { Recorder, Trace } from '../recording.ts';
import type { MemberTable, Schema } from '../schema.ts';
import { oneOf } from '../stored-json.ts';

export type Tracer = (trace: Trace) => Promise<void>;

type Camel<C extends string> = C extends `${infer Word}_${infer Rest}` ? `${Word}${Capitalize<Camel<Rest>>}` : C;
type FieldOf<C> = C extends 'member' ? 'memberId' : C extends `${string}_at` ? `${Camel<C>}Ms` : Camel<C & string>;
type Stored<R> = {
  readonly [C in keyof R as FieldOf<C>]: R[C] extends infer V ? (V extends null ? undefined : V) : never;
};

/** A row with the names of its fields elsewhere: `last_seen_at` is `lastSeenAtMs`, `member` is `memberId`, null is undefined. */
export function fromRow<R extends object>(row: R): Stored<R> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [fieldOf(column), value ?? undefined]),
  ) as Stored<R>;
}

function fieldOf(column: string): string {
  if (column === 'member') return 'memberId';
  const field = column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return column.endsWith('_at') ? `${field}Ms` : field;
}

/** A role that only a newer version knows gives no more than looking. */
export const toRole = (text: string): Role => oneOf(roles, text) ?? 'viewer';

/** Serialises changes: two owners who demote each other at once would both still see the other. Locked before anything else. */
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
