/** Serves clients of vLLM's API: `score`, which is rerank in input order; pooling endpoints pass to vLLM servers only. */

import { type ApiMapping, defineClientApi, passedOn, refusedField } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import { operationRows } from '../core/operations/index.ts';
import type { Json, JsonObject } from '../lib/json/json-text.ts';
import { asList, rerankTokensIn, scoresIn, textsOf } from './canonical.ts';

const msPerS = 1_000;
/** The fields of the two sides to compare, by the names of each version of vLLM. */
const sides = [
  ['text_1', 'text_2'],
  ['queries', 'documents'],
  ['queries', 'items'],
  ['data_1', 'data_2'],
] as const;

interface Asked {
  readonly query: string;
  readonly documents: readonly string[];
}

const textsIn = (value: Json | undefined, field: string, model: Json | undefined): readonly string[] =>
  textsOf(
    asList(value),
    (text) => text,
    () => refusedField(field, model, 'it is a text or a list of texts'),
  );

function askedIn(body: JsonObject): Asked {
  const { model } = body;
  const named = sides.find(([one, other]) => body[one] !== undefined && body[other] !== undefined);
  if (named === undefined) {
    throw new GatewayError('missing_required_parameter', {
      param: 'text_1',
      message: 'The fields "text_1" and "text_2" are missing; send a string and an array of strings.',
    });
  }
  const [one, other] = named;
  const [query, ...more] = textsIn(body[one], one, model);
  if (query === undefined || more.length > 0) {
    throw refusedField(one, model, 'one text is held against others; send one call for each');
  }
  return { query, documents: textsIn(body[other], other, model) };
}

const eitherSide = 'string | array | object';

const score: ApiMapping = {
  operation: 'rerank',
  paths: ['/score', '/v1/score'],
  optional: {
    model: 'string',
    ...Object.fromEntries(sides.flat().map((name) => [name, eitherSide])),
  },
  watched: ['truncate_prompt_tokens'],
  summary: "Scores of one text with others, in vLLM's format.",
  passes: {
    label: 'score',
    needsAll: true,
    row: { ...operationRows.rerank, items: sides.map(([, other]) => other) },
  },
  enter(body) {
    const { model, truncate_prompt_tokens: cut } = body;
    if (cut !== undefined) throw refusedField('truncate_prompt_tokens', model, 'nobody can be told where to cut');
    const { query, documents } = askedIn(body);
    return {
      body: { model, query, documents },
      words: { clientApi: 'vllm', more: {} },
      ...(documents.length === 0 && { atOnce: { results: [] } }),
      write({ body: answer, model: id, id: exchangeId, nowMs }) {
        const scored = scoresIn(answer, documents).toSorted((a, b) => a.index - b.index);
        const tokens = rerankTokensIn(answer, query, documents);
        return {
          body: {
            id: `score-${exchangeId}`,
            object: 'list',
            created: Math.floor(nowMs / msPerS),
            model: id,
            data: scored.map((one) => ({ index: one.index, object: 'score', score: one.score })),
            usage: { prompt_tokens: tokens, total_tokens: tokens },
          },
        };
      },
    };
  },
};

const pooled = {
  operation: 'embeddings',
  optional: { model: 'string', input: 'string | array', messages: 'array' },
} as const;
const row = { ...operationRows.embeddings, items: ['input', 'messages'] };

const pooling = passedOn({
  ...pooled,
  paths: ['/pooling', '/v1/pooling'],
  summary: 'Output of a pooling model for each text or token, for upstreams of vLLM.',
  passes: { label: 'pooling', row },
  refusal:
    'No upstream of the model is vLLM, and no other has /pooling; POST to /v1/embeddings for one vector for each text.',
});

const classify = passedOn({
  ...pooled,
  paths: ['/classify'],
  summary: "Probabilities of the model's labels, for upstreams of vLLM.",
  passes: { label: 'classes', row },
  refusal:
    'No upstream of the model is vLLM, and no other has /classify; POST to /v1/moderations, or to /predict for its categories as labels.',
});

export default defineClientApi({
  id: 'vllm',
  title: 'vLLM',
  prefix: '/vllm',
  modelLists: ['/vllm/v1/models'],
  mappings: [score, pooling, classify],
});
