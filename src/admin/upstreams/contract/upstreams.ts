/** Contract: upstreams with address, health and the models that use them. Never a credential. */

import * as z from 'zod';
import { labels } from '../../../core/label.ts';
import { operations } from '../../../core/operations/index.ts';
import { endpointsOf } from '../../endpoint.ts';
import { price } from '../../models/contract/models.ts';
import { shownStates } from '../../series/contract/series.ts';
import { elementDocument, managed, pageOf, pageQuery, reported, written } from '../../shapes/common.ts';

const upstreamsEndpoint = endpointsOf('Upstreams');

const nodeState = z.object({ node: z.string(), ...reported });

const { waiting: _, ...reportedOfTarget } = reported;

const target = z.object({
  /** The upstream's own name for the model. */
  model: z.string(),
  /** Public IDs that lead there. */
  models: z.array(z.string()),
  isListed: z.boolean().describe("False where the upstream's own list of models was read and does not have it."),
  ...reportedOfTarget,
});

const credential = z.object({
  id: z.string(),
  from: z
    .enum(['store', 'file', 'environment', 'path'])
    .describe('Sealed in the store, in the configuration file, in the environment, or in a file of its own.'),
  hint: z.string().nullable().describe('The name of the variable or of the file; nothing of the secret.'),
  weight: z.number().int(),
  /** In cooldown: refused, or rate-limited. */
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
  /** Null where it needs none. */
  address: z.string().nullable(),
  credentials: z.array(credential),
  limits: z.object({
    concurrency: z.number().int(),
    queue: z.number().int(),
    learned: z.number().int().nullable().describe('Calls at a time, where the limit is learned: over all nodes.'),
  }),
  healthCheck: z.boolean(),
  shown: z.enum(shownStates).describe('By what came of its calls, as `GET /api/now` has it.'),
  cause: z.string().nullable().describe('A sentence; null where there is nothing to say.'),
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
  models: z.number().int().nullable().describe('How many it lists.'),
});

export const upstreamModels = z.object({
  listed: z.boolean().describe('False: its family has no list, and names have to be written.'),
  note: z.string().nullable(),
  ownServer: z.boolean().describe('Of a family of servers that people run themselves: nobody sends a bill.'),
  items: z.array(
    z.object({
      id: z.string(),
      operations: z.array(z.enum(operations)).nullable().describe('Null where its list does not say.'),
      models: z.array(z.string()).describe('Public IDs that lead to it already.'),
      price: price.nullable().describe('Its list price; null where no list has one.'),
    }),
  ),
});

export const listUpstreams = upstreamsEndpoint('GET /api/upstreams', 'viewer', {
  summary: 'List the upstreams, wherever they are declared, and how they are',
  query: pageQuery.extend({
    q: z.string().max(200).optional().describe('A part of the ID, of the family, or of the address.'),
    family: z.string().max(64).optional(),
  }),
  answer: pageOf(upstream).extend({ total: z.number().int() }),
});

export const getUpstream = upstreamsEndpoint('GET /api/upstreams/:id', 'viewer', {
  summary: 'Show an upstream with its document; its secrets say (sealed)',
  answer: upstreamDetail,
});

export const putUpstream = upstreamsEndpoint('PUT /api/upstreams/:id', 'admin', {
  summary: 'Put an upstream in, or change it; the document is an element of the file’s list `upstreams`',
  body: elementDocument,
  answer: written,
});

export const deleteUpstream = upstreamsEndpoint('DELETE /api/upstreams/:id', 'admin', {
  summary: 'Take an upstream out; it stays where models still use it',
});

export const testDraft = upstreamsEndpoint('POST /api/upstreams/test', 'admin', {
  summary: 'Connect to an upstream as it would be, and write nothing',
  body: z.object({ id: z.string().min(1).max(256), document: elementDocument }),
  answer: testAnswer,
});

export const testUpstream = upstreamsEndpoint('POST /api/upstreams/:id/test', 'editor', {
  summary: 'Connect to an upstream, and say how far that came',
  answer: testAnswer,
});

export const listUpstreamModels = upstreamsEndpoint('GET /api/upstreams/:id/models', 'editor', {
  summary: 'Ask an upstream which models it has',
  answer: upstreamModels,
});

const option = z.object({
  name: z.string(),
  description: z.string(),
  values: z.array(z.string()).nullable().describe('What it may be, where not any text.'),
  pattern: z.string().nullable().describe('A regular expression.'),
  form: z.string().nullable().describe('What fits the pattern, for people.'),
  default: z.string().nullable(),
  required: z.boolean(),
});

const offer = z.object({
  label: z.enum(labels),
  operation: z.enum(operations),
  path: z.string(),
  way: z
    .enum(['passes', 'adapts', 'translated', 'made here'])
    .describe('Bytes pass; pass save for what would be misread; are translated; or answers are made here.'),
  facts: z.string().nullable(),
});

const startingModel = z.object({ id: z.string(), operations: z.array(z.enum(operations)) });

export const family = z.object({
  id: z.string(),
  title: z.string(),
  kind: z
    .enum(['built-in', 'own-server', 'service', 'cloud'])
    .describe(
      'Part of the gateway; a server of one’s own; a service at one address; or one with an address for each account or region.',
    ),
  baseUrl: z.string().nullable().describe('Its usual address; an option’s name in braces stands for its value.'),
  needsAddress: z.boolean(),
  credential: z
    .enum(['none', 'key', 'document', 'signed'])
    .describe('None; an API key; a document such as a service account’s; or a key that signs each call.'),
  /** The credential's header, with default options. */
  header: z.string().nullable(),
  options: z.array(option),
  offers: z.array(offer),
  listsModels: z.boolean(),
  bridges: z.boolean().describe('Whether it can serve further operations by way of chat.'),
  takesLegacyEngines: z.boolean(),
  builtIn: z.array(startingModel),
  starter: z.object({ apiKeyEnv: z.string(), models: z.array(startingModel) }).nullable(),
});

export const listFamilies = upstreamsEndpoint('GET /api/families', 'viewer', {
  summary: 'List the families of upstreams, with what each needs and offers',
  answer: z.object({ items: z.array(family) }),
});
