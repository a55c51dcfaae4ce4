/** Declares the operation `embeddings`: computes vectors for texts or lists of tokens. */

import { defineOperation } from './row.ts';

export const embeddings = defineOperation({
  path: '/v1/embeddings',
  words: { all: 'Embeddings', one: 'Embeddings' },
  offered: 2,
  yields: 'vectors',
  replayable: true,
  visibleModelsOnly: true,
  items: ['input'],
  counting: 'inputs',
  billedBy: ['input', 'request', 'item'],
  listedAs: { endpoint: 'embed', methods: ['embedContent', 'batchEmbedContents'] },
  namedLike: /embed|(^|[/_-])(bge|gte|e5|minilm|sbert|mpnet)([-_.]|$)|all-minilm|^voyage-|nomic-ai|jina-clip/,
  sample: { body: { input: 'the small gate' }, brief: { dimensions: 8 } },
  trial: { input: ['Hello, world'] },
  sdk: {
    call: 'embeddings',
    python: 'len(answer.data[0].embedding)',
    node: 'answer.data[0].embedding.length',
  },
});
