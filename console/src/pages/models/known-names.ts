/** What a model is for by its own name, where no list says it: only names that leave no doubt. */

import type { Operation } from '../../../../src/admin/contract.ts';

/** The first that fits: a reranker is often named after the embedding model that it comes from. */
const names: readonly (readonly [RegExp, Operation])[] = [
  [/rerank|ranker|cross-encoder/, 'rerank'],
  [/moderation|llama-guard|shieldgemma/, 'moderations'],
  [/embed|(^|[/_-])(bge|gte|e5|minilm|sbert|mpnet)([-_.]|$)|all-minilm|^voyage-|nomic-ai|jina-clip/, 'embeddings'],
  [/(^|[/_-])(davinci|babbage|curie|ada)-00\d$|-turbo-instruct|^(davinci|babbage)$/, 'completions'],
];

/** Empty where the name says nothing. */
export function operationsByName(name: string): readonly Operation[] {
  const found = names.find(([pattern]) => pattern.test(name.toLowerCase()));
  return found === undefined ? [] : [found[1]];
}
