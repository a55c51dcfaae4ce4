/** The models as the caller of `GET /v1/models` may see them. */

import { GatewayError } from '../core/errors.ts';
import type { KeyRecord } from '../core/key.ts';
import { type Operation, operationRows } from '../core/operations/index.ts';
import type { Model, ResolvedModel, Snapshot } from '../core/snapshot.ts';
import { mayUseModel } from './access.ts';
import { pricingOf } from './told-prices.ts';

/** A model that the store does not keep is as old as the installation. */
export function listModels(snapshot: Snapshot, key: KeyRecord, installedAtS: number): unknown {
  const listed = seenBy(snapshot, key);
  return {
    object: 'list',
    data: listed.map((model) => describe(snapshot, model, model.id, installedAtS)),
    models: listed.map((model) => asCohere(model, model.id)),
  };
}

export function findModel(snapshot: Snapshot, key: KeyRecord, name: string, installedAtS: number): unknown {
  const resolved = findSeen(snapshot.models.resolve(name), key);
  return describe(snapshot, resolved.model, resolved.id, installedAtS);
}

/** The models that a list may show to whoever has the key; patterns are none. */
export function seenBy(snapshot: Snapshot, key: KeyRecord): readonly Model[] {
  return snapshot.models.all.filter(
    (model) => model.visible && !model.id.includes('*') && maySee(key, model, model.id),
  );
}

/** Throws where it is none, or none for the eyes of whoever has the key. */
export function findSeen(resolved: ResolvedModel | undefined, key: KeyRecord): ResolvedModel {
  if (resolved === undefined || !resolved.model.visible || !maySee(key, resolved.model, resolved.id)) {
    throw new GatewayError('model_not_found', { param: 'model' });
  }
  return resolved;
}

/** What the key can call in at least one way. */
function maySee(key: KeyRecord, model: Model, id: string): boolean {
  const { operations } = key;
  return mayUseModel(key, id) && (operations === undefined || model.operations.some((one) => operations.includes(one)));
}

/** OpenAI's members first; then what the clients of Mistral and Cohere look for in the same place. */
function describe(snapshot: Snapshot, model: Model, id: string, installedAtS: number): unknown {
  const { createdAtS = installedAtS, operations, context, maxOutput, dimensions } = model;
  const isOpen = snapshot.server.diagnostics;
  const space = isOpen ? spaceOf(model) : undefined;
  const pricing = isOpen ? pricingOf(model) : undefined;
  return {
    id,
    object: 'model',
    created: createdAtS,
    owned_by: 'postern',
    operations,
    // Mistral's clients tell by it what the rest is.
    type: 'base',
    capabilities: { ...noCapabilities, ...Object.fromEntries(operations.flatMap(capabilitiesOf)) },
    ...(context !== undefined && { context_length: context }),
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...(dimensions !== undefined && { dimensions }),
    ...(space !== undefined && { space }),
    ...(pricing !== undefined && { pricing }),
    ...asCohere(model, id),
  };
}

/** Undefined where it makes no vectors; a pattern's are as many as its names. */
function spaceOf({ operations, space, targets: [{ model }] }: Model): string | undefined {
  if (!operations.some((operation) => operationRows[operation].yields === 'vectors')) return undefined;
  return space ?? (model.includes('*') ? undefined : model);
}

const asCohere = (
  { operations }: Model,
  id: string,
): { readonly name: string; readonly endpoints: readonly string[] } => ({
  name: id,
  // Cohere's names.
  endpoints: operations.flatMap((operation) => operationRows[operation].listedAs?.endpoint ?? []),
});

/** Mistral's names; it has none for embeddings. */
const noCapabilities = {
  completion_chat: false,
  completion_fim: false,
  function_calling: false,
  fine_tuning: false,
  vision: false,
  classification: false,
  moderation: false,
};

function capabilitiesOf(operation: Operation): [name: string, has: true][] {
  const capability = operationRows[operation].listedAs?.capability;
  return capability === undefined ? [] : [[capability, true]];
}
