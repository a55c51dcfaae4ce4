/** `postern migrate`: runs the store's migrations; `serve` does the same when it starts. */

import { join, resolve } from 'node:path';
import { loadConfiguration } from '../config/load.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { type ExitCode, UserFault } from '../core/user-fault.ts';
import { firstSlot, lockName } from '../journal/journal-slot.ts';
import { readWaitingRows } from '../journal/waiting.ts';
import { passedOver } from '../store/migrations.ts';
import { migrateStore, openStore, readMissingMigrations, storeExists } from '../store/open-store.ts';
import { lockFile } from '../store/sqlite/sqlite-file.ts';
import { type CommandContext, commandOf, configUsage } from './command.ts';
import { faultless } from './output.ts';

export const migrate = commandOf('migrate', `${configUsage} --check --back-to VERSION`, run);

async function run(context: CommandContext): Promise<ExitCode> {
  const { values, cwd, stdout } = context;
  const loaded = faultless(await loadConfiguration(context));
  const { store } = loaded.snapshot;
  const backTo = typeof values['back-to'] === 'string' ? values['back-to'] : undefined;
  const isCheck = values.check === true;
  if (backTo !== undefined && isCheck) throw new UserFault('--check and --back-to exclude each other');
  if (backTo !== undefined && !storeExists(store, { cwd }))
    throw new UserFault('--back-to: there is no store to go back from');
  if (backTo !== undefined) await refuseWhileRowsWait(loaded.snapshot, context);
  const names = isCheck ? await readMissingMigrations(store, { cwd }) : await migrateStore(store, { cwd }, backTo);
  for (const name of names) stdout(`${isCheck ? 'missing' : backTo !== undefined ? 'set aside' : 'ran'}  ${name}`);
  if (backTo !== undefined) {
    stdout(`${backTo} runs on this store. The next start of this version restores what is set aside.`);
    return 0;
  }
  if (names.length === 0) stdout('The store is up to date.');
  else if (isCheck && names.every((name) => passedOver.has(name))) {
    stdout('The previous version can still run on this store, and --back-to returns to it.');
  }
  return isCheck && names.length > 0 ? 1 : 0;
}

/** Refuses to go back to an older version, which cannot read these journals, while they have rows that no running process will import. */
async function refuseWhileRowsWait({ store: url, ledger }: Snapshot, { cwd }: CommandContext): Promise<void> {
  if ((await readMissingMigrations(url, { cwd })).length > 0) return;
  const directory = resolve(cwd, ledger.directory);
  const store = await openStore(url, { cwd });
  try {
    for (const { slot, rows } of await readWaitingRows(directory, store)) {
      const lock = slot < firstSlot ? undefined : lockFile(join(directory, String(slot), lockName));
      if (lock === undefined) continue;
      lock.release();
      throw new UserFault(
        `In directory ${slot} of the journal, ${rows} rows or unfinished requests are not in the store yet, and an older version cannot read them; start this version once, stop it with SIGTERM, and try again`,
      );
    }
  } finally {
    await store.close();
  }
}
