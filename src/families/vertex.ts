/** Declares Google's Vertex AI as an upstream family: embeddings by a prediction method, and by another method for newer models. */

import { defineFamily, type Options } from '../core/family.ts';
import { googleSigner } from './signing/google.ts';
import { byModel } from './wire-formats/conversation.ts';
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
import { at, countIn, listIn, objectIn, sumOf } from './wire-formats/reading.ts';

/** Whether the model has its own method for embeddings, as those from the second generation on. */
const embedsContent = (model: string): boolean => /gemini-embedding-(?!001)/.test(model);

const models = '/v1/projects/{project}/locations/{location}/publishers/google/models/{model}';

const predict: EmbeddingWireFormat = {
  limits: (model, options) => ({ items: mostInstances(model, options), tokens: 20_000 }),
  hasDimensions: true,
  own: [...ofTheTask, 'autoTruncate'],
  purposes: purposesInGoogle,
  isStrict: true,
  write(call) {
    const { items, more, dimensions } = call;
    const parameters = { outputDimensionality: dimensions, autoTruncate: more.autoTruncate };
    return {
      body: {
        instances: items.map((content) => ({ content, task_type: taskTypeOf(call), title: titleOf(call) })),
        parameters: Object.values(parameters).some((value) => value !== undefined) ? parameters : undefined,
      },
    };
  },
  read({ body }, call) {
    const predictions = listIn(objectIn(body, 'the answer').predictions, 'predictions');
    const made = predictions.map((prediction) => objectIn(prediction, 'a prediction').embeddings);
    return {
      vectors: made.map(vectorIn),
      adapt: adaptFor(call),
      promptTokens: sumOf(made.map((one) => countIn(at(one, 'statistics', 'token_count')))),
    };
  },
};

const embedContent: EmbeddingWireFormat = {
  limits: { items: 1 },
  hasDimensions: true,
  own: [...ofTheTask, 'autoTruncate'],
  purposes: purposesInGoogle,
  isStrict: true,
  write(call) {
    const { items, more, dimensions } = call;
    const config = {
      taskType: taskTypeOf(call),
      title: titleOf(call),
      outputDimensionality: dimensions,
      autoTruncate: more.autoTruncate,
    };
    return {
      path: `${models}:embedContent`,
      body: {
        content: toContent(items[0] ?? ''),
        embedContentConfig: Object.values(config).some((value) => value !== undefined) ? config : undefined,
      },
    };
  },
  read: ({ body }, call) => readEmbedContent(body, call),
};

function mostInstances(model: string, options: Options): number {
  if (options.max_items !== undefined) return Number(options.max_items);
  return model.includes('gemini-embedding') ? 1 : 250;
}

const translations = { predict: translateEmbeddings(predict), embedContent: translateEmbeddings(embedContent) };

export default defineFamily({
  id: 'vertex',
  title: 'Google Vertex AI',
  environment: ['GOOGLE_APPLICATION_CREDENTIALS'],
  baseUrl: 'https://{location}-aiplatform.googleapis.com',
  addressFor({ location }) {
    if (location === 'global') return 'https://aiplatform.googleapis.com';
    return location === 'us' || location === 'eu' ? `https://aiplatform.${location}.rep.googleapis.com` : undefined;
  },
  versions: ['/v1', '/v1beta1'],
  credential: 'document',
  signer: googleSigner,
  options: {
    project: { description: 'The ID of the project.', pattern: /^[a-z0-9][a-z0-9.:-]*$/, required: true },
    location: {
      description: 'The location of the models, such as `us-central1`, `eu` or `global`.',
      pattern: /^[a-z][a-z0-9-]*$/,
      required: true,
    },
    max_items: {
      description: 'Maximum of inputs in a call of `:predict`, if it is not the limit that Postern knows.',
      pattern: /^[1-9]\d{0,3}$/,
      form: 'a whole number from 1 to 9999',
    },
  },
  errors: googleErrors,
  chat: '/v1/projects/{project}/locations/{location}/endpoints/openapi/chat/completions',
  // Models of other makers have the maker before the name.
  chatModel: (name) => (name.includes('/') ? name : `google/${name}`),
  chatFacts: 'Gemini models are named `google/...` (added if the name has no maker), others `maker/model`',
  offers: {
    gemini: {
      generate: {
        path: `${models}:{verb}`,
        passesErrors: true,
        facts: 'bytes and errors pass; streams are always requested as events',
      },
      embeddings: {
        path: `${models}:{verb}`,
        verbs: ['embedContent'],
        passesErrors: true,
        facts: 'bytes and errors pass; one content a call, of models from `gemini-embedding-2` on',
      },
    },
    openai: {
      embeddings: {
        path: `${models}:predict`,
        translation: {
          ...byModel((model) => translations[embedsContent(model) ? 'embedContent' : 'predict']),
          hasRoles: true,
        },
        facts:
          '`api_key_file` names the JSON file of a service account, or `api_key` is an access token; 250 inputs and about 20,000 tokens a call; `gemini-embedding-001` one (unverified; `max_items` changes it), `gemini-embedding-2` one, by `:embedContent`; longer texts are truncated silently unless `autoTruncate` is false; `input_type` is sent as `task_type`; vectors of `gemini-embedding-001` with `dimensions` are normalised',
      },
    },
  },
});
