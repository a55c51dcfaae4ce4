/** `postern backup`: copies the store to a file, even while a gateway uses it. */

import { loadConfiguration } from '../config/load.ts';
import { type ExitCode, UserFault } from '../core/user-fault.ts';
import { backupStore } from '../store/backup.ts';
import { type CommandContext, commandOf, configUsage } from './command.ts';
import { faultless } from './output.ts';

export const backup = commandOf('backup', configUsage, run);

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
