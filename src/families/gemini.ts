/** Declares Google's Gemini API as an upstream family: one method for a single input, another for several, and no token usage. */

import { bearer, defineFamily } from '../core/family.ts';
import { type EmbeddingWireFormat, translateEmbeddings } from './wire-formats/embeddings/embeddings.ts';
import {
  adaptFor,
  googleErrors,
  ofTheTask,
  purposesInGoogle,
  readEmbedContent,
  taskTypeOf,
  titleOf,
  toContent,
  vectorIn,
} from './wire-formats/google.ts';
import { listAt, operationsFor } from './wire-formats/model-lists.ts';
import { listIn, objectIn } from './wire-formats/reading.ts';

/** The model's name with its collection, as paths need it: tuned models have a collection of their own. */
const resourceOf = (name: string): string => (/^(?:models|tunedModels)\//.test(name) ? name : `models/${name}`);

/** Limit for the inputs of one call: a body may have 4 MiB, part of which goes to fields that are repeated with each input. */
const mostInputBytes = 4 * 1024 * 1024 - 128 * 1024;

const embeddings: EmbeddingWireFormat = {
  limits: { items: 100, bytes: mostInputBytes },
  hasDimensions: true,
  own: ofTheTask,
  purposes: purposesInGoogle,
  isStrict: true,
  write(call) {
    const name = call.model.replace(/^models\//, '');
    const path = `/v1beta/models/${encodeURIComponent(name.toWellFormed())}`;
    const requests = call.items.map((item) => ({
      model: `models/${name}`,
      content: toContent(item),
      taskType: taskTypeOf(call),
      title: titleOf(call),
      outputDimensionality: call.dimensions,
    }));
    const [only] = requests;
    return only !== undefined && requests.length === 1
      ? { path: `${path}:embedContent`, body: only }
      : { path: `${path}:batchEmbedContents`, body: { requests } };
  },
  read({ body }, call) {
    if (call.items.length === 1) return readEmbedContent(body, call);
    const { embeddings: made } = objectIn(body, 'the answer');
    return { vectors: listIn(made, 'embeddings').map(vectorIn), adapt: adaptFor(call), promptTokens: undefined };
  },
};

export default defineFamily({
  id: 'gemini',
  title: 'Google Gemini API',
  baseUrl: 'https://generativelanguage.googleapis.com',
  versions: ['/v1beta/openai', '/v1beta', '/v1'],
  auth: { header: 'x-goog-api-key', prefix: '' },
  starter: {
    apiKeyEnv: 'GEMINI_API_KEY',
    models: [{ id: 'gemini-embedding-001', operations: ['embeddings'] }],
  },
  // The header with the version of Google's interactions API.
  forwards: ['api-revision'],
  errors: googleErrors,
  modelList: listAt('/v1beta/models?pageSize=1000', 'models', ({ name, supportedGenerationMethods: methods }) => ({
    id: typeof name === 'string' ? name.replace(/^models\//, '') : name,
    operations: operationsFor(methods, { embedContent: 'embeddings', batchEmbedContents: 'embeddings' }),
  })),
  // Google's own methods take no bearer key, and its OpenAI-compatible ones are documented with nothing else.
  chat: '/v1beta/openai/chat/completions',
  chatAuth: bearer(),
  offers: {
    gemini: {
      generate: {
        path: '/v1beta/{model}:{verb}',
        resource: resourceOf,
        passesErrors: true,
        facts: 'bytes and errors pass; streams are always requested as events',
      },
      embeddings: {
        path: '/v1beta/{model}:{verb}',
        resource: resourceOf,
        passesErrors: true,
        facts: 'bytes and errors pass; Google counts no tokens of them',
      },
    },
    interactions: {
      generate: {
        path: '/v1beta/interactions',
        passesErrors: true,
        facts: 'bytes pass, streams and errors too; stored objects belong to the project that created them',
      },
    },
    openai: {
      embeddings: {
        path: '/v1beta/models/{model}:batchEmbedContents',
        translation: translateEmbeddings(embeddings),
        facts:
          '100 inputs and 4 MiB a call; counts no tokens, so usage is estimated; `input_type` is sent as `taskType`; vectors of `gemini-embedding-001` with `dimensions` are normalised',
      },
    },
  },
});
