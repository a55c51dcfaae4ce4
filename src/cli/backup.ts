/** `postern backup`: copies the store to a file, even while a gateway uses it. */

import { loadConfiguration } from '../config/load.ts';
import type { ExitCode } from '../core/exit-code.ts';
import { UserFault } from '../core/user-fault.ts';
import { backupStore } from '../store/backup.ts';
import { type Command, type CommandContext, configOptions } from './command.ts';
import { faultless } from './faults.ts';
import { words } from './words.ts';

export const backup: Command = {
  ...words.backup,
  options: configOptions,
  run,
};

async function run(context: CommandContext): Promise<ExitCode> {
  const { positionals, cwd, stdout } = context;
  const [target, ...more] = positionals;
  if (target === undefined || target === '' || more.length > 0) {
    throw new UserFault(`write it as "postern ${backup.usage}"`);
  }
  const loaded = faultless(await loadConfiguration(context));
  const { file, bytes } = backupStore(loaded.snapshot.store, target, { cwd });
  stdout(`The store is copied to ${file} (${bytes} bytes).`);
  return 0;
}
