/** Declares Hugging Face Text Embeddings Inference (TEI): OpenAI's embeddings, and rerank and classifiers in TEI's own format. */

import { bearer, defineFamily, type ModelList, type Offer, type Options } from '../core/family.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { openaiEmbeddings } from './wire-formats/embeddings/openai-embeddings.ts';
import { operationsFor } from './wire-formats/model-lists.ts';
import { createLabelJudge, labelOptions } from './wire-formats/moderations/label-moderations.ts';
import { type ModerationWireFormat, translateModerations } from './wire-formats/moderations/moderations.ts';
import { itemsInACall } from './wire-formats/options.ts';
import { countInHeader, listIn } from './wire-formats/reading.ts';
import { type RerankWireFormat, rankedIn, translateRerank } from './wire-formats/rerank/rerank.ts';

const mostItems = ({ max_items: most }: Options): number => Number(most);

const rerank: RerankWireFormat = {
  limits: (_, options) => ({ items: mostItems(options) }),
  own: ['truncate', 'truncation_direction', 'raw_scores'],
  write: ({ query, documents, more }) => ({ body: { ...more, query, texts: documents } }),
  read: ({ body, headers }) => ({
    results: rankedIn(body, 'the answer', 'score'),
    promptTokens: countInHeader(headers, tokensHeader),
  }),
};

function moderationsWith(options: Options): ModerationWireFormat {
  const judge = createLabelJudge(options);
  return {
    limits: { items: mostItems(options) },
    own: ['truncate', 'truncation_direction'],
    write({ texts, more: { raw_scores: raw, ...more }, asked }) {
      if (raw !== undefined && raw !== false) asked.cannot('raw_scores', 'is judged by scores between 0 and 1');
      // Two texts in one list would be one pair; each must be in its own list.
      return { body: { ...more, inputs: texts.map((text) => [text]) } };
    },
    read({ body, headers }) {
      const tokens = countInHeader(headers, tokensHeader);
      return {
        judgements: listIn(body, 'the answer').map((labels, index) => judge(labels, index)),
        usage: tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens },
      };
    },
  };
}

const tokensHeader = 'x-compute-tokens';

const passing = (path: string, what: string): Offer => ({
  path,
  namesNoModel: true,
  facts: `bytes pass: ${what}; the tokens are those of the header \`x-compute-tokens\``,
});

const modelList: ModelList = {
  path: '/info',
  takesAnyName: true,
  read(body) {
    if (!isMapping(body) || typeof body.model_id !== 'string') return undefined;
    const kinds = isMapping(body.model_type) ? Object.keys(body.model_type) : undefined;
    const operations = operationsFor(kinds, {
      embedding: 'embeddings',
      reranker: 'rerank',
      classifier: 'moderations',
    });
    return [operations === undefined ? { id: body.model_id } : { id: body.model_id, operations }];
  },
};

export default defineFamily({
  id: 'tei',
  title: 'Text Embeddings Inference',
  baseUrl: 'http://127.0.0.1:3000',
  versions: ['/v1'],
  auth: bearer(),
  options: {
    max_items: itemsInACall("Inputs and documents in a call, at most: the server's --max-client-batch-size.", 32),
    ...labelOptions,
  },
  // 424: the backend failed; clients do not know this status.
  errors: { statuses: { 424: 502 } },
  modelList,
  offers: (options) => ({
    embed: { embeddings: passing('/embed', 'for whole texts, or by a stored prompt') },
    predict: { moderations: passing('/predict', 'for whole texts') },
    embed_sparse: { embeddings: passing('/embed_sparse', 'weights of tokens') },
    embed_all: { embeddings: passing('/embed_all', 'a vector of each token') },
    openai: {
      rerank: {
        path: '/rerank',
        translation: translateRerank(rerank),
        scores: { scale: 'sigmoid', isSwitched: true },
        facts: '32 documents a call (`max_items`)',
      },
      moderations: {
        path: '/predict',
        translation: translateModerations(moderationsWith(options)),
        facts: '32 texts a call (`max_items`); set `labels` for uncommon label names',
      },
      embeddings: {
        path: '/v1/embeddings',
        translation: openaiEmbeddings(
          { maxItems: 32, maxItemsOption: 'max_items', misreadsTokens: true, refusesNull: ['encoding_format'] },
          options,
        ),
        facts: '32 inputs a call (`max_items`)',
        perilOfTokenIds: 'the server ends at one that is not in its vocabulary',
      },
    },
  }),
});
