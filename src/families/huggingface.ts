/** Declares Hugging Face inference, behind its router, as an upstream family: text features as embeddings, text classification as moderations. */

import { GatewayError } from '../core/errors.ts';
import { bearer, defineFamily } from '../core/family.ts';
import { Unfit } from '../core/translation.ts';
import { isJsonList, type Json, JsonNumbers, numberOf } from '../lib/json/json-text.ts';
import { sliceIfOver } from '../lib/time-slices.ts';
import { type EmbeddingWireFormat, translateEmbeddings } from './wire-formats/embeddings/embeddings.ts';
import { createLabelJudge, labelOptions } from './wire-formats/moderations/label-moderations.ts';
import { translateModerations } from './wire-formats/moderations/moderations.ts';
import { itemsInACall } from './wire-formats/options.ts';
import { at, isVector, listIn } from './wire-formats/reading.ts';

/** The model's name in a path: `owner/name` as two segments; a few old models have no owner. A longer name would be another path. */
function modelPath(model: string): string {
  const segments = model.split('/');
  if (segments.length > 2 || segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw new GatewayError('model_not_found', { param: 'model' });
  }
  return `/hf-inference/models/${segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/')}`;
}

const embeddings: EmbeddingWireFormat = {
  limits: (_, { max_items: most }) => ({ items: Number(most) }),
  hasDimensions: false,
  own: ['normalize', 'prompt_name', 'truncate', 'truncation_direction', 'parameters', 'options'],
  write: ({ items, model, more }) => ({
    path: `${modelPath(model)}/pipeline/feature-extraction`,
    body: { ...more, inputs: items },
  }),
  read: async ({ body }, { items }) => ({ vectors: await vectorsIn(body, items.length), promptTokens: undefined }),
};

/** The vectors of an answer: one for each input, or for each of its tokens; for a single input the outer list may be missing. */
async function vectorsIn(body: Json, count: number): Promise<readonly Json[]> {
  if (isVector(body) && count === 1) return [body];
  const list = listIn(body, 'the answer');
  const isOfOne = count === 1 && list.length > 1 && list.every(isVector);
  if (isOfOne) return [await pooled(list)];
  const vectors: Json[] = [];
  for (const element of list) vectors.push(await toVector(element));
  return vectors;
}

async function toVector(element: Json): Promise<Json> {
  if (!isJsonList(element)) return element;
  const [only] = element;
  return await pooled(element.length === 1 && isJsonList(only) ? only : element);
}

/** The mean of the token vectors of one input, computed in time slices. */
async function pooled(rows: readonly Json[]): Promise<JsonNumbers> {
  const [first, ...others] = rows.map((row) => {
    if (isVector(row)) return row;
    throw new Unfit('what stands for an input holds something other than vectors');
  });
  if (first === undefined) throw new Unfit('an input has no vector');
  if (others.length === 0) return first;
  const sums = first.values();
  for (const row of others) {
    if (row.length !== sums.length) throw new Unfit('the vectors of the tokens have several widths');
    for (const [index, value] of row.values().entries()) sums[index] = (sums[index] ?? 0) + value;
    await sliceIfOver();
  }
  const means = sums.map((sum) => sum / rows.length);
  if (!means.every(Number.isFinite)) throw new Unfit('the mean of the vectors of the tokens is no number');
  return new JsonNumbers(`[${means.join(',')}]`, means.length);
}

function retryAfterS(body: Json): number | undefined {
  const seconds = numberOf(at(body, 'estimated_time'));
  return seconds !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

export default defineFamily({
  id: 'huggingface',
  title: 'Hugging Face Inference',
  environment: ['HF_TOKEN'],
  baseUrl: 'https://router.huggingface.co',
  versions: ['/v1', '/hf-inference'],
  auth: bearer(),
  options: {
    max_items: itemsInACall('Embeddings: inputs in a call, at most.', 32),
    ...labelOptions,
  },
  errors: { retryAfterS },
  chat: '/v1/chat/completions',
  offers: (options) => {
    const judge = createLabelJudge(options);
    return {
      openai: {
        embeddings: {
          path: '/hf-inference/models/{model}/pipeline/feature-extraction',
          translation: translateEmbeddings(embeddings),
          facts:
            '32 inputs a call (`max_items`; its own limit is unverified); a model with a vector for each token returns their mean; counts no tokens',
        },
        moderations: {
          path: '/hf-inference/models/{model}',
          translation: translateModerations({
            limits: { items: 1 },
            own: ['parameters', 'options'],
            write: ({ texts, model, more }) => ({ path: modelPath(model), body: { ...more, inputs: texts[0] ?? '' } }),
            read({ body }) {
              const list = listIn(body, 'the answer');
              const [only] = list;
              // The labels of a single text may be in a list of their own.
              return { judgements: [judge(list.length === 1 && isJsonList(only) ? only : list, 0)] };
            },
          }),
          facts: 'text classifiers; a call for each text; set `labels` for uncommon label names',
        },
      },
    };
  },
});
