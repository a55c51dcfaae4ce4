/** What `resources apply` does with keys. */

import { describeKeyTerms, toChange } from '../../config/elements/key/terms.ts';
import { differencesOf } from '../../config/store/resource-changes.ts';
import type { KeyToPut } from '../../config/store/resource-keys.ts';
import type { KeyTerms } from '../../core/key.ts';
import type { KeyStore, StoredKey } from '../../core/store/keys.ts';
import { systemClock } from '../../lib/clock.ts';
import { actor, refuseConflict, type Step } from './step.ts';

export function keyStep(key: KeyToPut, overlapMs: number, store: KeyStore): Step {
  const { id, name, terms, secret, before, isSecretNew } = key;
  const named = { kind: 'key', id } as const;
  if (before === undefined) {
    return {
      ...named,
      outcome: 'created',
      version: undefined,
      differences: [],
      carryOut: async () => secret && (await store.create({ id, name, ...terms, ...secret }, actor)).version,
    };
  }
  const differences = differencesOf(
    inWords(before.name, before, isSecretNew ? '(former)' : ''),
    inWords(name, terms, ''),
  );
  return {
    ...named,
    outcome: differences.length === 0 ? 'unchanged' : 'changed',
    version: before.version,
    differences,
    async carryOut() {
      if (differences.length === 0) return before.version;
      const change = { name, ...toChange(terms, () => true) };
      const changed = await store.changeVersion(id, before.version, change, actor);
      if (changed === 'conflict' || changed === undefined) return refuseConflict(named);
      if (!isSecretNew || secret === undefined) return changed.version;
      const rotated = await store.rotate(id, secret, systemClock.nowMs() + overlapMs, actor);
      return (rotated ?? refuseConflict(named)).version;
    },
  };
}

/** A secret is shown by nothing but that it is another one. */
function inWords(name: string, terms: KeyTerms, secret: string) {
  const expires = terms.expiresAtMs === undefined ? undefined : new Date(terms.expiresAtMs).toISOString();
  const document = { name, ...describeKeyTerms(terms), expires };
  return { real: { ...document, secret }, shown: { ...document, secret: '(sealed)' } };
}

export function revokeStep({ id, version }: StoredKey, store: KeyStore): Step {
  return {
    kind: 'key',
    id,
    outcome: 'revoked',
    version,
    differences: [],
    async carryOut() {
      await store.revoke(id, actor);
      return undefined;
    },
  };
}
