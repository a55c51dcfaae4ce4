/** Translates embeddings for each vendor's models on AWS Bedrock. The model name tells the vendor, also behind a region or profile. */

import type { Asked, ListLimits } from '../../../core/translation.ts';
import { at, countIn, countInHeader, listIn, objectIn } from '../reading.ts';
import { cohereInputTypes, type EmbeddingWireFormat } from './embeddings.ts';

/** Whether a Titan model accepts a width; the first generation has a fixed one. */
const titanHasDimensions = ({ model }: Asked): boolean => /titan-embed-(?:image|text-v(?!1\b))/.test(model);

interface BedrockWireFormat extends EmbeddingWireFormat {
  readonly limits: ListLimits;
}

const titan: BedrockWireFormat = {
  limits: { items: 1 },
  hasDimensions: titanHasDimensions,
  own: ['normalize'],
  speaks: 'titan',
  isStrict: true,
  write({ items, dimensions, more, model }) {
    const [text = ''] = items;
    if (!model.includes('titan-embed-image')) return { body: { inputText: text, dimensions, ...more } };
    const embeddingConfig = dimensions === undefined ? undefined : { outputEmbeddingLength: dimensions };
    return { body: { inputText: text, embeddingConfig, ...more } };
  },
  read({ body }, { items }) {
    const { embedding, inputTextTokenCount: count } = objectIn(body, 'the answer');
    // For an empty list an empty text is embedded, and its vector dropped.
    return { vectors: [embedding ?? null].slice(0, items.length), promptTokens: countIn(count) };
  },
};

const nova: BedrockWireFormat = {
  limits: { items: 1 },
  hasDimensions: true,
  own: ['embeddingPurpose', 'truncationMode'],
  purposes: {
    name: 'embeddingPurpose',
    words: {
      document: 'GENERIC_INDEX',
      query: 'GENERIC_RETRIEVAL',
      classification: 'CLASSIFICATION',
      clustering: 'CLUSTERING',
    },
  },
  speaks: 'nova',
  isStrict: true,
  write: ({ items: [text = ''], dimensions, more }) => ({
    body: {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: more.embeddingPurpose ?? 'GENERIC_INDEX',
        embeddingDimension: dimensions,
        text: { truncationMode: more.truncationMode ?? 'END', value: text },
      },
    },
  }),
  read({ body }, { items }) {
    const { embeddings, inputTokenCount: count } = objectIn(body, 'the answer');
    const vectors = listIn(embeddings, 'embeddings').map((one) => at(one, 'embedding') ?? null);
    return { vectors: items.length === 0 ? [] : vectors, promptTokens: countIn(count) };
  },
};

/** Whether a Cohere model is of the third generation, which has a fixed width and needs no type of numbers. */
const isThirdGeneration = (model: string): boolean => /cohere\.embed-[a-z-]+-v3/.test(model);

const cohere: BedrockWireFormat = {
  limits: { items: 96 },
  hasDimensions: ({ model }) => !isThirdGeneration(model),
  own: ['input_type', 'truncate'],
  purposes: cohereInputTypes,
  speaks: 'cohere',
  isStrict: true,
  write: ({ items, dimensions, more, model }) => ({
    body: {
      input_type: 'search_document',
      ...more,
      texts: items,
      embedding_types: isThirdGeneration(model) ? undefined : ['float'],
      output_dimension: dimensions,
    },
  }),
  read({ body, headers }) {
    const { id, embeddings } = objectIn(body, 'the answer');
    return {
      beside: { id },
      vectors: listIn(at(embeddings, 'float') ?? embeddings, 'embeddings'),
      promptTokens: tokensIn(headers),
    };
  },
};

export const tokensIn = (headers: readonly string[]): number | undefined =>
  countInHeader(headers, 'x-amzn-bedrock-input-token-count');

/** The wire format of a model's embeddings; undefined for a model that does not embed. */
export function bedrockEmbeddings(model: string): BedrockWireFormat | undefined {
  if (model.includes('titan-embed')) return titan;
  if (model.includes('cohere.embed')) return cohere;
  return /nova.*embed/.test(model) ? nova : undefined;
}
