/** Detects changed files by polling, which also works with renames, links and network mounts. */

import { stat } from 'node:fs/promises';
import { repeat } from '../../lib/repeat.ts';
import { codeOf } from '../../lib/thrown.ts';

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
