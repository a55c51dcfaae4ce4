/** Runs commands like `bin/postern` without a process for each, because there are hundreds. */

import { parseArgs } from 'node:util';
import { backup } from '../../../src/cli/backup.ts';
import { check } from '../../../src/cli/check/check.ts';
import { type Command, toConfigSources } from '../../../src/cli/command.ts';
import { init } from '../../../src/cli/init/init.ts';
import { keys } from '../../../src/cli/keys/keys.ts';
import { ledger } from '../../../src/cli/ledger/ledger.ts';
import { usage } from '../../../src/cli/ledger/usage.ts';
import { migrate } from '../../../src/cli/migrate.ts';
import { models } from '../../../src/cli/models.ts';
import { openapi } from '../../../src/cli/openapi.ts';
import { FaultsFound, printFaults } from '../../../src/cli/output.ts';
import { resources } from '../../../src/cli/resources/resources.ts';
import { secrets } from '../../../src/cli/resources/secrets.ts';
import { UserFault } from '../../../src/core/user-fault.ts';
import { families } from '../../../src/families/index.ts';
import { traceOf } from '../../../src/lib/thrown.ts';

const commands: readonly Command[] = [
  ...[backup, check, init, keys, ledger, migrate, models, openapi, resources, secrets, usage],
];

interface CommandEnd {
  readonly code: number;
  /** Of standard output. */
  readonly output: string;
  readonly errors: string;
}

export interface CommandSurroundings {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export type CommandLine = (...args: string[]) => Promise<CommandEnd>;

export function createCommandLine({ cwd, env = {} }: CommandSurroundings): CommandLine {
  return async (name = '', ...args) => {
    const command = commands.find((one) => one.name === name);
    if (command === undefined) throw new Error(`there is no command ${name}`);
    const output: string[] = [];
    const errors: string[] = [];
    const run = async (): Promise<number> => {
      try {
        const parsed = parseArgs({ args, options: command.options, allowPositionals: true });
        return await command.run({
          ...parsed,
          ...{ ...toConfigSources(parsed.values), env, cwd, families },
          stdout: (line) => output.push(line),
          stderr: (line) => errors.push(line),
        });
      } catch (error) {
        if (error instanceof FaultsFound) {
          printFaults(error, (line) => errors.push(line));
          return 1;
        }
        const isTheirs = error instanceof UserFault || (error instanceof TypeError && 'code' in error);
        errors.push(`postern: ${isTheirs ? error.message : traceOf(error)}`);
        return isTheirs ? 1 : 2;
      }
    };
    const code = await run();
    return { code, output: output.join('\n'), errors: errors.join('\n') };
  };
}
