/** Defines the routes in OpenAI's format, with rerank and moderations, one row each; legacy engines have the model in the path. */

import { defineRoute, type Route } from '../core/route.ts';

const completions = defineRoute({
  operation: 'completions',
  label: 'openai',
  required: { prompt: 'string | string[] | number[] | array[]' },
  watched: ['stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n_predict', 'n', 'n_cmpl', 'best_of'],
});

const edits = defineRoute({
  operation: 'edits',
  label: 'openai',
  required: { input: 'string', instruction: 'string' },
  watched: ['n', 'max_tokens', 'max_completion_tokens'],
});

export const rerank = defineRoute({
  // Cohere's clients append their version to a base URL that has one already; llama.cpp's server has `/reranking` beside `/rerank`.
  aliases: ['/rerank', '/v2/rerank', '/v1/v1/rerank', '/v1/v2/rerank', '/reranking', '/v1/reranking'],
  shapedPaths: {
    '/voyage/v1/rerank': 'voyage',
    '/jina/v1/rerank': 'jina',
    '/cohere/v1/rerank': 'cohere',
    '/cohere/v2/rerank': 'cohere',
  },
  errorShapes: { '/v2/rerank': 'cohere', '/v1/v2/rerank': 'cohere' },
  operation: 'rerank',
  label: 'openai',
  required: { query: 'string | object', documents: 'string[] | object[]' },
  watched: [
    ...['top_n', 'return_documents', 'max_tokens_per_doc', 'max_chunks_per_doc'],
    ...['rank_fields', 'top_k', 'raw_scores'],
  ],
  // The name of the field in Text Embeddings Inference.
  standIns: { documents: { name: 'texts', kinds: 'string[]', allowed: 'tei' } },
});

const moderations = defineRoute({
  operation: 'moderations',
  label: 'openai',
  required: { input: 'string | string[] | object[]' },
});

const embeddings = defineRoute({
  // `/embedding` is llama.cpp's.
  aliases: ['/embeddings', '/v1/v1/embeddings', '/embedding'],
  operation: 'embeddings',
  label: 'openai',
  required: { input: 'string | array' },
  optional: { dimensions: 'number' },
  watched: ['encoding_format'],
  // vLLM embeds a conversation in place of texts.
  standIns: { input: { name: 'messages', kinds: 'array', allowed: 'accepts_messages' } },
});

export const chat = defineRoute({
  operation: 'chat',
  label: 'openai',
  required: { messages: 'array' },
  watched: [
    ...['stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n_predict', 'n', 'n_cmpl'],
    ...['web_search_options', 'search_parameters', 'plugins', 'enable_search', 'tools'],
    ...['service_tier', 'speed', 'inference_geo', 'prediction', 'data_sources', 'datasources'],
  ],
});

const aboutImages = ['n', 'partial_images', 'quality', 'size', 'stream'];

const images = defineRoute({
  operation: 'images',
  label: 'openai',
  required: { prompt: 'string' },
  watched: aboutImages,
});

/** Image edits, as a form with images, or as JSON with references. */
const imageEdits = defineRoute({
  operation: 'image_edits',
  label: 'openai',
  required: { prompt: 'string', images: 'object[]' },
  form: { required: { prompt: 'string', image: 'object | object[]' }, only: false },
  watched: aboutImages,
});

const imageVariations = defineRoute({
  operation: 'image_variations',
  label: 'openai',
  form: { required: { image: 'object' }, only: true },
  watched: aboutImages,
});

const speech = defineRoute({ operation: 'speech', label: 'openai', required: { input: 'string' } });

const recording = {
  label: 'openai',
  form: { required: { file: 'object' }, only: true },
  watched: ['stream', 'response_format'],
} as const;

const transcriptions = defineRoute({ ...recording, operation: 'transcriptions' });
const translations = defineRoute({ ...recording, operation: 'translations' });

export const responses = defineRoute({
  operation: 'responses',
  label: 'openai',
  required: { input: 'string | array' },
  watched: [
    ...['stream', 'max_output_tokens', 'tools', 'max_tool_calls', 'context_management'],
    ...['service_tier', 'speed', 'inference_geo', 'store', 'background'],
    ...['previous_response_id', 'conversation', 'prompt'],
  ],
});

const responsesInputTokens = defineRoute({
  path: '/v1/responses/input_tokens',
  operation: 'responses',
  label: 'input_tokens',
  optional: { input: 'string | array' },
  watched: ['tools', 'previous_response_id', 'conversation', 'prompt'],
  wire: { replayable: true, mayStream: false, billedBy: [] },
});

const responsesCompact = defineRoute({
  path: '/v1/responses/compact',
  operation: 'responses',
  label: 'compact',
  optional: { input: 'string | array' },
  watched: ['tools', 'previous_response_id', 'conversation', 'prompt', 'service_tier', 'max_output_tokens'],
  wire: { mayStream: false },
});

export const openaiRoutes: readonly Route[] = [
  ...[completions, edits, rerank, moderations, embeddings, chat, images, speech],
  ...[responses, responsesInputTokens, responsesCompact],
  ...[imageEdits, imageVariations, transcriptions, translations],
];

function ofEngines(operation: 'embeddings' | 'completions' | 'edits') {
  const path = `/v1/engines/{model}/${operation}`;
  return { path, operation, label: 'engines', fallbackLabel: 'openai', model: { from: 'path' } } as const;
}

export const engineRoutes: readonly Route[] = [
  defineRoute({
    ...ofEngines('embeddings'),
    required: { input: 'string | string[]' },
    elements: 'all',
    optional: { dimensions: 'number' },
    watched: ['encoding_format'],
  }),
  defineRoute({ ...ofEngines('completions'), required: completions.required, watched: completions.watched }),
  defineRoute({ ...ofEngines('edits'), required: edits.required, watched: edits.watched }),
];
