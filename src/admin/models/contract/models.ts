/** Declares the endpoints for models with their targets, prices and health. */

import * as z from 'zod';
import { priceSources, priceUnits } from '../../../core/accounting/price.ts';
import { operations } from '../../../core/operations/index.ts';
import { managers } from '../../../core/resource-editor.ts';
import { scoreScales } from '../../../core/scores.ts';
import { recordOf } from '../../../lib/record-of.ts';
import { endpointsOf } from '../../endpoint.ts';
import { shownStates } from '../../series/contract/series.ts';
import {
  dollars,
  elementDocument,
  instant,
  managed,
  pageOf,
  reported,
  reportedStates,
  shownTraffic,
  sortedPageQuery,
  written,
} from '../../shapes/common.ts';

const modelsEndpoint = endpointsOf('Models');

const truth = z.enum(['true', 'false']).transform((text) => text === 'true');

const modelQuery = sortedPageQuery.extend({
  q: z.string().max(200).optional().describe('A part of the ID, of an alias, or of a target.'),
  operation: z.enum(operations).optional(),
  upstream: z.string().max(256).optional(),
  visible: truth.optional(),
  managedBy: z.enum(managers).optional(),
});

/** Prices per unit; a unit without a price is not billed. */
const amounts = z.object({
  ...recordOf(priceUnits, () => dollars.optional()),
  input: dollars.optional().describe('Per million input tokens.'),
  output: dollars.optional().describe('Per million output tokens.'),
});

export const price = z.object({
  source: z
    .enum(['target', 'model', ...priceSources, 'inside', 'unknown'])
    .describe(
      'Source of the price: the target, its model, the price list built into Postern, an imported list, none because the gateway answers itself (free), or unknown.',
    ),
  /** The prices; null where they are unknown. */
  amounts: amounts.nullable(),
  isFree: z.boolean(),
  /** For a built-in or imported price list: where it comes from, and how current it is. */
  listed: z.object({ source: z.string(), asOf: z.string(), verified: z.boolean() }).nullable(),
});

const nodeHealth = z.object({ node: z.string(), ...reported, restingCredentials: z.array(z.string()) });

const target = z.object({
  upstream: z.string(),
  /** The upstream's name for the model. */
  model: z.string(),
  priority: z.number().int(),
  weight: z.number().int(),
  bridge: z.string().nullable(),
  /** The price; null until the target is in force. */
  price: price.nullable(),
  /** The worst state that any node reports; unknown without reports. */
  health: z.enum(reportedStates),
  shown: z.enum(shownStates).describe('From the results of its calls, as in `GET /api/states`.'),
  isListed: z.boolean().describe("False where the upstream's own list of models was read and does not have it."),
  nodes: z.array(nodeHealth),
});

export const model = z.object({
  id: z.string(),
  aliases: z.array(z.string()),
  operations: z.array(z.enum(operations)),
  visible: z
    .boolean()
    .describe(
      'Whether lists show it. A hidden model counts as unknown on rerank and both embeddings routes; elsewhere its exact ID still works.',
    ),
  space: z.string().nullable(),
  /** The scale of the model's rerank scores; null where it has none, or the scale is unknown. */
  scores: z.enum(scoreScales).nullable(),
  targets: z.array(target),
  ...managed,
});

export const modelPage = pageOf(model.extend(shownTraffic)).extend({
  total: z.number().int().describe('Number of matches.'),
});

const agreement = z.number().nullable().describe('Up to 1; null if unknown.');

/** The list settings in force, as in the file, and the measured drift of the model. */
const lists = z.object({
  cache: z.object({ ttl: z.string(), scope: z.string(), max: z.string() }).nullable(),
  dedupe: z.boolean(),
  coalesce: z.object({ window: z.string(), maxItems: z.number().int() }).nullable(),
  shadow: z.object({ model: z.string(), share: z.number() }).nullable(),
  canary: z.object({ texts: z.number().int(), every: z.string() }).nullable(),
  /** How far the model agrees with its shadow, as each node has seen it since its start. */
  agreements: z.array(
    z.object({
      node: z.string(),
      shadow: z.string(),
      compared: z.number().int(),
      failed: z.number().int(),
      cosine: agreement,
      overlap: agreement,
      ranks: agreement,
      verdicts: agreement,
    }),
  ),
  canaries: z.array(
    z.object({
      node: z.string(),
      upstream: z.string(),
      upstreamModel: z.string(),
      checkedAt: instant.nullable(),
      agreement,
      hasChanged: z.boolean(),
      failure: z.string().nullable(),
    }),
  ),
});

export const modelDetail = model.extend({
  document: elementDocument,
  lists,
  needs: z.object({
    /** IDs of keys that name the model in their list of models. */
    keys: z.array(z.string()),
    /** Operations for which this is the default model. */
    defaultFor: z.array(z.enum(operations)),
  }),
});

const visibility = z.object({ visible: z.boolean() });

export const modelTestAnswer = z.object({
  ok: z.boolean(),
  status: z.number().int(),
  durationMs: z.number(),
  excerpt: z.string(),
  upstream: z.string().nullable(),
  attempts: z.number().int().nullable(),
  requestId: z.string(),
});

export const listModels = modelsEndpoint('GET /api/models', 'viewer', {
  summary: 'List the models of the file and of the store',
  query: modelQuery,
  answer: modelPage,
});

export const getModel = modelsEndpoint('GET /api/models/:id', 'viewer', {
  summary: 'Get a model with its document',
  answer: modelDetail,
});

export const putModel = modelsEndpoint('PUT /api/models/:id', 'editor', {
  summary: 'Create or change a model; the document is an element of the list `models` in the file',
  body: elementDocument,
  answer: written,
});

export const deleteModel = modelsEndpoint('DELETE /api/models/:id', 'editor', {
  summary: 'Remove a model',
});

export const patchModel = modelsEndpoint('PATCH /api/models/:id', 'editor', {
  summary: 'Show a model to clients, or hide it from them',
  body: visibility,
  answer: written,
});

export const forgetItems = modelsEndpoint('POST /api/models/:id/forget', 'editor', {
  summary: 'Empty the cache of a model on every node',
});

export const acceptModel = modelsEndpoint('POST /api/models/:id/accept', 'editor', {
  summary: 'Accept the next canary vectors of a model as its new reference',
});

export const testModel = modelsEndpoint('POST /api/models/:id/test', 'editor', {
  summary: 'Test a model with a small request through the gateway',
  body: z.object({ operation: z.enum(operations) }),
  answer: modelTestAnswer,
});
