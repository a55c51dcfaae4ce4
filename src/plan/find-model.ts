/** Finds the model that a request asks for, among those that its key may use. */

import { missingField, resolveAt } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import { laneOf } from '../core/lane.ts';
import type { Route } from '../core/route.ts';
import type { ResolvedModel, Snapshot } from '../core/snapshot.ts';
import { modelFieldOf, modelNameOf, type Question } from './question.ts';

export type MayUseModel = (key: KeyRecord, modelId: string) => boolean;

export function findModel(
  exchange: Exchange,
  key: KeyRecord,
  route: Route,
  question: Question,
  modelFromPath: string | undefined,
  mayUseModel: MayUseModel,
): ResolvedModel {
  const resolved = lookUp(exchange, key, route, question, modelFromPath, mayUseModel);
  if (!resolved.model.operations.includes(route.operation)) throw notSupported(resolved.id, route);
  return resolved;
}

/** Looks up the requested model, for any operation. A model that the key may not use is treated as unknown, before anything is revealed. */
export function lookUp(
  exchange: Exchange,
  key: KeyRecord,
  route: Route,
  question: Question,
  modelFromPath: string | undefined,
  mayUseModel: MayUseModel,
): ResolvedModel {
  const { snapshot } = exchange;
  const { models, defaultModels } = snapshot;
  const name = modelFromPath ?? modelNameOf(question) ?? defaultModels[route.operation];
  if (name === undefined) {
    throw missingField(
      modelFieldOf(route) ?? 'model',
      `a string, or have the operator set default_model.${route.operation} for requests that name none`,
    );
  }
  const resolved = resolveAt(exchange.clientApi, models, name);
  if (resolved === undefined || isHidden(resolved, route)) throw unknownModel(name);
  exchange.modelId = resolved.id;
  if (!mayUseModel(key, resolved.id)) throw modelNotAllowed(name, snapshot);
  exchange.lane = laneOf(exchange.askedLane, key, resolved.model, route.own);
  return resolved;
}

export const isHidden = ({ model }: ResolvedModel, { row }: Route): boolean => row.visibleModelsOnly && !model.visible;

export function notSupported(modelId: string, route: Route): GatewayError {
  return new GatewayError('operation_not_supported', {
    param: 'model',
    message: `The model "${modelId}" does not serve ${route.verb ?? route.operation}; GET /v1/models lists the operations of each model.`,
  });
}

/** The refusal for a model that the key may not use: the same as for an unknown model, unless the operator lets it be named. */
export function modelNotAllowed(name: string, { server }: Snapshot): GatewayError {
  return server.revealModels
    ? new GatewayError('model_not_allowed', { param: 'model' })
    : unknownModel(name, 'model_not_allowed');
}

export function unknownModel(name: string, recordedAs?: 'model_not_allowed'): GatewayError {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return new GatewayError('model_not_found', {
    param: 'model',
    message: `The model ${JSON.stringify(shown)} does not exist; GET /v1/models lists the available ones.`,
    ...(recordedAs !== undefined && { recordedAs }),
  });
}
