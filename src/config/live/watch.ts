/** Detects file changes by polling, which works with renames, links and network mounts. */

import { stat } from 'node:fs/promises';
import { repeat } from '../../lib/repeat.ts';
import { codeOf } from '../../lib/thrown.ts';

export interface WatchOptions {
  /** Called at every poll: a reload may name other files. */
  readonly files: () => readonly string[];
  /** When they were read, or earlier: a file that changed after it is reported, although it is seen for the first time. */
  readonly readAtMs: () => number;
  readonly intervalMs: number;
  readonly onChange: () => void;
}

/** A change is reported once two polls in a row agree, so that no file is read half-written. */
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
    /** Reports at once, changed or not, for SIGHUP. */
    check: report,
    stop() {
      stopped = true;
      void looking.close();
    },
  };
}

/** A missing file has a stamp too: its deletion is a change. */
async function stampOf(path: string): Promise<{ readonly stamp: string; readonly changedAtMs: number }> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return { stamp: `${mtimeMs} ${size} ${ino}`, changedAtMs: ctimeMs };
  } catch (error) {
    return { stamp: codeOf(error) ?? 'unreadable', changedAtMs: 0 };
  }
}
