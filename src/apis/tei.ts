/** Serves clients of Text Embeddings Inference (TEI). TEI servers have one model, so the path names one, or the default is used. */

import {
  type ApiMapping,
  defineClientApi,
  type EndpointView,
  passedOn,
  refusedField,
  type SeenModel,
} from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import { Unfit } from '../core/translation.ts';
import { at, listIn } from '../families/wire-formats/reading.ts';
import { isJsonObject, type Json, type JsonObject, numberOf } from '../lib/json/json-text.ts';
import { onlyOf, textsOf, wholeTexts } from './canonical.ts';
import { embed, isForWholeTexts, passesAs, root, similarity } from './tei-embeddings.ts';

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
    message: 'The path names no model; use /tei/{model}/info, or have the operator set default_model.embeddings.',
  });
}

function kindOf({ operations }: SeenModel): unknown {
  if (operations.includes('embeddings')) return { embedding: { pooling: 'mean' } };
  const labels = { id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } };
  return operations.includes('rerank') ? { reranker: labels } : { classifier: labels };
}

const onlySingle = 'a pair of texts has no categories; send one text, or lists of one text each';

/** The texts to classify: one text, or a list of lists with one text each, as TEI reads a plain list of texts as a pair. */
function textsIn({ inputs, model }: JsonObject): readonly string[] {
  if (typeof inputs === 'string') return [inputs];
  return textsOf(inputs, onlyOf, () => refusedField('inputs', model, onlySingle));
}

function labelsOf(result: Json): readonly Json[] {
  const scores = at(result, 'category_scores');
  if (!isJsonObject(scores)) throw new Unfit('a result has no scores');
  const labels = Object.entries(scores).flatMap(([label, score]) => {
    const value = numberOf(score);
    return value === undefined || score === undefined ? [] : [{ label, score, value }];
  });
  return labels.toSorted((one, other) => other.value - one.value).map(({ label, score }) => ({ label, score }));
}

const predict: ApiMapping = {
  operation: 'moderations',
  paths: ['/predict', '/tei/{model}/predict'],
  required: { inputs: 'string | array' },
  optional: { model: 'string', raw_scores: 'boolean', truncate: 'boolean', truncation_direction: 'string' },
  summary: 'Moderations in the format of classifiers of Text Embeddings Inference.',
  passes: { ...passesAs('predict', 'moderations'), holds: isForWholeTexts },
  enter(body) {
    const { inputs, model, raw_scores: raw } = body;
    if (raw === true) throw refusedField('raw_scores', model, 'scores of moderations are between 0 and 1');
    const texts = textsIn(body);
    return {
      body: { model, input: texts },
      words: { clientApi: id, more: {} },
      demands: wholeTexts(id, 'truncate', body.truncate),
      ...(texts.length === 0 && { atOnce: { results: [] } }),
      write({ body: answer }) {
        const results = listIn(at(answer, 'results'), 'results');
        if (results.length !== texts.length) throw new Unfit(`${results.length} results for ${texts.length} inputs`);
        const predicted = results.map(labelsOf);
        return { body: typeof inputs === 'string' ? (predicted[0] ?? []) : predicted };
      },
    };
  },
};

/** A TEI endpoint that no other service has: requests pass unchanged to TEI servers only. */
const passingAt = (label: 'embed_sparse' | 'embed_all', summary: string): ApiMapping =>
  passedOn({
    operation: 'embeddings',
    paths: [`/${label}`, `/tei/{model}/${label}`],
    required: { inputs: 'string | array' },
    optional: { model: 'string', truncate: 'boolean', truncation_direction: 'string', prompt_name: 'string' },
    summary,
    passes: passesAs(label),
    refusal: `No upstream of the model is a server of Text Embeddings Inference, and no other has /${label}, with values for each token; POST to /embed for one vector for each text.`,
  });

const sparse = passingAt('embed_sparse', 'Sparse vectors, from servers of Text Embeddings Inference.');
const all = passingAt('embed_all', 'A vector of each token, from servers of Text Embeddings Inference.');

export default defineClientApi({
  id,
  title: 'Text Embeddings Inference',
  prefix: '/tei',
  mappings: [embed, similarity, root, predict, sparse, all],
  fixedEndpoints: [
    {
      method: 'GET',
      paths: ['/info', '/tei/{model}/info'],
      summary: 'Information on a model, in the format of Text Embeddings Inference.',
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
