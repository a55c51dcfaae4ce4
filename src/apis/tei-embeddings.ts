/** Converts embeddings and similarity of texts in the client API of Text Embeddings Inference (TEI). */

import type { Buffer } from 'node:buffer';
import { type ApiMapping, type Entrance, type Passage, refusedField, wrongField } from '../core/client-api.ts';
import type { GatewayError } from '../core/errors.ts';
import { operationRows } from '../core/operations/index.ts';
import { Unfit } from '../core/translation.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { cosine } from '../lib/unit-length.ts';
import { asList, embeddingsFor, floatsOf, isBase64In, textsOf, wholeTexts } from './canonical.ts';

const id = 'tei';
const tokensHeader = 'x-compute-tokens';

export const passesAs = (
  label: 'embed' | 'embed_sparse' | 'embed_all' | 'predict',
  operation: 'embeddings' | 'moderations' = 'embeddings',
): Passage => ({ label, row: { ...operationRows[operation], items: ['inputs'], countedInHeader: tokensHeader } });

export const isForWholeTexts = { truncate: (json: Buffer): boolean => json.toString() === 'false' };

const passes = {
  ...passesAs('embed'),
  holds: { ...isForWholeTexts, prompt_name: (json: Buffer) => json.includes('"') },
};

function refusePrompt({ prompt_name: prompt, model }: JsonObject): void {
  if (prompt !== undefined) {
    throw refusedField('prompt_name', model, 'no upstream of it keeps prompts; write it into the texts');
  }
}

function enterEmbed(body: JsonObject): Entrance {
  const { inputs = '', model, encoding_format: format } = body;
  refusePrompt(body);
  const asked = {
    clientApi: id,
    model,
    inputs: asList(inputs),
    dimensions: body.dimensions,
    isBase64: isBase64In(format, model, 'float'),
    more: { truncate: body.truncate, truncation_direction: body.truncation_direction, normalize: body.normalize },
    demands: wholeTexts(id, 'truncate', body.truncate),
    asksForNothing: true,
    tokensHeader,
  } as const;
  return embeddingsFor(asked, ({ vectors }) => vectors);
}

export const embed: ApiMapping = {
  operation: 'embeddings',
  paths: ['/embed', '/tei/{model}/embed'],
  required: { inputs: 'string | string[]' },
  optional: {
    model: 'string',
    dimensions: 'number',
    encoding_format: 'string',
    normalize: 'boolean',
    truncate: 'boolean',
    truncation_direction: 'string',
  },
  watched: ['prompt_name'],
  summary: 'Embeddings in the format of Text Embeddings Inference.',
  passes,
  enter: enterEmbed,
};

function sentencesIn(inputs: Json | undefined): readonly string[] {
  const { source_sentence: source, sentences } = isJsonObject(inputs) ? inputs : {};
  if (typeof source !== 'string') throw wrongField('inputs.source_sentence', 'a string');
  const fault = (): GatewayError => wrongField('inputs.sentences', 'an array of strings');
  if (!isJsonList(sentences) || sentences.length === 0) throw fault();
  return [source, ...textsOf(sentences, (one) => one, fault)];
}

function enterSimilarity(body: JsonObject): Entrance {
  const { model, parameters } = body;
  const { prompt_name, truncate, truncation_direction } = isJsonObject(parameters) ? parameters : {};
  refusePrompt({ model, prompt_name: prompt_name ?? undefined });
  const texts = sentencesIn(body.inputs);
  const asked = {
    clientApi: id,
    model,
    inputs: texts,
    more: { truncate, truncation_direction },
    demands: wholeTexts(id, 'truncate', truncate),
    tokensHeader,
  };
  return embeddingsFor(asked, ({ vectors }) => {
    const [source = [], ...others] = floatsOf(vectors).map((vector) => vector.values());
    if (others.some(({ length }) => length !== source.length)) throw new Unfit('its vectors are not of one width');
    return others.map((other) => Math.max(-1, Math.min(1, cosine(source, other))));
  });
}

export const similarity: ApiMapping = {
  operation: 'embeddings',
  paths: ['/similarity', '/tei/{model}/similarity'],
  required: { inputs: 'object' },
  optional: { model: 'string', parameters: 'object' },
  summary: 'The cosines between one text and others, in the format of Text Embeddings Inference.',
  enter: enterSimilarity,
};

/** The root path, where a TEI server accepts the requests of its model, whatever that model does. */
export const root: ApiMapping = {
  operation: 'embeddings',
  paths: ['/tei', '/tei/{model}'],
  required: { inputs: 'string | string[] | object' },
  optional: { ...embed.optional, parameters: 'object' },
  watched: ['prompt_name'],
  passes,
  summary: 'Embeddings, or similarities if `inputs` is an object, as at the root path of Text Embeddings Inference.',
  enter: (body) => (isJsonObject(body.inputs) ? enterSimilarity(body) : enterEmbed(body)),
};
