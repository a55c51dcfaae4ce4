/** Finds the configuration file: the argument, then the environment, then the working directory. */

import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { codeOf } from '../../lib/thrown.ts';
import type { Environment } from './substitute.ts';

const namesHere = ['postern.yaml', 'postern.yml', 'postern.json'];

export interface FoundConfiguration {
  /** Absolute; undefined where there is none, and the embedded configuration holds. */
  readonly file: string | undefined;
  /** Files of the working directory that another one goes before. */
  readonly passedOver: readonly string[];
  /** Where none is: the paths at which one would be found, absolute. */
  readonly awaited: readonly string[];
}

/** A file that is named is not looked for: whether it can be read shows when it is read. */
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

/** A link that leads nowhere counts: somebody means a configuration to be there. */
async function stands(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}
