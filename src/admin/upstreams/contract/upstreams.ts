/** Declares the endpoints for upstreams: their address, health and models. No answer contains a credential. */

import * as z from 'zod';
import { labels } from '../../../core/label.ts';
import { operations } from '../../../core/operations/index.ts';
import { endpointsOf } from '../../endpoint.ts';
import { price } from '../../models/contract/models.ts';
import { shownStates } from '../../series/contract/series.ts';
import {
  elementDocument,
  managed,
  pageOf,
  reported,
  shownTraffic,
  sortedPageQuery,
  written,
} from '../../shapes/common.ts';

const upstreamsEndpoint = endpointsOf('Upstreams');

const nodeState = z.object({ node: z.string(), ...reported });

const { waiting: _, ...reportedOfTarget } = reported;

const target = z.object({
  /** The upstream's own name for the model. */
  model: z.string(),
  /** Public IDs of the models with this target. */
  models: z.array(z.string()),
  isListed: z.boolean().describe("False where the upstream's own list of models was read and does not have it."),
  ...reportedOfTarget,
});

const credential = z.object({
  id: z.string(),
  from: z
    .enum(['store', 'file', 'environment', 'path'])
    .describe('Encrypted in the store, in the configuration file, in the environment, or in a separate file.'),
  hint: z.string().nullable().describe('The name of the variable or of the file, never the secret.'),
  weight: z.number().int(),
  /** Whether the credential is in cooldown, because the upstream refused it or limited its rate. */
  resting: z.boolean(),
});

const laneState = z.object({
  inFlight: z.number().int(),
  waiting: z.number().int().describe('For a slot, or for a rate limit.'),
  keys: z
    .array(z.object({ key: z.string(), waiting: z.number().int() }))
    .describe('The keys with the most calls that wait for a slot.'),
});

const endpointState = z.object({
  endpoint: z.string().describe('Host and port.'),
  inFlight: z.number().int(),
  isUp: z.boolean().describe('False in cooldown, or while its health check fails, on every node.'),
  why: z.string().nullable(),
});

export const upstream = z.object({
  id: z.string(),
  family: z.object({ id: z.string(), title: z.string(), listsModels: z.boolean() }),
  /** The upstream's address; null where it needs none. */
  address: z.string().nullable(),
  credentials: z.array(credential),
  limits: z.object({
    concurrency: z.number().int(),
    queue: z.number().int(),
    learned: z.number().int().nullable().describe('Calls at a time, where the limit is learned: over all nodes.'),
  }),
  healthCheck: z.boolean(),
  shown: z.enum(shownStates).describe('From the results of its calls, as in `GET /api/now`.'),
  cause: z.string().nullable().describe('The reason as a sentence; null if there is none.'),
  ...reported,
  lanes: z.object({ interactive: laneState, bulk: laneState }),
  endpoints: z.array(endpointState).describe('Its addresses, where it has several.'),
  nodes: z.array(nodeState),
  targets: z.array(target),
  models: z.array(z.string()).describe('Public IDs of the models that use it.'),
  ...managed,
});
export const upstreamDetail = upstream.extend({ document: elementDocument });

const problem = z.object({
  message: z.string(),
  advice: z.string(),
  field: z.string().nullable().describe('Of the document.'),
});

export const testAnswer = z.object({
  ok: z.boolean(),
  address: z.string().nullable(),
  steps: z.array(
    z.object({
      name: z.enum(['look-up', 'connect', 'secure', 'ask']),
      state: z.enum(['passed', 'failed', 'skipped']),
      ms: z.number().nullable(),
      detail: z.string(),
    }),
  ),
  credentials: z.array(
    z.object({ id: z.string(), status: z.number().int().describe('0: no answer.'), ok: z.boolean() }),
  ),
  problem: problem.nullable(),
  models: z.number().int().nullable().describe('Number of listed models.'),
});

export const upstreamModels = z.object({
  listed: z.boolean().describe('False: its family has no list; enter names by hand.'),
  note: z.string().nullable(),
  ownServer: z.boolean().describe('Whether its family is a self-hosted server, which has no prices.'),
  items: z.array(
    z.object({
      id: z.string(),
      operations: z.array(z.enum(operations)).nullable().describe('Null if its list does not report it.'),
      models: z.array(z.string()).describe('Public IDs of models that use it already.'),
      price: price.nullable().describe('Its list price; null if unknown.'),
    }),
  ),
});

export const upstreamPage = pageOf(upstream.extend(shownTraffic)).extend({ total: z.number().int() });

export const listUpstreams = upstreamsEndpoint('GET /api/upstreams', 'viewer', {
  summary: 'List all upstreams with their state',
  query: sortedPageQuery.extend({
    q: z.string().max(200).optional().describe('A part of the ID, of the family, or of the address.'),
    family: z.string().max(64).optional(),
  }),
  answer: upstreamPage,
});

export const getUpstream = upstreamsEndpoint('GET /api/upstreams/:id', 'viewer', {
  summary: 'Get an upstream with its document; its secrets read (sealed)',
  answer: upstreamDetail,
});

export const putUpstream = upstreamsEndpoint('PUT /api/upstreams/:id', 'admin', {
  summary: 'Create or change an upstream; the document is an element of the list `upstreams` in the file',
  body: elementDocument,
  answer: written,
});

export const deleteUpstream = upstreamsEndpoint('DELETE /api/upstreams/:id', 'admin', {
  summary: 'Remove an upstream; refused while models use it',
});

export const testDraft = upstreamsEndpoint('POST /api/upstreams/test', 'admin', {
  summary: 'Test an upstream before saving it',
  body: z.object({ id: z.string().min(1).max(256), document: elementDocument }),
  answer: testAnswer,
});

export const testUpstream = upstreamsEndpoint('POST /api/upstreams/:id/test', 'editor', {
  summary: 'Test the connection to an upstream',
  answer: testAnswer,
});

export const listUpstreamModels = upstreamsEndpoint('GET /api/upstreams/:id/models', 'editor', {
  summary: 'List the models of an upstream, as it reports them',
  answer: upstreamModels,
});

const option = z.object({
  name: z.string(),
  description: z.string(),
  values: z.array(z.string()).nullable().describe('Allowed values, if limited.'),
  pattern: z.string().nullable().describe('A regular expression.'),
  form: z.string().nullable().describe('The pattern in words.'),
  default: z.string().nullable(),
  required: z.boolean(),
});

const offer = z.object({
  label: z.enum(labels),
  operation: z.enum(operations),
  path: z.string(),
  way: z
    .enum(['passes', 'adapts', 'translated', 'made here'])
    .describe(
      '`passes`: bytes are passed through; `adapts`: passed, except what would be misread; `made here`: answered by the gateway.',
    ),
  facts: z.string().nullable(),
});

const startingModel = z.object({ id: z.string(), operations: z.array(z.enum(operations)) });

export const family = z.object({
  id: z.string(),
  title: z.string(),
  kind: z
    .enum(['built-in', 'own-server', 'service', 'cloud'])
    .describe(
      'Part of the gateway; a self-hosted server; a service with one address; or one with an address per account or region.',
    ),
  baseUrl: z.string().nullable().describe('Its default address; option names in braces are replaced by their values.'),
  needsAddress: z.boolean(),
  credential: z
    .enum(['none', 'key', 'document', 'signed'])
    .describe('None; an API key; a document such as that of a service account; or a key that signs each call.'),
  /** The header that carries the credential, with the family's default options. */
  header: z.string().nullable(),
  options: z.array(option),
  offers: z.array(offer),
  listsModels: z.boolean(),
  bridges: z.boolean().describe('Whether it can serve more operations through chat.'),
  takesLegacyEngines: z.boolean(),
  builtIn: z.array(startingModel),
  starter: z.object({ apiKeyEnv: z.string(), models: z.array(startingModel) }).nullable(),
});

export const listFamilies = upstreamsEndpoint('GET /api/families', 'viewer', {
  summary: 'List the families of upstreams, with what each needs and offers',
  answer: z.object({ items: z.array(family) }),
});
