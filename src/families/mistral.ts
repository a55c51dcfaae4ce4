/** Declares Mistral as an upstream family: embeddings close to OpenAI's, and completions between prompt and suffix, answered in chat's format. */

import { bearer, defineFamily } from '../core/family.ts';
import type { Operation } from '../core/operations/index.ts';
import { type Asked, Unfit, vectorKinds } from '../core/translation.ts';
import { isMapping } from '../lib/is-mapping.ts';
import type { Json, JsonObject } from '../lib/json/json-text.ts';
import type { ChatFacts } from './bridges/chat-parameters.ts';
import { bridgesOver } from './bridges/index.ts';
import { createChatStream, readChatCompletion } from './wire-formats/completions/chat-completions.ts';
import {
  asksForNothing,
  type CompletionWireFormat,
  translateCompletions,
} from './wire-formats/completions/completions.ts';
import { type EmbeddingWireFormat, translateEmbeddings } from './wire-formats/embeddings/embeddings.ts';
import { readOpenaiEmbeddings } from './wire-formats/embeddings/openai-embeddings.ts';
import { listAt } from './wire-formats/model-lists.ts';
import { categoriesOf, mistralCategories } from './wire-formats/moderations/moderation-categories.ts';
import { type Finding, type Judgement, scoreIn, translateModerations } from './wire-formats/moderations/moderations.ts';
import { itemsInACall } from './wire-formats/options.ts';
import { hints } from './wire-formats/parameters.ts';
import { listIn, objectIn, textIn } from './wire-formats/reading.ts';

const chat = '/v1/chat/completions';

/** Limit of the inputs in a call, in bytes: a call may have 16,000 tokens (unverified), however many inputs there are. */
const mostInputBytes = 48 * 1024;

const embeddings: EmbeddingWireFormat = {
  limits: (_, { max_items: most }) => ({ items: Number(most), bytes: mostInputBytes }),
  hasDimensions: true,
  own: ['output_dtype', 'metadata'],
  isStrict: true,
  write: ({ items, isSingle, model, format, dimensions, more }) => ({
    body: {
      model,
      input: isSingle ? (items[0] ?? '') : items,
      ...more,
      ...(dimensions !== undefined && { output_dimension: dimensions }),
      ...(format === 'base64' && { encoding_format: format }),
    },
  }),
  read: readOpenaiEmbeddings,
};

const sampling = ['temperature', 'top_p', 'max_tokens', 'stop', 'stream', 'random_seed', 'metadata'];

/** How Mistral's chat differs: it refuses unknown parameters, `stream_options` among them; the names are unverified. */
const chatFacts: ChatFacts = {
  names: new Map([['seed', 'random_seed']]),
  knows: [
    ...sampling,
    ...['n', 'presence_penalty', 'frequency_penalty', 'response_format', 'safe_prompt', 'prompt_mode'],
    ...['reasoning_effort', 'prediction', 'guardrails'],
  ],
  countsUnasked: true,
};

/** All parameters of completions; that unknown ones are refused is unverified. */
const known = new Set([...sampling, 'suffix', 'min_tokens']);

const completions: CompletionWireFormat = {
  onePromptACall: true,
  oneChoice: true,
  parameters: fillParameters,
  write: ({ prompt, parameters, asked: { model } }) => ({ body: { model, prompt, ...parameters } }),
  read: readChatCompletion,
  stream: createChatStream,
};

function fillParameters(asked: Asked): JsonObject {
  const parameters: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries(asked.body)) {
    if (value === undefined) continue;
    if (known.has(name)) parameters[name] = value;
    else if (name === 'seed') parameters.random_seed = value;
    else if (hints.has(name)) asked.canDoWithout(name);
    else if (!isServedHere(name, value) && !asksForNothing(name, value)) asked.cannot(name);
  }
  return parameters;
}

/** Whether the gateway serves a parameter itself: it adds the prompt to the answer, and usage is always in the stream. */
function isServedHere(name: string, value: Json): boolean {
  if (name === 'echo') return typeof value === 'boolean';
  return name === 'model' || name === 'prompt' || name === 'stream_options';
}

/** The operations in a listed model's capabilities, which do not mention embeddings. */
function operationsOf(capabilities: unknown): readonly Operation[] | undefined {
  if (!isMapping(capabilities)) return undefined;
  const said: Operation[] = [];
  if (capabilities.completion_fim === true) said.push('completions');
  if (capabilities.moderation === true) said.push('moderations');
  if (capabilities.completion_chat === true) said.push('chat');
  return said.length > 0 ? said : undefined;
}

export const mistralModerations = translateModerations({
  own: ['metadata'],
  isStrict: true,
  write: ({ texts, isSingle, model, more }) => ({
    body: { ...more, model, input: isSingle ? (texts[0] ?? '') : texts },
  }),
  read({ body }, { asked }) {
    const { results, model, usage } = objectIn(body, 'the answer');
    const countsAll = asked.options.flagged_by !== 'mapped';
    return {
      judgements: listIn(results, 'results').map((result) => toJudgement(result, countsAll)),
      model: textIn(model),
      usage,
    };
  },
});

function toJudgement(result: Json, countsAll: boolean): Judgement {
  const { categories, category_scores: scores } = objectIn(result, 'a result');
  const said = Object.entries(objectIn(categories, 'categories'));
  if (said.length === 0) throw new Unfit('a result has no categories');
  const scored = scores === undefined ? undefined : objectIn(scores, 'category_scores');
  const findings = said.map(([name, verdict]): Finding => {
    if (typeof verdict !== 'boolean') throw new Unfit('a category is neither true nor false');
    const mapped = categoriesOf(mistralCategories, name) ?? [];
    const score = scored?.[name];
    return {
      categories: mapped,
      isFlagged: verdict && (countsAll || mapped.length > 0),
      score: score === undefined ? undefined : scoreIn(score),
    };
  });
  if (!countsAll && findings.every(({ categories: mapped }) => mapped.length === 0)) {
    throw new Unfit("a result has no category that is mapped to one of OpenAI's");
  }
  return { findings, original: result };
}

export default defineFamily({
  id: 'mistral',
  title: 'Mistral',
  baseUrl: 'https://api.mistral.ai',
  versions: ['/v1'],
  auth: bearer(),
  options: {
    max_items: itemsInACall('Inputs for embeddings in a call, at most.', 32),
    flagged_by: {
      description:
        'Which categories flag a text: `any`, or only those that OpenAI also has (`mapped`), so not `pii`, `health`, `law` and similar.',
      values: ['any', 'mapped'],
      default: 'any',
    },
  },
  starter: {
    apiKeyEnv: 'MISTRAL_API_KEY',
    models: [
      { id: 'mistral-embed', operations: ['embeddings'] },
      { id: 'codestral-latest', operations: ['completions'] },
      { id: 'mistral-moderation-latest', operations: ['moderations'] },
      { id: 'mistral-small-latest', operations: ['chat'] },
    ],
  },
  errors: {},
  modelList: listAt('/v1/models', 'data', ({ id, capabilities }) => ({ id, operations: operationsOf(capabilities) })),
  chat,
  bridges: () => bridgesOver(chat, chatFacts),
  offers: {
    conversations: {
      moderations: {
        path: '/v1/chat/moderations',
        facts: 'bytes pass: the last turn is classified in the context of the earlier ones',
      },
    },
    fim: { completions: { path: '/v1/fim/completions', facts: "bytes pass, and streams, for Mistral's own clients" } },
    openai: {
      completions: {
        path: '/v1/fim/completions',
        translation: translateCompletions(completions),
        facts: 'a call for each prompt; `suffix`; one choice, no `logprobs`, no penalties',
      },
      moderations: { path: '/v1/moderations', translation: mistralModerations, facts: 'texts only' },
      embeddings: {
        path: '/v1/embeddings',
        vectorKinds,
        translation: translateEmbeddings(embeddings),
        facts: '32 inputs a call (`max_items`), fewer if they are long; `dimensions` depends on the model',
      },
    },
  },
});
