/** Declares the endpoints for trying models in the playground, and for finding a try in the ledger. */

import * as z from 'zod';
import { hasModelInPath, operationRows, operations, pathOf } from '../../../core/operations/index.ts';
import { endpointsOf } from '../../endpoint.ts';
import { dollars } from '../../shapes/common.ts';

const playgroundEndpoint = endpointsOf('Playground');

const gatewayRoutes = [...operations, 'engines-embeddings'] as const;
export type GatewayRoute = (typeof gatewayRoutes)[number];

/** Whether the model is in the path and not in the body. */
export const namesModelInPath = (route: GatewayRoute): boolean =>
  route === 'engines-embeddings' || hasModelInPath(operationRows[route]);

/** The path of a route below the client listener's URL; `model` is used where the path has one. */
export const toGatewayPath = (route: GatewayRoute, model = ''): string =>
  // One encoded segment: a model's name cannot change the path.
  route === 'engines-embeddings' ? `/v1/engines/${encodeURIComponent(model)}/embeddings` : pathOf(route, model);

export const playgroundModel = z.object({
  id: z.string().describe('With a `*` it is a pattern: send a name that fits it.'),
  aliases: z.array(z.string()),
  operations: z.array(z.enum(operations)),
  /** Whether the model is listed; rerank and embeddings answer for a hidden model as for an unknown one. */
  visible: z.boolean(),
  /** The space of its vectors; vectors of two spaces are never compared. */
  space: z.string().nullable(),
  /** Whether the model runs inside the gateway, without a network. */
  builtIn: z.boolean(),
  upstreams: z.array(z.string()),
});

/** A try in the playground; null until the ledger has its row, which takes a moment. */
export const playgroundTry = z.object({
  item: z
    .object({
      id: z.string().describe("The ledger's ID of the exchange."),
      outcome: z.string(),
      status: z.number().int(),
      cost: dollars.nullable(),
      inputTokens: z.number().nullable(),
      outputTokens: z.number().nullable(),
      searchUnits: z.number().nullable(),
      isEstimated: z.boolean(),
      attempts: z.number().int(),
      upstream: z.string().nullable(),
      durationMs: z.number(),
      firstByteMs: z.number().nullable(),
      upstreamMs: z.number().nullable(),
    })
    .nullable(),
});

export const listPlaygroundModels = playgroundEndpoint('GET /api/playground/models', 'viewer', {
  summary: 'List the models for the playground, including hidden ones',
  query: z.strictObject({ operation: z.enum(operations).optional() }),
  answer: z.object({
    items: z.array(playgroundModel),
    clientUrl: z.string().describe('Base URL before `/v1/...`, as seen from this machine.'),
  }),
});

export const callPlayground = playgroundEndpoint('POST /api/playground/:route', 'editor', {
  summary: 'Send a body to a route of the gateway, like a client',
  params: z.object({ route: z.enum(gatewayRoutes) }),
  query: z.strictObject({
    model: z.string().min(1).max(512).optional().describe('The model, on routes with the model in the path.'),
  }),
  streams: 'application/json',
});

export const getPlaygroundTry = playgroundEndpoint('GET /api/playground/tries/:requestId', 'viewer', {
  summary: 'Get the ledger row of a try by its x-request-id',
  params: z.object({ requestId: z.string().regex(/^[A-Za-z0-9._-]{1,128}$/) }),
  answer: playgroundTry,
});
