/** Answers `GET /v1/models` in Anthropic's format: the models that the caller's key may use for messages. */

import { GatewayError } from '../core/errors.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Query, QueryGrammar } from '../core/query.ts';
import type { Model, ResolvedModel, Snapshot } from '../core/snapshot.ts';
import { findSeen, seenBy } from './model-list.ts';

const msPerS = 1_000;

const cursor = { pattern: /^[\x21-\x7e]{1,256}$/, form: 'the ID of a model' };
export const anthropicPaging: QueryGrammar = {
  limit: { pattern: /^(?:[1-9]\d{0,2}|1000)$/, form: 'a number from 1 to 1000' },
  after_id: cursor,
  before_id: cursor,
};

/** The page of models that the query asks for; without `limit`, all models. */
export function listForAnthropic(snapshot: Snapshot, key: KeyRecord, query: Query, installedAtS: number): unknown {
  const models = seenBy(snapshot, key).filter((model) => isAskedForMessages(model, key));
  const start = cursorIn(models, query, 'after_id', 0, 1);
  const end = cursorIn(models, query, 'before_id', models.length, 0);
  const limit = query.get('limit') === undefined ? models.length : Number(query.get('limit'));
  const isBackwards = query.get('before_id') !== undefined;
  const page = isBackwards
    ? models.slice(Math.max(start, end - limit), end)
    : models.slice(start, Math.min(end, start + limit));
  const data = page.map((model) => describe(model, model.id, installedAtS));
  return {
    data,
    has_more: page.length < end - start,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

export function findForAnthropic(snapshot: Snapshot, key: KeyRecord, name: string, installedAtS: number): unknown {
  const { model, id }: ResolvedModel = findSeen(snapshot.models.resolve(name), key);
  if (!isAskedForMessages(model, key)) throw new GatewayError('model_not_found', { param: 'model' });
  return describe(model, id, installedAtS);
}

function isAskedForMessages({ operations }: Model, key: KeyRecord): boolean {
  return operations.includes('messages') && (key.operations?.includes('messages') ?? true);
}

/** Where a page begins or ends: the index of the model that the query names. `beside`: before or after it. */
function cursorIn(models: readonly Model[], query: Query, name: string, otherwise: number, beside: number): number {
  const id = query.get(name);
  if (id === undefined) return otherwise;
  const index = models.findIndex((model) => model.id === id);
  if (index !== -1) return index + beside;
  throw new GatewayError('unsupported_parameter', {
    param: name,
    message: `The query parameter "${name}" names no model of this list; begin again without it.`,
  });
}

/** A model in Anthropic's format; unknown facts are null, as in Anthropic's API. */
function describe(model: Model, id: string, installedAtS: number): unknown {
  const { createdAtS = installedAtS, context, maxOutput } = model;
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(createdAtS * msPerS).toISOString(),
    max_input_tokens: context ?? null,
    max_tokens: maxOutput ?? null,
    capabilities: null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
}
