/** Finds the configuration file: by the argument, else by the environment, else in the working directory. */

import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { codeOf } from '../../lib/thrown.ts';
import type { Environment } from './substitute.ts';

const namesHere = ['postern.yaml', 'postern.yml', 'postern.json'];

export interface FoundConfiguration {
  /** The absolute path; undefined where there is no file and the embedded configuration applies. */
  readonly file: string | undefined;
  /** Configuration files in the working directory that are not used, because another one comes first. */
  readonly passedOver: readonly string[];
  /** Where no file was found, the absolute paths at which one would be found later. */
  readonly awaited: readonly string[];
}

/** Finds the file. One that is named explicitly is not looked for: reading it shows whether it exists. */
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

/** Whether something is at a path. A broken link counts, because a configuration is meant to be there. */
async function stands(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}
