/** Contract: models with targets, price and health. */

import * as z from 'zod';
import { priceSources } from '../../../core/accounting/price.ts';
import { operations } from '../../../core/operations/index.ts';
import { managers } from '../../../core/resource-editor.ts';
import { scoreScales } from '../../../core/scores.ts';
import { endpointsOf } from '../../endpoint.ts';
import { shownStates } from '../../series/contract/series.ts';
import {
  dollars,
  elementDocument,
  instant,
  managed,
  pageOf,
  pageQuery,
  reported,
  reportedStates,
  written,
} from '../../shapes/common.ts';

const modelsEndpoint = endpointsOf('Models');

const truth = z.enum(['true', 'false']).transform((text) => text === 'true');

const modelQuery = pageQuery.extend({
  q: z.string().max(200).optional().describe('A part of the ID, of an alias, or of a target.'),
  operation: z.enum(operations).optional(),
  upstream: z.string().max(256).optional(),
  visible: truth.optional(),
  managedBy: z.enum(managers).optional(),
});

/** Unset ones are not billed. */
const amounts = z.object({
  input: dollars.optional().describe('For a million input tokens.'),
  cachedInput: dollars.optional(),
  cacheWrite: dollars.optional(),
  cacheWriteHour: dollars.optional(),
  audioInput: dollars.optional(),
  imageInput: dollars.optional(),
  output: dollars.optional().describe('For a million output tokens.'),
  audioOutput: dollars.optional(),
  imageOutput: dollars.optional(),
  searchUnit: dollars.optional(),
  request: dollars.optional(),
  item: dollars.optional(),
  image: dollars.optional(),
  minute: dollars.optional(),
  character: dollars.optional(),
});

export const price = z.object({
  source: z
    .enum(['target', 'model', ...priceSources, 'inside', 'unknown'])
    .describe(
      'Who says so: the target itself, its model, the table that comes with Postern, an imported list, nobody as it answers inside the gateway (and is free), or nobody at all.',
    ),
  /** Null: unknown. */
  amounts: amounts.nullable(),
  isFree: z.boolean(),
  /** For list prices, built-in or imported. */
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
  /** Null until it is in force. */
  price: price.nullable(),
  /** The worst state of any node; unknown without reports. */
  health: z.enum(reportedStates),
  shown: z.enum(shownStates).describe('By what came of its calls, as `GET /api/states` has it.'),
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
      'Whether lists show it. Hidden, it answers on rerank and both embeddings routes as an unknown model does; on the others its exact ID still answers.',
    ),
  space: z.string().nullable(),
  /** The scale of its scores; null where it has none, or it is unknown. */
  scores: z.enum(scoreScales).nullable(),
  targets: z.array(target),
  ...managed,
});

export const modelPage = pageOf(model).extend({
  total: z.number().int().describe('How many fit the filter.'),
});

const agreement = z.number().nullable().describe('Up to 1; null where nothing tells.');

/** Settings of lists in force, as in the file; and whether the model is unchanged. */
const lists = z.object({
  cache: z.object({ ttl: z.string(), scope: z.string(), max: z.string() }).nullable(),
  dedupe: z.boolean(),
  coalesce: z.object({ window: z.string(), maxItems: z.number().int() }).nullable(),
  shadow: z.object({ model: z.string(), share: z.number() }).nullable(),
  canary: z.object({ texts: z.number().int(), every: z.string() }).nullable(),
  /** With its shadow, as each node has seen it since its start. */
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
    /** Keys that name it in their list. */
    keys: z.array(z.string()),
    /** Operations for which it is the default. */
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
  summary: 'List the models, wherever they are declared',
  query: modelQuery,
  answer: modelPage,
});

export const getModel = modelsEndpoint('GET /api/models/:id', 'viewer', {
  summary: 'Show a model with its document',
  answer: modelDetail,
});

export const putModel = modelsEndpoint('PUT /api/models/:id', 'editor', {
  summary: 'Put a model in, or change it; the document is an element of the file’s list `models`',
  body: elementDocument,
  answer: written,
});

export const deleteModel = modelsEndpoint('DELETE /api/models/:id', 'editor', {
  summary: 'Take a model out',
});

export const patchModel = modelsEndpoint('PATCH /api/models/:id', 'editor', {
  summary: 'Show a model to clients, or hide it from them',
  body: visibility,
  answer: written,
});

export const forgetItems = modelsEndpoint('POST /api/models/:id/forget', 'editor', {
  summary: 'Have every node forget what it remembers of the items of a model',
});

export const acceptModel = modelsEndpoint('POST /api/models/:id/accept', 'editor', {
  summary: 'Take what the targets of a model make of its canary’s texts the next time for what is to be',
});

export const testModel = modelsEndpoint('POST /api/models/:id/test', 'editor', {
  summary: 'Send a small request to a model through the gateway, and say what came back',
  body: z.object({ operation: z.enum(operations) }),
  answer: modelTestAnswer,
});
