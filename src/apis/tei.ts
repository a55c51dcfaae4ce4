/** Client API of Text Embeddings Inference. Its servers have one model, so here the model is in the path, or the default one. */

import { type ApiMapping, defineClientApi, type EndpointView, notServed, type SeenModel } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import { operationRows } from '../core/operations/index.ts';
import { embed, root, similarity } from './tei-embeddings.ts';
import { predict } from './tei-predict.ts';

const id = 'tei';

function errorType(status: number): string {
  if (status === 429) return 'Overloaded';
  if (status === 503) return 'Unhealthy';
  return status >= 500 ? 'Backend' : 'Validation';
}

const standardServer = {
  model_dtype: 'float32',
  max_concurrent_requests: 512,
  max_input_length: 512,
  max_batch_tokens: 16_384,
  max_batch_requests: null,
  max_client_batch_size: 32,
  auto_truncate: true,
  tokenization_workers: 1,
};

function modelOf({ modelInPath, defaultModel, find }: EndpointView): SeenModel {
  const name = modelInPath ?? defaultModel('embeddings') ?? defaultModel('rerank');
  if (name !== undefined) return find(name);
  throw new GatewayError('missing_required_parameter', {
    param: 'model',
    message: 'No model is meant; ask for /tei/{model}/info, or have the operator set default_model.embeddings.',
  });
}

function kindOf({ operations }: SeenModel): unknown {
  if (operations.includes('embeddings')) return { embedding: { pooling: 'mean' } };
  const labels = { id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } };
  return operations.includes('rerank') ? { reranker: labels } : { classifier: labels };
}

/** Without a counterpart elsewhere: passes unchanged to TEI servers. */
const passingAt = (label: 'embed_sparse' | 'embed_all', summary: string): ApiMapping => ({
  operation: 'embeddings',
  paths: [`/${label}`, `/tei/{model}/${label}`],
  required: { inputs: 'string | array' },
  optional: { model: 'string', truncate: 'boolean', truncation_direction: 'string', prompt_name: 'string' },
  summary,
  passes: {
    label,
    row: { ...operationRows.embeddings, items: ['inputs'], countedInHeader: 'x-compute-tokens' },
  },
  enter() {
    throw notServed(
      `No upstream of the model is a server of Text Embeddings Inference, and no other has /${label}, with values for each token; POST to /embed for one vector for each text.`,
    );
  },
});

const sparse = passingAt(
  'embed_sparse',
  'Sparse vectors, over upstreams that are servers of Text Embeddings Inference.',
);
const all = passingAt(
  'embed_all',
  'A vector of each token, over upstreams that are servers of Text Embeddings Inference.',
);

export default defineClientApi({
  id,
  title: 'Text Embeddings Inference',
  prefix: '/tei',
  mappings: [embed, similarity, root, predict, sparse, all],
  fixedEndpoints: [
    {
      method: 'GET',
      paths: ['/info', '/tei/{model}/info'],
      summary: 'What a server of Text Embeddings Inference says of its model.',
      show(view) {
        const model = modelOf(view);
        return {
          model_id: model.id,
          served_model_name: model.id,
          model_sha: null,
          model_type: kindOf(model),
          ...standardServer,
          version: view.version,
          sha: null,
          docker_label: null,
        };
      },
    },
  ],
  standsFor: ({ path }) => (path === '/v1/rerank' ? ['/tei/rerank', '/tei/{model}/rerank'] : []),
  shape: 'tei',
  error: ({ status, message }) => ({ error: message, error_type: errorType(status) }),
});
