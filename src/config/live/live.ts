/** Keeps the running configuration current: watches its files and the store, and applies each change completely or not at all. */

import { stat } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import type { Log } from '../../core/log.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { Resource } from '../../core/store/resources.ts';
import type { Change, ChangeFeed, Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { beforeDeadline } from '../../lib/deadline.ts';
import { repeat } from '../../lib/repeat.ts';
import { codeOf, reasonOf } from '../../lib/thrown.ts';
import { inBackground } from '../../lib/time-slices.ts';
import { isRestart, type Restart } from '../elements/fields.ts';
import { settingsSchema } from '../elements/schema.ts';
import { settingsIn } from '../elements/schema-lookup.ts';
import type { FaultyConfiguration, LoadedConfiguration } from '../load.ts';
import type { Fault } from '../read/faults.ts';

export interface ChangeWatchOptions {
  readonly changes: ChangeFeed;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The last change that is known already. */
  readonly from: Change | undefined;
  readonly intervalMs: number;
  /** After this time of one query the store counts as unreachable. */
  readonly timeoutMs?: number;
  /** Called with new changes; with undefined where some were lost, so that anything may have changed. */
  readonly onChanges: (changes: readonly Change[] | undefined) => void;
  /** Called with the monotonic time up to which all changes are known to be reported. */
  readonly onConfirmed: (atMs: number) => void;
  /** Called at the beginning and at the end of each outage of the store. */
  readonly onOutage: (state: 'begins' | 'ends', cause?: unknown) => void;
}

const readTimeoutMs = 2_000;

/** Watches the store for changes by polling and by notifications, and reports them in order and without gaps. */
export function watchChanges({
  changes,
  clock,
  from,
  intervalMs,
  timeoutMs = readTimeoutMs,
  onChanges,
  onConfirmed,
  onOutage,
}: ChangeWatchOptions) {
  let last = from;
  let isOut = false;
  let stopped = false;
  /** The number of the current query; results of earlier ones, which are overdue, are ignored. */
  let turn = 0;
  const tooLate = (): Error => new Error(`The store did not answer within ${timeoutMs} ms.`);

  async function look(): Promise<void> {
    const askedAtMs = clock.monotonicMs();
    turn += 1;
    try {
      await beforeDeadline(readOn(turn), timeoutMs, tooLate);
    } catch (cause) {
      turn += 1;
      if (!isOut && !stopped) onOutage('begins', cause);
      isOut = true;
      return;
    }
    if (stopped) return;
    if (isOut) onOutage('ends');
    isOut = false;
    onConfirmed(askedAtMs);
  }

  async function readOn(mine: number): Promise<void> {
    for (;;) {
      const found = await changes.since(last);
      const newest = found === undefined ? await changes.latest() : found.at(-1);
      if (stopped || mine !== turn || found?.length === 0) return;
      last = newest;
      onChanges(found);
    }
  }

  const looking = repeat(look, intervalMs, 0);
  const listening = changes.listen(looking.now);
  return {
    async close() {
      stopped = true;
      await Promise.all([listening.close(), looking.close()]);
    },
  };
}

export interface WatchOptions {
  /** The files to watch, asked for at every poll because a reload may name other files. */
  readonly files: () => readonly string[];
  /** When the files were read, or earlier: one that changed after this time is reported even if it is new to the watcher. */
  readonly readAtMs: () => number;
  readonly intervalMs: number;
  readonly onChange: () => void;
}

/** Watches files. A change is reported once two polls in a row see the same, so that no file is read half-written. */
export function watchConfiguration({ files, readAtMs, intervalMs, onChange }: WatchOptions) {
  const sights = new Map<string, { reported: string; last: string }>();
  let stopped = false;

  async function look(): Promise<void> {
    const paths = new Set(files());
    const stamps = await Promise.all([...paths].map(async (path) => [path, await stampOf(path)] as const));
    if (stopped) return;
    for (const path of sights.keys()) if (!paths.has(path)) sights.delete(path);
    let changed = false;
    let settled = true;
    for (const [path, { stamp, changedAtMs }] of stamps) {
      const sight = sights.get(path);
      if (sight === undefined) {
        sights.set(path, { reported: changedAtMs > readAtMs() ? '' : stamp, last: stamp });
        continue;
      }
      changed ||= stamp !== sight.reported;
      settled &&= stamp === sight.last;
      sight.last = stamp;
    }
    if (changed && settled) report();
  }

  function report(): void {
    for (const sight of sights.values()) sight.reported = sight.last;
    onChange();
  }

  const looking = repeat(look, intervalMs, 0);
  return {
    /** Reports a change at once, real or not, for the signal SIGHUP. */
    check: report,
    stop() {
      stopped = true;
      void looking.close();
    },
  };
}

/** What identifies a file's content. A missing file has a stamp too, because its deletion is a change. */
async function stampOf(path: string): Promise<{ readonly stamp: string; readonly changedAtMs: number }> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return { stamp: `${mtimeMs} ${size} ${ino}`, changedAtMs: ctimeMs };
  } catch (error) {
    return { stamp: codeOf(error) ?? 'unreadable', changedAtMs: 0 };
  }
}

export interface ConfigurationFeedOptions {
  readonly store: Pick<Store, 'changes' | 'resources'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
  readonly running: RunningConfiguration;
  /** Reads the file again, and combines it with these resources of the store. */
  readonly load: (resources: readonly Resource[]) => Promise<LoadedConfiguration | FaultyConfiguration>;
  /** Puts a configuration in force, or returns why that is impossible. */
  readonly swap: (next: LoadedConfiguration) => readonly string[] | Promise<readonly string[]>;
  readonly keys: KeyListener;
  /** Called with the names of settings that changed in the store; with undefined where any may have changed. */
  readonly onSettings?: (names: readonly string[] | undefined) => void;
  /** Called after each reload with its faults, or with undefined where the new configuration is in force. */
  readonly onReload?: (faults: readonly Fault[] | undefined) => void;
  readonly fileIntervalMs?: number;
  readonly storeIntervalMs?: number;
}

export interface RunningConfiguration {
  readonly loaded: LoadedConfiguration;
  readonly resources: readonly Resource[];
  /** The store's last change when the resources were read, or an earlier change. */
  readonly lastChange: Change | undefined;
}

/** A cache of the store's keys, which must be notified of changes. */
interface KeyListener {
  changed(ids?: Iterable<string>): void;
  confirmed(atMs: number): void;
}

export type ConfigurationFeed = ReturnType<typeof createConfigurationFeed>;

const standardIntervalMs = 500;
/** Pause after a reload before the next one, as a multiple of the time that it took. */
const pausedFor = 4;
const longestPauseMs = 1_000;

export function createConfigurationFeed({
  store,
  clock,
  log,
  running,
  load,
  swap,
  keys,
  onSettings = () => undefined,
  onReload = () => undefined,
  fileIntervalMs = standardIntervalMs,
  storeIntervalMs = standardIntervalMs,
}: ConfigurationFeedOptions) {
  let { files, readAtMs } = running.loaded;
  let { resources, lastChange } = running;
  let isBehind = false;
  let isReadFailing = false;
  let isQueued = false;
  let isClosed = false;
  const closing = new AbortController();
  let [reloadedAtMs, reloadMs] = [0, 0];
  // Reloads run one after another, so that the last requested one is in force in the end.
  let reloading = Promise.resolve();

  function reload(): void {
    if (isQueued) return;
    isQueued = true;
    reloading = reloading
      .then(pause)
      .then(reloadNow)
      .catch((error: unknown) => {
        log.error('configuration not reloaded', { why: reasonOf(error) });
        onReload([{ path: '', message: reasonOf(error) }]);
      });
  }

  /** Waits before a reload, so that many changes in a row are applied together and most of the time is left for requests. */
  async function pause(): Promise<void> {
    const ms = Math.min(longestPauseMs, pausedFor * reloadMs - (performance.now() - reloadedAtMs));
    if (ms > 0) await wait(ms, undefined, { signal: closing.signal }).catch(() => undefined);
  }

  async function reloadNow(): Promise<void> {
    const startedMs = performance.now();
    await reloadOnce().finally(() => {
      reloadedAtMs = performance.now();
      reloadMs = reloadedAtMs - startedMs;
    });
  }

  async function reloadOnce(): Promise<void> {
    isQueued = false;
    if (isClosed || !(await catchUp())) return;
    const next = await load(resources);
    if (isClosed) return;
    // Also for a configuration that is refused: a change of a file that only it names may fix it.
    ({ readAtMs } = next);
    files = [...new Set([...files, ...next.files])];
    if (!next.ok) {
      log.error('configuration not reloaded', { faults: next.faults });
      onReload(next.faults);
      return;
    }
    const reasons = await swap(next);
    if (reasons.length > 0) {
      log.error('configuration not reloaded: restart required', { settings: reasons });
      onReload([{ path: '', message: `restart to change these settings: ${reasons.join(', ')}` }]);
      return;
    }
    ({ files } = next);
    log.info('configuration reloaded', { models: next.snapshot.models.all.length, revision: revisionOf(lastChange) });
    for (const warning of next.warnings) {
      log.warn('configuration warning', { warning });
      await inBackground.sliceIfOver();
    }
    onReload(undefined);
  }

  /** Reads the store's changes; false where it is unreachable, in which case all is repeated once it answers. */
  async function catchUp(): Promise<boolean> {
    if (!isBehind) return true;
    isBehind = false;
    try {
      const readAt = await store.changes.latest();
      resources = await store.resources.list();
      lastChange = readAt;
      isReadFailing = false;
      return true;
    } catch (error) {
      isBehind = true;
      if (!isReadFailing) log.error('stored configuration unreadable', { why: reasonOf(error) });
      isReadFailing = true;
      return false;
    }
  }

  const fileWatch = watchConfiguration({
    files: () => files,
    readAtMs: () => readAtMs,
    intervalMs: fileIntervalMs,
    onChange: reload,
  });
  const changeWatch = watchChanges({
    changes: store.changes,
    clock,
    from: lastChange,
    intervalMs: storeIntervalMs,
    onChanges(changes) {
      if (changes === undefined) {
        keys.changed();
        onSettings(undefined);
      } else {
        const changed = changes.flatMap(({ kind, id }) => (kind === 'key' ? [id] : []));
        if (changed.length > 0) keys.changed(changed);
        const settings = changes.flatMap(({ kind, id }) => (kind === 'setting' ? [id] : []));
        if (settings.length > 0) onSettings(settings);
      }
      if (changes?.every(({ kind }) => kind !== 'resource')) return;
      isBehind = true;
      reload();
    },
    onConfirmed(atMs) {
      keys.confirmed(atMs);
      if (isBehind) reload();
    },
    onOutage(state, cause) {
      if (state === 'ends') log.info('store reachable again for configuration');
      else log.warn('store unreachable for configuration', { why: reasonOf(cause) });
    },
  });

  return {
    /** Reads the file again immediately, changed or not, for the signal SIGHUP. */
    check: () => fileWatch.check(),
    /** The number of the store's last change that was read. */
    get revision() {
      return revisionOf(lastChange);
    },
    async close() {
      isClosed = true;
      closing.abort();
      fileWatch.stop();
      await changeWatch.close();
      await reloading;
    },
  };
}

const revisionOf = (change: Change | undefined): number => change?.sequence ?? 0;

const lasting: readonly { readonly name: string; readonly read: Restart['read'] }[] = [
  ...settingsIn(settingsSchema),
].flatMap(({ path, schema }) => {
  const restart = schema instanceof z.ZodType ? schema.meta()?.restart : undefined;
  return isRestart(restart) ? [{ name: path.join('.'), read: restart.read }] : [];
});

export function needsRestart(running: Snapshot, next: Snapshot): string[] {
  return lasting.flatMap(({ name, read }) => (read(running) === read(next) ? [] : [name]));
}
