/** `postern migrate`: brings the store's tables up to date by hand; `serve` does the same at its start. */

import { loadConfiguration } from '../config/load.ts';
import type { ExitCode } from '../core/exit-code.ts';
import { UserFault } from '../core/user-fault.ts';
import { migrateStore, readMissingMigrations } from '../store/open-store.ts';
import { StoreError } from '../store/store-error.ts';
import { type Command, type CommandContext, configOptions } from './command.ts';
import { printFaults } from './faults.ts';

export const migrate: Command = {
  name: 'migrate',
  summary: "Brings the store's tables up to date.",
  usage: 'migrate [--config F] [--check]',
  options: { ...configOptions, check: { type: 'boolean' } },
  run,
};

async function run(context: CommandContext): Promise<ExitCode> {
  const { values, positionals, cwd, stdout, stderr } = context;
  if (positionals.length > 0) throw new UserFault(`write it as "postern ${migrate.usage}"`);
  const loaded = await loadConfiguration(context);
  if (!loaded.ok) {
    printFaults(loaded, stderr);
    return 1;
  }
  const isCheck = values.check === true;
  const work = isCheck ? readMissingMigrations : migrateStore;
  const names = await work(loaded.snapshot.store, { cwd }).catch((error: unknown) => {
    throw error instanceof StoreError ? new UserFault(error.message) : error;
  });
  for (const name of names) stdout(`${isCheck ? 'missing' : 'ran'}  ${name}`);
  if (names.length === 0) stdout('The store is up to date.');
  return isCheck && names.length > 0 ? 1 : 0;
}
