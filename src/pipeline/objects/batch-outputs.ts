/** The files that a batch ends in: whoever made it has made them. */

import { isStoredId, type StoredObject } from '../../core/store/stored-objects.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ObjectRegistry } from './object-registry.ts';
import type { Said } from './object-service.ts';

const fields = ['output_file_id', 'error_file_id'] as const;

/** Their IDs, as far as there are any yet. */
export function outputsIn(said: Said): string[] {
  return fields.flatMap((field) => {
    const id = said[field];
    return typeof id === 'string' && isStoredId(id) ? [id] : [];
  });
}

type Whose = Pick<StoredObject, 'owner' | 'upstream' | 'credential' | 'model'>;

/** Before anybody is told of them. */
export async function recordOutputs(
  said: Said,
  { owner, upstream, credential, model }: Whose,
  objects: Pick<ObjectRegistry, 'record'>,
  clock: Pick<Clock, 'nowMs'>,
): Promise<readonly string[]> {
  const ids = outputsIn(said);
  const createdAtMs = clock.nowMs();
  await objects.record(ids.map((id) => ({ kind: 'file', id, owner, upstream, credential, model, createdAtMs })));
  return ids;
}
