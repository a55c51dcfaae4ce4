/** Environment of the process: arguments, variables and output streams. The command line fills it. */

import type { Family } from '../core/family.ts';
import type { TakenPath } from '../core/paths.ts';

export interface Surroundings {
  /** The file named on the command line. */
  readonly configPath: string | undefined;
  /** Settings of the command line, such as `server.port=8080`. */
  readonly set?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly families: readonly Family[];
  /** Loads the paths in use, for custom routes. */
  readonly loadTakenPaths?: (() => Promise<readonly TakenPath[]>) | undefined;
  /** Each writes one line; the line end is added. */
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
  /** The same for a terminal; undefined where neither output is one. */
  readonly terminal?: ((line: string) => void) | undefined;
}
