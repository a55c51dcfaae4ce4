/** What became of changes of the configuration file: how the file is refused as it is now, and an entry of the audit log for each change in force. */

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { RefusedConfiguration } from '../admin/context.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Fault } from '../config/read/faults.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../core/store/store.ts';
import { reasonOf } from '../lib/thrown.ts';

export interface ReloadHistory {
  /** Undefined where the file is in force as it is. */
  refused(): RefusedConfiguration | undefined;
  /** With its faults, where it was refused. */
  reloaded(faults: readonly Fault[] | undefined): void;
  /** In place of the one before. */
  swapped(next: LoadedConfiguration): void;
}

interface ReloadHistoryDeps {
  readonly store: Pick<Store, 'audit' | 'settings'>;
  readonly loaded: LoadedConfiguration;
  readonly log: Log;
  readonly nowMs: () => number;
}

const hourMs = 3_600_000;

export function createReloadHistory({ store, loaded, log, nowMs }: ReloadHistoryDeps): ReloadHistory {
  let refused: RefusedConfiguration | undefined;
  let before = documentsOf(loaded);
  let recording: Promise<unknown> = Promise.resolve();

  /** Every node reads its own copy of the file: the first one writes it down. */
  async function record(from: Promise<Documents>, next: LoadedConfiguration): Promise<void> {
    const [was, is] = await Promise.all([from, documentsOf(next)]);
    const names = [...new Set([...was.keys(), ...is.keys()])].filter(
      (name) => !isDeepStrictEqual(was.get(name), is.get(name)),
    );
    if (names.length === 0) return;
    const [former, latter] = [was, is].map((all) =>
      Object.fromEntries(names.map((name) => [name, all.get(name) ?? null])),
    );
    const digest = createHash('sha256')
      .update(JSON.stringify([former, latter]))
      .digest('hex');
    if (!(await store.settings.claim(`reload/${digest}/${Math.floor(nowMs() / hourMs)}`))) return;
    await store.audit.add({
      actor: 'configuration file',
      action: 'configuration.reload',
      subject: next.file ?? 'configuration',
      before: former,
      after: latter,
    });
  }

  return {
    refused: () => refused,
    reloaded(faults) {
      const said = faults?.map(({ place, line, path, message }) => ({
        file: place ?? loaded.file,
        line,
        message: path === '' ? message : `${path}: ${message}`,
      }));
      if (said === undefined) refused = undefined;
      else if (!isDeepStrictEqual(said, refused?.faults)) refused = { atMs: nowMs(), faults: said };
    },
    swapped(next) {
      const from = before;
      before = documentsOf(next);
      recording = recording
        .then(() => record(from, next))
        .catch((thrown: unknown) => log.warn('reload not in the audit log', { reason: reasonOf(thrown) }));
    },
  };
}

type Documents = ReadonlyMap<string, unknown>;

/** Without secrets. Of keys, whose secrets stand in the file, it is said which there are. */
async function documentsOf(loaded: LoadedConfiguration): Promise<Documents> {
  const declared = await loaded.declared();
  const keys = [...loaded.keyPlaces.keys()].map((id) => [`key ${id}`, { id }] as const);
  return new Map([...declared.map(({ kind, id, document }) => [`${kind} ${id}`, document] as const), ...keys]);
}
