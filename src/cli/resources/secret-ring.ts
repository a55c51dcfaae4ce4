/** Reads the key that seals secrets in the store, for commands. */

import { readKeyRing } from '../../config/store/secret-key.ts';
import { UserFault } from '../../core/user-fault.ts';
import { type KeyRing, SecretKeyError } from '../../lib/secrets/sealed.ts';
import type { OpenResources } from '../../serve/configuration.ts';
import type { CommandContext } from '../command.ts';

/** Undefined where there is none. */
export async function readRing(
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
  { whole }: Pick<OpenResources, 'whole'>,
): Promise<KeyRing | undefined> {
  try {
    return await readKeyRing({ env, cwd, store: whole.ok ? whole.snapshot.store : whole.store });
  } catch (error) {
    throw error instanceof SecretKeyError ? new UserFault(error.message) : error;
  }
}
