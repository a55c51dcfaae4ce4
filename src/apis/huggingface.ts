/** Client API of Hugging Face inference: the bodies of Text Embeddings Inference on paths that name a model and a task. */

import { type ApiMapping, defineClientApi } from '../core/client-api.ts';
import { embed, root, similarity } from './tei-embeddings.ts';

/** Paths of its router and its oldest clients, only with the prefix: without it they would be too general. */
function pathsOf(task: string): readonly [string, ...string[]] {
  return [
    `/hf/models/{model}/pipeline/${task}`,
    `/hf/hf-inference/models/{model}/pipeline/${task}`,
    `/hf/pipeline/${task}/{model}`,
  ];
}

const featureExtraction: ApiMapping = {
  ...embed,
  paths: pathsOf('feature-extraction'),
  summary: 'Embeddings in the format of Hugging Face inference.',
};

const sentenceSimilarity: ApiMapping = {
  ...similarity,
  paths: pathsOf('sentence-similarity'),
  summary: 'The cosines between one text and others, in the format of Hugging Face inference.',
};

/** Without a task in the path, the type of `inputs` decides. */
const ofAnyTask: ApiMapping = {
  ...root,
  paths: ['/hf/models/{model}', '/hf/hf-inference/models/{model}'],
  summary: 'Embeddings, or similarities if `inputs` is an object, in the format of Hugging Face inference.',
};

export default defineClientApi({
  id: 'huggingface',
  title: 'Hugging Face',
  prefix: '/hf',
  mappings: [featureExtraction, sentenceSimilarity, ofAnyTask],
  standsFor: ({ path }) => (path === '/v1/rerank' ? pathsOf('text-ranking') : []),
  shape: 'tei',
  error: ({ message }) => ({ error: message }),
});
