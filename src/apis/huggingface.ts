/** Client API of Hugging Face inference: the bodies of Text Embeddings Inference on paths that name a model and a task. */

import { type ApiMapping, defineClientApi } from '../core/client-api.ts';
import { embed, root, similarity } from './tei-embeddings.ts';

/** As its router and the oldest of its clients have them, behind the prefix alone: without it they could mean much. */
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
  summary: "Embeddings as the clients of Hugging Face's inference ask for them.",
};

const sentenceSimilarity: ApiMapping = {
  ...similarity,
  paths: pathsOf('sentence-similarity'),
  summary: "The cosines between one text and others, as the clients of Hugging Face's inference ask for them.",
};

/** With no task in the path, what `inputs` is tells it. */
const ofAnyTask: ApiMapping = {
  ...root,
  paths: ['/hf/models/{model}', '/hf/hf-inference/models/{model}'],
  summary: "Embeddings, or with an object as `inputs` similarities, as the clients of Hugging Face's inference ask.",
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
