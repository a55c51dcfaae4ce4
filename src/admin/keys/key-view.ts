/** Converts keys of the store and of the file to the form that the admin API shows. */

import type * as z from 'zod';
import { type KeyRecord, type KeyTerms, keyStateOf } from '../../core/key.ts';
import type { StoredKey } from '../../core/store/keys.ts';
import type { AdminContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { toInstant, toShown } from '../shapes/common.ts';
import type { key as keyShape } from './contract/keys.ts';
import { toBudgetStates } from './spending.ts';

export type AnyKey = StoredKey | KeyRecord;

export const isStored = (key: AnyKey): key is StoredKey => key.managedBy === 'store';

/** All keys: those of the file in its order, then those of the store, the newest first. */
export async function listKeys({ store, configuration }: AdminContext): Promise<AnyKey[]> {
  const stored = await store.keys.list();
  stored.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1));
  return [...configuration.snapshot().keys.values(), ...stored];
}

export async function findKey(id: string, { store, configuration }: AdminContext): Promise<AnyKey> {
  const { keys } = configuration.snapshot();
  const key = (await store.keys.get(id)) ?? keys.values().find((one) => one.id === id);
  if (key === undefined) throw unknownKey();
  return key;
}

/** The stored key with this ID; throws where it does not exist, or is declared in the file and so cannot be changed here. */
export async function findStoredKey(id: string, context: AdminContext): Promise<StoredKey> {
  const key = await findKey(id, context);
  if (isStored(key)) return key;
  const position = context.keyTerms.positionOf(id);
  const where = position === undefined ? 'the configuration file' : `${position.file}, line ${position.line}`;
  throw new Problem('managed_by_file', {
    detail: `The key ${id} is declared in ${where}; change it there, and it is in force at once.`,
  });
}

/** The error for an unknown key. It never repeats what was sent, which may be a secret. */
export function unknownKey(): Problem {
  return new Problem('not_found', { detail: 'There is no key with this ID; look at the list of keys.' });
}

export async function toKey(key: AnyKey, context: AdminContext): Promise<z.input<typeof keyShape>> {
  const nowMs = context.clock.nowMs();
  const stored = isStored(key) ? key : undefined;
  const { hint, version, createdAtMs, oldSecretUntilMs: oldUntilMs = 0 } = stored ?? {};
  const { revokedAtMs } = key;
  const isOldOver = oldUntilMs <= nowMs || revokedAtMs !== undefined;
  const position = context.keyTerms.positionOf(key.id);
  return {
    id: key.id,
    managedBy: key.managedBy,
    place: stored === undefined ? (position ?? null) : null,
    state: keyStateOf(key, nowMs),
    ...toShown({ hint, version, createdAtMs, revokedAtMs, oldSecretUntilMs: isOldOver ? undefined : oldUntilMs }),
    document: toDocument(key, context),
    budgets: await toBudgetStates({ kind: 'key', id: key.id, caps: key.caps }, context),
  };
}

/** The settings of a key as in the configuration file, without unset fields. */
export function toDocument(
  key: KeyTerms & { readonly name?: string },
  { keyTerms }: AdminContext,
): z.input<typeof keyShape>['document'] {
  return {
    ...(key.name && { name: key.name }),
    ...(key.expiresAtMs !== undefined && { expires: toInstant(key.expiresAtMs) }),
    ...keyTerms.describe(key),
  };
}
