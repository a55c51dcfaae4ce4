/** Text Embeddings Inference's `predict` over moderations: each category is a label with its score. */

import { type ApiMapping, refusedField } from '../core/client-api.ts';
import { Unfit } from '../core/translation.ts';
import { at, listIn } from '../families/wire-formats/reading.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject, numberOf } from '../lib/json/json-text.ts';

const onlySingle = 'a pair of texts has no categories; send one text, or lists of one text each';

/** A text, or a list of lists with one text each: TEI reads a plain list of texts as a pair. */
function textsIn({ inputs, model }: JsonObject): readonly string[] {
  if (typeof inputs === 'string') return [inputs];
  const list = isJsonList(inputs) ? inputs : [];
  return list.map((element) => {
    const [text, ...more] = isJsonList(element) ? element : [];
    if (typeof text === 'string' && more.length === 0) return text;
    throw refusedField('inputs', model, onlySingle);
  });
}

/** The highest first. */
function labelsOf(result: Json): readonly Json[] {
  const scores = at(result, 'category_scores');
  if (!isJsonObject(scores)) throw new Unfit('a result has no scores');
  const labels = Object.entries(scores).flatMap(([label, score]) => {
    const value = numberOf(score);
    return value === undefined || score === undefined ? [] : [{ label, score, value }];
  });
  return labels.toSorted((one, other) => other.value - one.value).map(({ label, score }) => ({ label, score }));
}

export const predict: ApiMapping = {
  operation: 'moderations',
  paths: ['/predict', '/tei/{model}/predict'],
  required: { inputs: 'string | array' },
  optional: { model: 'string', raw_scores: 'boolean', truncate: 'boolean', truncation_direction: 'string' },
  summary: 'Moderations as the clients of Text Embeddings Inference ask a classifier.',
  enter(body) {
    const { inputs, model, raw_scores: raw, truncate } = body;
    if (raw === true) throw refusedField('raw_scores', model, 'scores of moderations are between 0 and 1');
    if (truncate === false) throw refusedField('truncate', model, 'nobody can be told to refuse what is too long');
    const texts = textsIn(body);
    return {
      body: { model, input: texts },
      words: { clientApi: 'tei', more: {} },
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
