/** Keeps the faults of a refused configuration file, and writes an audit log entry for each applied change. */

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { RefusedConfiguration } from '../admin/context.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Fault } from '../config/read/faults.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../core/store/store.ts';
import { reasonOf } from '../lib/thrown.ts';
import { inBackground } from '../lib/time-slices.ts';

export type ReloadHistory = ReturnType<typeof createReloadHistory>;

interface ReloadHistoryDeps {
  readonly store: Pick<Store, 'audit' | 'settings'>;
  readonly loaded: LoadedConfiguration;
  readonly log: Log;
  readonly nowMs: () => number;
}

const hourMs = 3_600_000;

export function createReloadHistory({ store, loaded, log, nowMs }: ReloadHistoryDeps) {
  let refused: RefusedConfiguration | undefined;
  let inForce = loaded;
  /** How often each change was made in this hour. */
  const made = { hour: 0, counts: new Map<string, number>() };
  let recording: Promise<unknown> = Promise.resolve();

  /** Writes an audit entry for a changed file. All nodes read their own copies: the first node writes it. The store's changes have own entries. */
  async function record(from: LoadedConfiguration, next: LoadedConfiguration): Promise<void> {
    const [was, is] = await Promise.all([documentsOf(from), documentsOf(next)]);
    const names = await inBackground.timeSliced(differing(was, is));
    if (names.length === 0) return;
    const [former, latter] = [was, is].map((all) =>
      Object.fromEntries(names.map((name) => [name, all.get(name) ?? null])),
    );
    const digest = createHash('sha256')
      .update(JSON.stringify([former, latter]))
      .digest('hex');
    const hour = Math.floor(nowMs() / hourMs);
    if (made.hour !== hour) made.counts.clear();
    made.hour = hour;
    const count = (made.counts.get(digest) ?? 0) + 1;
    made.counts.set(digest, count);
    if (!(await store.settings.claim(`reload/${digest}/${hour}/${count}`))) return;
    await store.audit.add({
      actor: 'configuration file',
      action: 'configuration.reload',
      subject: next.file ?? 'configuration',
      before: former,
      after: latter,
    });
  }

  return {
    current: () => inForce,
    /** The file that was refused last; undefined where the present file is in force. */
    refused: () => refused,
    /** Called after each reload, with the faults if the file was refused. */
    reloaded(faults: readonly Fault[] | undefined): void {
      const said = faults?.map(({ origin, line, path, message }) => ({
        file: origin ?? loaded.file,
        line,
        message: path === '' ? message : `${path}: ${message}`,
      }));
      if (said === undefined) refused = undefined;
      else if (!isDeepStrictEqual(said, refused?.faults)) refused = { atMs: nowMs(), faults: said };
    },
    swapped(next: LoadedConfiguration): void {
      const from = inForce;
      inForce = next;
      recording = recording
        .then(() => record(from, next))
        .catch((thrown: unknown) => log.warn('configuration reload not audited', { reason: reasonOf(thrown) }));
    },
  };
}

type Documents = ReadonlyMap<string, unknown>;

/** The configuration's elements without secrets, for the audit log. Of keys in the file, only the IDs are listed. */
async function documentsOf(configuration: LoadedConfiguration): Promise<Documents> {
  const declared = await configuration.declared();
  const keys = [...configuration.keyPositions.keys()].map((id) => [`key ${id}`, { id }] as const);
  return new Map([...declared.map(({ kind, id, document }) => [`${kind} ${id}`, document] as const), ...keys]);
}

function* differing(was: Documents, is: Documents): Generator<undefined, string[], undefined> {
  const names: string[] = [];
  for (const name of new Set([...was.keys(), ...is.keys()])) {
    yield;
    if (!isDeepStrictEqual(was.get(name), is.get(name))) names.push(name);
  }
  return names;
}
