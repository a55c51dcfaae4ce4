/** Defines the surroundings of a command: arguments, environment variables and output streams. The command line fills them in. */

import type { Family } from '../core/family.ts';
import type { TakenPath } from '../core/paths.ts';

export interface Surroundings {
  readonly configPath: string | undefined;
  /** Settings given on the command line, such as `server.port=8080`. */
  readonly set?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly families: readonly Family[];
  /** Loads the paths in use, which custom routes must not take. */
  readonly loadTakenPaths?: (() => Promise<readonly TakenPath[]>) | undefined;
  /** `stdout` and `stderr` each write one line, with the line end added. */
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
  /** Writes one line to the terminal; undefined where neither output is a terminal. */
  readonly terminal?: ((line: string) => void) | undefined;
}
