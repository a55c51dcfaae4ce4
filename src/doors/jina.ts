/** Jina AI's clients: `classify` passes to upstreams that have it. */

import { type DoorWay, defineDoor } from '../core/door.ts';
import { GatewayError } from '../core/errors.ts';
import { operationRows } from '../core/operations/index.ts';

const classify: DoorWay = {
  operation: 'embeddings',
  paths: ['/v1/classify'],
  required: { input: 'string | array' },
  optional: { model: 'string', labels: 'array', classifier_id: 'string' },
  watched: [],
  summary: "Texts under labels, as Jina AI's clients ask for them, over upstreams that have it.",
  passes: { label: 'classify', where: 'any does', row: { ...operationRows.embeddings, yields: 'verdicts' } },
  enter() {
    throw new GatewayError('operation_not_supported', {
      param: 'model',
      message: 'No upstream of the model classifies texts as Jina AI does, and nothing else here means the same.',
    });
  },
};

export default defineDoor({
  id: 'jina',
  title: 'Jina AI',
  prefix: '/jina',
  grounds: [],
  modelLists: [],
  ways: [classify],
  pages: [],
  error: ({ message }) => ({ detail: message }),
});
