/** Serves clients of Jina AI's API: embeddings, and `classify`, which passes to upstreams that have it. */

import { type ApiMapping, defineClientApi, passedOn, refusedField } from '../core/client-api.ts';
import { operationRows } from '../core/operations/index.ts';
import { type Purpose, plainText } from '../core/translation.ts';
import { isJsonList, type Json } from '../lib/json/json-text.ts';
import { asList, dataOf, embeddingsFor, kindOf, onlyOf, ownOf } from './canonical.ts';

const id = 'jina';

const purposes: ReadonlyMap<Json, Purpose> = new Map<Json, Purpose>([
  ['retrieval.passage', 'document'],
  ['retrieval.query', 'query'],
  ['classification', 'classification'],
  ['separation', 'clustering'],
]);

/** The requested type of vectors, which may be in a list of one; several types are refused. */
function typeIn(said: Json | undefined, model: Json | undefined): Json | undefined {
  if (!isJsonList(said)) return said;
  if (said.length <= 1) return onlyOf(said);
  throw refusedField('embedding_type', model, 'one type comes in an answer, so ask for each by itself');
}

const embeddings: ApiMapping = {
  operation: 'embeddings',
  paths: ['/jina/v1/embeddings'],
  required: { input: 'string | array' },
  optional: {
    model: 'string',
    task: 'string',
    dimensions: 'number',
    normalized: 'boolean',
    embedding_type: 'string | string[]',
    encoding_type: 'string',
    late_chunking: 'boolean',
    truncate: 'boolean',
  },
  watched: ['prompt_name'],
  summary: "Embeddings as Jina AI's clients ask for them.",
  enter(body) {
    const { model, task, normalized, late_chunking, truncate, prompt_name } = body;
    // `encoding_type` is LlamaIndex's name for the field.
    const { encoding_type, embedding_type = encoding_type } = body;
    const type = typeIn(embedding_type, model);
    const purpose = purposes.get(task ?? null);
    const asked = {
      clientApi: id,
      model,
      inputs: asList(body.input).map((input) => plainText(input)),
      dimensions: body.dimensions,
      kind: type === 'base64' ? undefined : kindOf(type, 'embedding_type', model),
      kindField: 'embedding_type',
      isBase64: type === 'base64',
      purpose,
      more: { ...(purpose === undefined && { task }), normalized, late_chunking, truncate, prompt_name },
      demands: late_chunking === true ? [ownOf(id, 'late_chunking', 'embeds texts in the context of all')] : [],
    };
    return embeddingsFor(asked, ({ vectors, tokens, model: name }) => ({
      model: name,
      object: 'list',
      usage: { total_tokens: tokens(), prompt_tokens: tokens() },
      data: dataOf(vectors),
    }));
  },
};

const classify = passedOn({
  operation: 'embeddings',
  paths: ['/v1/classify'],
  required: { input: 'string | array' },
  optional: { model: 'string', labels: 'array', classifier_id: 'string' },
  summary: "Classification of texts in Jina AI's format, for upstreams that have it.",
  passes: { label: 'classify', row: { ...operationRows.embeddings, yields: 'verdicts' } },
  refusal: 'No upstream of the model classifies texts as Jina AI does, and nothing else here means the same.',
});

export default defineClientApi({
  id,
  title: 'Jina AI',
  prefix: '/jina',
  mappings: [embeddings, classify],
  error: ({ message }) => ({ detail: message }),
});
