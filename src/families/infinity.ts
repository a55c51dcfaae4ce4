/** Declares the Infinity server as an upstream family: OpenAI's embeddings, a reranker and classifiers, with unversioned paths. */

import { bearer, defineFamily, type Options } from '../core/family.ts';
import { openaiEmbeddings } from './wire-formats/embeddings/openai-embeddings.ts';
import { listAt, operationsFor } from './wire-formats/model-lists.ts';
import { createLabelJudge, labelOptions } from './wire-formats/moderations/label-moderations.ts';
import { type ModerationWireFormat, translateModerations } from './wire-formats/moderations/moderations.ts';
import { itemsInACall } from './wire-formats/options.ts';
import { listIn, objectIn, textIn } from './wire-formats/reading.ts';
import { standardRerank } from './wire-formats/rerank/standard-rerank.ts';

const mostItems = 2048;

function classifierWith(options: Options): ModerationWireFormat {
  const judge = createLabelJudge(options);
  return {
    limits: { items: Number(options.max_items ?? mostItems) },
    own: [],
    isStrict: true,
    write: ({ texts, model }) => ({ body: { model, input: texts } }),
    read({ body }) {
      const { data, model, usage } = objectIn(body, 'the answer');
      return {
        judgements: listIn(data, 'data').map((labels, index) => judge(labels, index)),
        model: textIn(model),
        usage,
      };
    },
  };
}

export default defineFamily({
  id: 'infinity',
  title: 'Infinity',
  baseUrl: 'http://127.0.0.1:7997',
  auth: bearer(),
  options: {
    max_items: itemsInACall(
      "Inputs and documents in a call, at most: the server's INFINITY_MAX_CLIENT_BATCH_SIZE.",
      mostItems,
    ),
    ...labelOptions,
    usage_unit: {
      description:
        'What its `usage` counts: `characters` (tokens are then estimated), or `tokens` if it runs with `--lengths-via-tokenize`.',
      values: ['characters', 'tokens'],
      default: 'characters',
    },
  },
  errors: {},
  // This is Python's own message; that it reaches the client is unverified.
  signs: [{ status: 500, contains: 'surrogates not allowed', means: 400 }],
  refusesHalfCharacters: true,
  modelList: listAt('/models', 'data', ({ id, capabilities }) => ({
    id,
    operations: operationsFor(capabilities, { embed: 'embeddings', rerank: 'rerank', classify: 'moderations' }),
  })),
  offers: (options) => ({
    openai: {
      rerank: {
        path: '/rerank',
        translation: standardRerank({
          own: ['raw_scores'],
          // Documents come back as plain text, or null.
          echoes: 'otherwise',
          refusesNull: ['return_documents'],
          maxItems: Number(options.max_items ?? mostItems),
        }),
        scores: { scale: 'sigmoid', isSwitched: true },
        facts:
          '2,048 documents a call (`max_items`), 122,880 characters each; takes texts only; longer texts are truncated silently',
      },
      moderations: {
        path: '/classify',
        translation: translateModerations(classifierWith(options)),
        facts:
          '2,048 texts a call (`max_items`), 122,880 characters each; set `labels` for uncommon label names; longer texts are truncated silently',
      },
      embeddings: {
        path: '/embeddings',
        translation: openaiEmbeddings(
          {
            maxItems: mostItems,
            maxItemsOption: 'max_items',
            misreadsTokens: true,
            refusesNull: ['encoding_format', 'dimensions'],
          },
          options,
        ),
        facts:
          '2,048 inputs a call (`max_items`), 122,880 characters each; strips white space around them; longer texts are truncated silently',
      },
    },
  }),
});
