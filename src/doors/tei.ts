/** Clients of Text Embeddings Inference: a server of theirs has one model, so that ours stands in the path, or is the standard one. */

import { type Demand, type DoorWay, defineDoor, type PageView, refusedField, type SeenModel } from '../core/door.ts';
import { GatewayError } from '../core/errors.ts';
import { isJsonList, type JsonObject } from '../lib/json/json-text.ts';
import { base64Of, embeddingsIn, floatsOf, tokensIn } from './canonical.ts';

const id = 'tei';

/** As its own server says it of an error with such a status. */
function errorType(status: number): string {
  if (status === 429) return 'Overloaded';
  if (status === 503) return 'Unhealthy';
  return status >= 500 ? 'Backend' : 'Validation';
}

function demandsOf({ truncate }: JsonObject): readonly Demand[] {
  if (truncate !== false) return [];
  return [
    { field: 'truncate', what: 'can be told to refuse what is too long', isMetBy: ({ speaks }) => speaks === id },
  ];
}

const embed: DoorWay = {
  operation: 'embeddings',
  paths: ['/embed', '/tei/{model}/embed'],
  required: { inputs: 'string | string[]' },
  optional: {
    model: 'string',
    dimensions: 'number',
    encoding_format: 'string',
    truncate: 'boolean',
    truncation_direction: 'string',
    normalize: 'boolean',
  },
  watched: ['prompt_name'],
  summary: 'Embeddings as the clients of Text Embeddings Inference ask for them.',
  enter(body) {
    const { inputs = '', model, prompt_name: prompt, encoding_format: format } = body;
    if (prompt !== undefined)
      throw refusedField('prompt_name', model, 'no prompts are kept here; write it into the texts');
    if (format !== undefined && format !== 'float' && format !== 'base64') {
      throw refusedField('encoding_format', model, 'it is float or base64');
    }
    const texts = isJsonList(inputs) ? inputs : [inputs];
    return {
      body: { model, input: texts, dimensions: body.dimensions, encoding_format: format ?? 'float' },
      words: {
        door: id,
        more: {
          truncate: body.truncate,
          truncation_direction: body.truncation_direction,
          normalize: body.normalize,
        },
      },
      demands: demandsOf(body),
      write({ body: answer }) {
        const vectors = embeddingsIn(answer, texts);
        return {
          body: format === 'base64' ? base64Of(vectors) : floatsOf(vectors),
          headers: ['x-compute-tokens', String(tokensIn(answer, texts))],
        };
      },
    };
  },
};

/** What a server says of itself that was started without a word about it. */
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

function modelOf({ modelInPath, defaultModel, find }: PageView): SeenModel {
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

function onlyPooled(): never {
  throw new GatewayError('operation_not_supported', {
    message: 'Vectors of each token are not served here, only one for each text; POST to /embed.',
  });
}

export default defineDoor({
  id,
  title: 'Text Embeddings Inference',
  prefix: '/tei',
  grounds: [],
  ways: [embed],
  pages: [
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
    {
      method: 'POST',
      paths: ['/embed_all', '/tei/{model}/embed_all'],
      summary: 'Refused: there is one vector for each text.',
      show: onlyPooled,
    },
    {
      method: 'POST',
      paths: ['/embed_sparse', '/tei/{model}/embed_sparse'],
      summary: 'Refused: there is one dense vector for each text.',
      show: onlyPooled,
    },
  ],
  modelLists: [],
  standsFor: ({ path }) => (path === '/v1/rerank' ? ['/tei/rerank', '/tei/{model}/rerank'] : []),
  shape: 'tei',
  error: ({ status, message }) => ({ error: message, error_type: errorType(status) }),
});
