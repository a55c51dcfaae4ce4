/** Writes that leave a trace: in one transaction the work, its entry in the audit log and the notice for other nodes. */

import type { Kysely, Transaction } from 'kysely';
import type { AuditEntry } from '../core/store/audit.ts';
import type { Change } from '../core/store/changes.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import type { Schema } from './schema.ts';
import { withoutSecrets } from './without-secrets.ts';

/** How a database tells others at once that something changed. */
export interface Signal {
  /** Reaches them when the transaction ends well. */
  raise(transaction: Transaction<Schema>): Promise<void>;
  listen(onChange: () => void): { close(): Promise<void> };
}

/** Where nobody is told, everybody looks. */
export const noSignal: Signal = {
  raise: async () => undefined,
  listen: () => ({ close: async () => undefined }),
};

/** What was done, and to which thing other nodes have to look: none where they keep nothing of it. */
export interface Trace extends Pick<AuditEntry, 'action' | 'subject' | 'before' | 'after'> {
  readonly changed?: Pick<Change, 'kind' | 'id'>;
}

export interface Recorder {
  /** The work leaves a trace last of all, and none where it changed nothing. */
  write<T>(
    actor: string,
    work: (transaction: Transaction<Schema>, trace: (trace: Trace) => Promise<void>) => Promise<T>,
  ): Promise<T>;
}

/** Who reads less often than this many changes are made reads everything anew. */
const keptChanges = 10_000;
const pruneEvery = 1_000;

export function createRecorder(db: Kysely<Schema>, clock: Clock, signal: Signal): Recorder {
  return {
    write: (actor, work) =>
      db.transaction().execute((transaction) =>
        work(transaction, async ({ changed, ...entry }) => {
          await addAuditEntry(transaction, clock.nowMs(), { actor, ...entry });
          if (changed === undefined) return;
          await addChange(transaction, clock.nowMs(), changed);
          await signal.raise(transaction);
        }),
      ),
  };
}

export async function addAuditEntry(
  db: Kysely<Schema>,
  nowMs: number,
  { actor, action, subject, before, after }: Omit<AuditEntry, 'id' | 'atMs'>,
): Promise<void> {
  await db
    .insertInto('audit')
    .values({
      id: createId(nowMs),
      at: nowMs,
      actor,
      action,
      subject,
      before: toText(before),
      after: toText(after),
    })
    .execute();
}

async function addChange(
  transaction: Transaction<Schema>,
  nowMs: number,
  { kind, id }: Pick<Change, 'kind' | 'id'>,
): Promise<void> {
  // The row is ours until the transaction ends, so numbers become visible in their order. It is taken after everything else,
  // so that no two writers wait for each other.
  const { latest } = await transaction
    .updateTable('change_counter')
    .set((column) => ({ latest: column('latest', '+', 1) }))
    .where('id', '=', 1)
    .returning('latest')
    .executeTakeFirstOrThrow();
  await transaction.insertInto('changes').values({ sequence: latest, kind, subject: id, changed_at: nowMs }).execute();
  if (latest % pruneEvery === 0) {
    await transaction
      .deleteFrom('changes')
      .where('sequence', '<=', latest - keptChanges)
      .execute();
  }
}

function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(withoutSecrets(value));
}
