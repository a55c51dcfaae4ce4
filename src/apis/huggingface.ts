/** Clients of Hugging Face's inference: they ask as those of Text Embeddings Inference do, on paths that name a model and a task. */

import { type DoorWay, defineDoor } from '../core/door.ts';
import { embed, root, similarity } from './tei-embeddings.ts';

/** As its router and the oldest of its clients have them, behind the prefix alone: without it they could mean much. */
function pathsOf(task: string): readonly [string, ...string[]] {
  return [
    `/hf/models/{model}/pipeline/${task}`,
    `/hf/hf-inference/models/{model}/pipeline/${task}`,
    `/hf/pipeline/${task}/{model}`,
  ];
}

const featureExtraction: DoorWay = {
  ...embed,
  paths: pathsOf('feature-extraction'),
  summary: "Embeddings as the clients of Hugging Face's inference ask for them.",
};

const sentenceSimilarity: DoorWay = {
  ...similarity,
  paths: pathsOf('sentence-similarity'),
  summary: "The cosines between one text and others, as the clients of Hugging Face's inference ask for them.",
};

/** With no task in the path, what `inputs` is tells it. */
const ofAnyTask: DoorWay = {
  ...root,
  paths: ['/hf/models/{model}', '/hf/hf-inference/models/{model}'],
  summary: "Embeddings, or with an object as `inputs` similarities, as the clients of Hugging Face's inference ask.",
};

export default defineDoor({
  id: 'huggingface',
  title: 'Hugging Face',
  prefix: '/hf',
  grounds: [],
  ways: [featureExtraction, sentenceSimilarity, ofAnyTask],
  pages: [],
  modelLists: [],
  standsFor: ({ path }) => (path === '/v1/rerank' ? pathsOf('text-ranking') : []),
  shape: 'tei',
  error: ({ message }) => ({ error: message }),
});
