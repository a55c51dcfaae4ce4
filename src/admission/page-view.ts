/** What the page of a front door is made from: the models that its caller may see, and what the request says. */

import type { Buffer } from 'node:buffer';
import { type PageView, resolveAt, type SeenModel } from '../core/door.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import { isJsonObject, type Json, type JsonObject, JsonTextError, parseJson } from '../lib/json/json-text.ts';
import { findSeen, seenBy } from './model-list.ts';

interface PageRequest {
  readonly modelInPath: string | undefined;
  readonly body: Buffer | undefined;
  /** Of the gateway. */
  readonly version: string;
}

export function viewOf(
  { snapshot, door }: Exchange,
  key: KeyRecord,
  { modelInPath, body, version }: PageRequest,
): PageView {
  const resolve = (name: string) => resolveAt(door, snapshot.models, name);
  return {
    models: seenBy(snapshot, key).map(({ id, operations }) => ({ id, operations })),
    find(name): SeenModel {
      const { id, model } = findSeen(resolve(name), key);
      return { id, operations: model.operations };
    },
    defaultModel: (operation) => snapshot.defaultModels[operation],
    modelInPath,
    body: toFields(body),
    changedAtS: snapshot.createdAtS,
    version,
  };
}

/** Some clients send nothing where nothing is asked. */
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
