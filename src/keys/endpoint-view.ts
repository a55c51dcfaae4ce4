/** Prepares what a fixed endpoint of a client API gets: the models visible to the caller's key, and the request's fields. */

import type { Buffer } from 'node:buffer';
import { type EndpointView, resolveAt, type SeenModel } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import { upstreamNameOf } from '../core/model-name.ts';
import type { Query } from '../core/query.ts';
import type { ResolvedModel } from '../core/snapshot.ts';
import { isJsonObject, type Json, type JsonObject, JsonTextError, parseJson } from '../lib/json/json-text.ts';
import { findSeen, seenBy } from './model-list.ts';

interface PageRequest {
  readonly modelInPath: string | undefined;
  readonly query: Query;
  readonly body: Buffer | undefined;
  readonly installedAtS: number;
  readonly version: string;
}

export function viewOf(
  { snapshot, clientApi }: Exchange,
  key: KeyRecord,
  { modelInPath, query, body, installedAtS, version }: PageRequest,
): EndpointView {
  const resolve = (name: string) => resolveAt(clientApi, snapshot.models, name);
  return {
    models: seenBy(snapshot, key).map((model) => seen({ id: model.id, model, matched: '' }, key, installedAtS)),
    find(name): SeenModel {
      return seen(findSeen(resolve(name), key), key, installedAtS);
    },
    defaultModel: (operation) => snapshot.defaultModels[operation],
    modelInPath,
    query,
    body: toFields(body),
    version,
  };
}

function seen(
  { id, model, matched }: ResolvedModel,
  { operations: allowed }: KeyRecord,
  installedAtS: number,
): SeenModel {
  const { createdAtS = installedAtS, context, targets } = model;
  const operations = model.operations.filter((operation) => allowed === undefined || allowed.includes(operation));
  return {
    id,
    createdAtS,
    operations,
    context,
    upstreamNames: targets.map((target) => upstreamNameOf(target.model, matched)),
  };
}

function toFields(bytes: Buffer | undefined): JsonObject {
  if (bytes === undefined || bytes.length === 0) return {};
  let body: Json;
  try {
    body = parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonTextError) throw new GatewayError('invalid_json');
    throw error;
  }
  if (isJsonObject(body)) return body;
  throw new GatewayError('invalid_type', { message: 'The body must be a JSON object; something else came.' });
}
