/** Finds the configuration file: the argument, then the environment, then the working directory. */

import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { codeOf } from '../../lib/thrown.ts';
import type { Environment } from './substitute.ts';

const namesHere = ['postern.yaml', 'postern.yml', 'postern.json'];

export interface FoundConfiguration {
  /** Absolute; undefined where there is none, and the embedded configuration applies. */
  readonly file: string | undefined;
  /** Files of the working directory that another one overrides. */
  readonly passedOver: readonly string[];
  /** Where there is none: the absolute paths at which one would be found. */
  readonly awaited: readonly string[];
}

/** A named file is not searched for: reading it shows whether it exists. */
export async function findConfiguration(options: {
  readonly configPath?: string | undefined;
  readonly env: Environment;
  readonly cwd: string;
}): Promise<FoundConfiguration> {
  const named = options.configPath ?? (options.env.POSTERN_CONFIG || undefined);
  if (named !== undefined) return { file: resolve(options.cwd, named), passedOver: [], awaited: [] };
  const here: string[] = [];
  for (const name of namesHere) {
    if (await stands(join(options.cwd, name))) here.push(name);
  }
  const [first, ...passedOver] = here;
  if (first !== undefined) return { file: join(options.cwd, first), passedOver, awaited: [] };
  return { file: undefined, passedOver, awaited: namesHere.map((name) => join(options.cwd, name)) };
}

/** A dangling link counts: a configuration is meant to be there. */
async function stands(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}
