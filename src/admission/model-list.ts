/** The models as the caller of `GET /v1/models` may see them. */

import { GatewayError } from '../core/errors.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Model, Snapshot } from '../core/snapshot.ts';
import { mayUseModel } from './access.ts';

export function listModels(snapshot: Snapshot, key: KeyRecord): unknown {
  const data = snapshot.models.all
    .filter((model) => model.visible && !model.id.includes('*') && maySee(key, model, model.id))
    .map((model) => describe(snapshot, model, model.id));
  return { object: 'list', data };
}

export function findModel(snapshot: Snapshot, key: KeyRecord, name: string): unknown {
  const resolved = snapshot.models.resolve(name);
  if (resolved === undefined || !resolved.model.visible || !maySee(key, resolved.model, resolved.id)) {
    throw new GatewayError('model_not_found', { param: 'model' });
  }
  return describe(snapshot, resolved.model, resolved.id);
}

/** What the key can call in at least one way. */
function maySee(key: KeyRecord, model: Model, id: string): boolean {
  const { operations } = key;
  return mayUseModel(key, id) && (operations === undefined || model.operations.some((one) => operations.includes(one)));
}

function describe(snapshot: Snapshot, model: Model, id: string): unknown {
  return { id, object: 'model', created: snapshot.createdAtS, owned_by: 'postern', operations: model.operations };
}
