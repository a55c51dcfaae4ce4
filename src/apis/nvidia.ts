/** Serves clients of NVIDIA's `ranking` API, which scores passages by logits. */

import { type ApiMapping, defineClientApi, refusedField, wrongField } from '../core/client-api.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { rerankTokensIn, scoresIn } from './canonical.ts';

function textIn(value: Json | undefined, field: string, model: Json | undefined): string {
  if (isJsonObject(value) && value.image !== undefined) throw refusedField(field, model, 'texts alone are ranked here');
  const text = isJsonObject(value) ? value.text : undefined;
  if (typeof text === 'string') return text;
  throw wrongField(field, 'an object with a string under "text"', 'something else came');
}

function passagesIn({ passages, model }: JsonObject): readonly string[] {
  const list = isJsonList(passages) ? passages : [];
  return list.map((passage, index) => textIn(passage, `passages[${index}]`, model));
}

const ranking: ApiMapping = {
  operation: 'rerank',
  paths: ['/v1/ranking', '/v1/retrieval/{model}/reranking'],
  required: { query: 'object', passages: 'object[]' },
  optional: { model: 'string', truncate: 'string', top_k: 'number' },
  summary: "Rerank as NVIDIA's clients ask for it.",
  enter(body) {
    const { model, truncate } = body;
    if (truncate === 'NONE') throw refusedField('truncate', model, 'nobody can be told to refuse what is too long');
    const query = textIn(body.query, 'query', model);
    const documents = passagesIn(body);
    return {
      body: { model, query, documents },
      // Clients of this API read logits, so raw scores are preferred where the reranker can return them.
      words: { clientApi: 'nvidia', more: {}, prefersRawScores: true },
      ...(documents.length === 0 && { atOnce: { results: [] } }),
      write({ body: answer }) {
        const rankings = scoresIn(answer, documents).map(({ index, score }) => ({ index, logit: score }));
        const tokens = rerankTokensIn(answer, query, documents);
        return { body: { rankings, usage: { prompt_tokens: tokens, total_tokens: tokens } } };
      },
    };
  },
};

export default defineClientApi({
  id: 'nvidia',
  title: 'NVIDIA',
  prefix: '/nvidia',
  modelLists: ['/nvidia/v1/models'],
  mappings: [ranking],
  error: ({ message }) => ({ detail: message }),
});
