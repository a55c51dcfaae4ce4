/** Serves clients of Hugging Face inference: bodies as in Text Embeddings Inference, on paths that name a model and a task. */

import { type ApiMapping, defineClientApi } from '../core/client-api.ts';
import { embed, root, similarity } from './tei-embeddings.ts';

/** The paths of a task in Hugging Face's router and oldest clients; all begin with `/hf`, as they are too general without it. */
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

/** Paths without a task: the type of `inputs` decides whether embeddings or similarities are meant. */
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
