/** Creates a directory with its missing parents. */

import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './thrown.ts';

/** Creates the directories one by one, as Node's `recursive` loops forever where a file system takes no directories, such as /proc. */
export function makeDirectory(path: string, mode: number): void {
  if (isDirectory(path)) return;
  const above = dirname(path);
  if (above !== path) makeDirectory(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (thrown) {
    // Another process may have been first.
    if (codeOf(thrown) !== 'EEXIST' || !isDirectory(path)) throw thrown;
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
