/** Key records for tests. */

import { noCaps } from '../../../src/core/caps.ts';
import type { KeyRecord } from '../../../src/core/key.ts';
import type { NewKey } from '../../../src/core/store/keys.ts';
import { createSecret, digestOf, hintOf } from '../../../src/lib/secrets/key-secret.ts';

export function toKeyRecord(parts: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: 'key_test',
    managedBy: 'store',
    models: ['*'],
    operations: undefined,
    addresses: undefined,
    project: undefined,
    caps: noCaps,
    metadata: {},
    captureMs: undefined,
    expiresAtMs: undefined,
    revokedAtMs: undefined,
    ...parts,
  };
}

/** A key to store, with a random secret. */
export function newKey(more: Partial<NewKey> = {}): NewKey {
  const secret = createSecret();
  return { name: 'test', digest: digestOf(secret), hint: hintOf(secret), models: ['*'], ...more };
}
