/** Serves clients of Ollama's API: embeddings in both versions, and the endpoints that its clients call first. */

import { createHash } from 'node:crypto';
import { type ApiMapping, defineClientApi, type Entrance, missingField, type SeenModel } from '../core/client-api.ts';
import { isJsonList, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { asList, embeddingsFor, wholeTexts } from './canonical.ts';
import { chat, generate } from './ollama-chat.ts';

const id = 'ollama';
/** The tag that a model's name without a tag means. */
const standardTag = ':latest';
const nsPerMs = 1e6;
const msPerS = 1_000;
/** The reported version of Ollama, which its clients accept. */
const spokenVersion = '0.12.0';

const isNothing = (input: Json | undefined): boolean =>
  input === undefined || input === '' || (isJsonList(input) && input.length === 0);

/** The request for embeddings; a client that sends no text only wants the model loaded. */
function entranceOf(body: JsonObject, input: Json | undefined, write: Parameters<typeof embeddingsFor>[1]): Entrance {
  const { model, dimensions, truncate, options, keep_alive } = body;
  const inputs = isNothing(input) ? [] : asList(input);
  const more = { truncate, options, keep_alive };
  const demands = wholeTexts(id, 'truncate', truncate);
  const entrance = embeddingsFor({ clientApi: id, model, inputs, dimensions, more, demands }, write);
  return { ...entrance, body: { ...entrance.body, input: input ?? '' } };
}

const embed: ApiMapping = {
  operation: 'embeddings',
  paths: ['/api/embed'],
  required: { model: 'string' },
  optional: {
    input: 'string | string[]',
    truncate: 'boolean',
    dimensions: 'number',
    options: 'object',
    keep_alive: 'string | number',
  },
  summary: "Embeddings as Ollama's clients ask for them.",
  enter: (body) =>
    entranceOf(body, body.input, ({ vectors, tokens, model, tookMs }) => ({
      model: typeof body.model === 'string' ? body.model : model,
      embeddings: vectors,
      total_duration: Math.round(tookMs * nsPerMs),
      load_duration: 0,
      prompt_eval_count: tokens(),
    })),
};

const embeddings: ApiMapping = {
  operation: 'embeddings',
  paths: ['/api/embeddings'],
  required: { model: 'string' },
  optional: { prompt: 'string', options: 'object', keep_alive: 'string | number' },
  summary: "The embedding of one text, in Ollama's older format.",
  enter: ({ prompt, ...body }) => entranceOf(body, prompt, ({ vectors: [embedding = []] }) => ({ embedding })),
};

/** Ollama's names for operations; an operation that Ollama has no name for is left out. */
const capabilities: Readonly<Record<string, readonly string[]>> = {
  embeddings: ['embedding'],
  completions: ['completion'],
  chat: ['completion', 'tools'],
};

const capabilitiesOf = ({ operations }: SeenModel): readonly string[] => [
  ...new Set(operations.flatMap((operation) => capabilities[operation] ?? [])),
];

const isServed = (model: SeenModel): boolean => capabilitiesOf(model).length > 0;

/** Facts of a model that stay empty, because another service runs it. */
const details = {
  parent_model: '',
  format: '',
  family: 'postern',
  families: ['postern'],
  parameter_size: '',
  quantization_level: '',
};

const dateOf = (seconds: number): string => new Date(seconds * msPerS).toISOString();

const tagged = (model: string): string =>
  model.slice(model.lastIndexOf('/') + 1).includes(':') ? model : model + standardTag;

/** The other spelling of a model's name: without the default tag, or with it. */
export const withOrWithoutTag = (name: string): readonly string[] =>
  name.endsWith(standardTag) ? [name.slice(0, -standardTag.length)] : [name + standardTag];

export default defineClientApi({
  id,
  title: 'Ollama',
  prefix: '/ollama',
  grounds: ['/api/'],
  mappings: [embed, embeddings, generate, chat],
  fixedEndpoints: [
    {
      method: 'GET',
      paths: ['/'],
      summary: 'Returns "Ollama is running", which clients check for.',
      text: 'Ollama is running',
    },
    {
      method: 'GET',
      paths: ['/api/tags'],
      summary: "The visible models that the caller's key may use, in Ollama's format.",
      show: ({ models }) => ({
        models: models.filter(isServed).map((model) => ({
          name: tagged(model.id),
          model: tagged(model.id),
          modified_at: dateOf(model.createdAtS),
          size: 0,
          // Clients identify models by the digest.
          digest: createHash('sha256').update(model.id).digest('hex'),
          details,
          capabilities: capabilitiesOf(model),
        })),
      }),
    },
    {
      method: 'POST',
      paths: ['/api/show'],
      summary: "One model as Ollama's clients look at it.",
      show({ body, find }) {
        // Older clients send `name` in place of `model`.
        const named = body.model ?? body.name;
        if (typeof named !== 'string') throw missingField('model', 'a string');
        const model = find(named);
        return {
          details,
          model_info: {
            'general.architecture': 'postern',
            'general.basename': model.id,
            ...(model.context !== undefined && { 'postern.context_length': model.context }),
          },
          capabilities: capabilitiesOf(model),
          modified_at: dateOf(model.createdAtS),
        };
      },
    },
    {
      method: 'GET',
      paths: ['/api/version'],
      summary: "The supported version of Ollama's API.",
      show: () => ({ version: spokenVersion }),
    },
    {
      method: 'GET',
      paths: ['/api/ps'],
      summary: 'Loaded models: always empty, as the gateway does not know.',
      show: () => ({ models: [] }),
    },
  ],
  // Ollama's documentation uses `curl -d` without a header, which declares a form.
  takesAnyMediaType: true,
  otherNames: withOrWithoutTag,
  error: ({ message }) => ({ error: message }),
});
