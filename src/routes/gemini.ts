/** Defines the routes in Google's format, one row each: the methods of a model, and interactions. */

import { bothOf, contents, outsideGoogle } from '../core/operations/contents.ts';
import { defineRoute, type Route } from '../core/route.ts';

/** The route of a method (such as `generateContent`) of the model in the path; `again`: where the body may name the model too. */
function method(verb: string, ...again: readonly string[]) {
  return {
    path: `/v1beta/models/{model}:${verb}`,
    aliases: [
      `/v1/models/{model}:${verb}`,
      `/v1beta/{model=tunedModels/*}:${verb}`,
      `/v1/{model=tunedModels/*}:${verb}`,
    ],
    label: 'gemini',
    verb,
    model: { from: 'path', prefix: 'models/', again: ['model', ...again] },
  } as const;
}

const chat = {
  operation: 'generate',
  required: { contents: 'array' },
  optional: { generationConfig: 'object', generation_config: 'object', tools: 'array' },
  watched: ['cachedContent', 'cached_content', 'serviceTier', 'service_tier'],
} as const;

/** Fields that name objects in the operator's account; of these objects, only conversations have owners in the gateway. */
const stored = bothOf(
  ...['previousInteractionId', 'agent', 'cachedContent', 'continuationToken', 'environment', 'webhookConfig'],
);

/** Route of Google's interactions API, plain or streamed. Google stores interactions by default. */
export const interactions = defineRoute({
  path: '/v1beta/interactions',
  aliases: ['/v1/interactions'],
  operation: 'generate',
  label: 'interactions',
  required: { input: 'string | array | object' },
  optional: { generation_config: 'object', tools: 'array' },
  watched: ['stream', 'store', 'background', 'service_tier', ...stored],
  wire: {
    items: ['input'],
    counting: 'messages',
    beyondText: ['uri', 'data'],
    countsIn: 'interaction',
    callsIn: 'usage',
    mostBy: 'generation_config.max_output_tokens',
    objectNames: {
      fields: stored,
      names: ['uri', ...bothOf('fileSearchStoreNames')],
      types: { file_search: undefined, retrieval: undefined },
      known: { previous_interaction_id: 'interaction' },
      outside: outsideGoogle,
      except: ['arguments', 'parameters', 'result', 'schema', ...bothOf('responseFormat')],
    },
    records: { whole: { id: 'interaction' }, events: { 'interaction.id': 'interaction' }, unless: 'store' },
  },
});

export const geminiRoutes: readonly Route[] = [
  defineRoute({ ...method('generateContent'), ...chat }),
  defineRoute({
    ...method('streamGenerateContent'),
    ...chat,
    wire: { answers: ['object', 'array'] },
    query: { alt: { pattern: /^(?:sse|json)$/, form: 'sse or json' } },
    streams: { asEvents: ['alt', 'sse'] },
  }),
  defineRoute({
    ...method('countTokens', 'generateContentRequest.model', 'generate_content_request.model'),
    operation: 'generate',
    optional: { contents: 'array', generateContentRequest: 'object', generate_content_request: 'object' },
    wire: { replayable: true, mayStream: false, billedBy: [] },
  }),
  interactions,
  defineRoute({
    ...method('embedContent'),
    operation: 'embeddings',
    required: { content: 'object' },
    wire: { ...contents, items: ['content'] },
  }),
  defineRoute({
    ...method('batchEmbedContents', 'requests[].model'),
    operation: 'embeddings',
    required: { requests: 'object[]' },
    elements: 'all',
    wire: { ...contents, items: ['requests'] },
  }),
];
