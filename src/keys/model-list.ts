/** Answers `GET /v1/models`: the list of models, or one model, that the caller's key may see. */

import type { PriceUnit } from '../core/accounting/price.ts';
import { GatewayError } from '../core/errors.ts';
import type { KeyRecord } from '../core/key.ts';
import { type Operation, operationRows } from '../core/operations/index.ts';
import type { Model, ResolvedModel, Snapshot } from '../core/snapshot.ts';
import { mayUseModel } from './access.ts';

/** The list of models. Models of the configuration file count as old as the installation. */
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

/** The models that the key's holder may see in lists, without patterns. */
export function seenBy(snapshot: Snapshot, key: KeyRecord): readonly Model[] {
  return snapshot.models.all.filter(
    (model) => model.visible && !model.id.includes('*') && maySee(key, model, model.id),
  );
}

/** Returns a model that the key may see; throws where there is none. */
export function findSeen(resolved: ResolvedModel | undefined, key: KeyRecord): ResolvedModel {
  if (resolved === undefined || !resolved.model.visible || !maySee(key, resolved.model, resolved.id)) {
    throw new GatewayError('model_not_found', { param: 'model' });
  }
  return resolved;
}

/** Whether the key may see the model: it can call the model in at least one way. */
function maySee(key: KeyRecord, model: Model, id: string): boolean {
  const { operations } = key;
  return mayUseModel(key, id) && (operations === undefined || model.operations.some((one) => operations.includes(one)));
}

/** A model's entry: OpenAI's fields first, then fields that clients of Mistral and Cohere read. */
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
    // Mistral's clients decide by the type how to read the other fields.
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

/** Identifies the space of the model's vectors; undefined where it makes no vectors, and for patterns. */
function spaceOf({ operations, space, targets: [{ model }] }: Model): string | undefined {
  if (!operations.some((operation) => operationRows[operation].yields === 'vectors')) return undefined;
  return space ?? (model.includes('*') ? undefined : model);
}

const asCohere = (
  { operations }: Model,
  id: string,
): { readonly name: string; readonly endpoints: readonly string[] } => ({
  name: id,
  // Cohere's names of the endpoints that the model serves.
  endpoints: operations.flatMap((operation) => operationRows[operation].listedAs?.endpoint ?? []),
});

/** Capabilities under Mistral's names, which have none for embeddings. */
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

/** For each price unit its name as in OpenRouter's API, and the `decimals` that convert a price in whole nano-dollars. */
const listPrices: Readonly<Record<PriceUnit, readonly [name: string, decimals: number]>> = {
  input: ['prompt', 15],
  cachedInput: ['input_cache_read', 15],
  cacheWrite: ['input_cache_write', 15],
  output: ['completion', 15],
  character: ['character', 15],
  cacheWriteHour: ['input_cache_write_1h', 15],
  audioInput: ['input_audio', 15],
  imageInput: ['input_image', 15],
  audioOutput: ['output_audio', 15],
  imageOutput: ['output_image', 15],
  request: ['request', 9],
  searchUnit: ['search_unit', 9],
  item: ['item', 9],
  image: ['image', 9],
  minute: ['minute', 9],
};

function toText(units: number, decimals: number): string {
  const digits = BigInt(units)
    .toString()
    .padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The model's prices by kind: the highest among its targets; undefined where one of them is unknown. */
function pricingOf({ targets }: Model): Readonly<Record<string, string>> | undefined {
  const prices = targets.flatMap(({ price, weight }) => (weight > 0 ? [price] : []));
  const known = prices.filter((price) => price !== undefined);
  if (known.length === 0 || known.length < prices.length) return undefined;
  const kinds = Object.entries(listPrices) as [PriceUnit, readonly [string, number]][];
  const pricing = kinds.flatMap(([kind, [name, decimals]]) => {
    const amounts = known.flatMap((price) => price[kind] ?? []);
    return amounts.length === 0 ? [] : [[name, toText(Math.max(...amounts), decimals)] as const];
  });
  return Object.fromEntries(pricing);
}
