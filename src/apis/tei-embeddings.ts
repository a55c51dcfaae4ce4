/** Embeddings in the client API of Text Embeddings Inference: vectors, or similarity of texts. */

import { type ApiMapping, type Entrance, refusedField, wrongField } from '../core/client-api.ts';
import { Unfit } from '../core/translation.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { cosine } from '../lib/unit-length.ts';
import { asList, embeddingsFor, floatsOf, isBase64In, textsOf, wholeTexts } from './canonical.ts';

const id = 'tei';
/** The header with the count of tokens. */
export const countedIn = 'x-compute-tokens';

function refusePrompt({ prompt_name: prompt, model }: JsonObject): void {
  if (prompt !== undefined) {
    throw refusedField('prompt_name', model, 'no prompts are kept here; write it into the texts');
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
    countedIn,
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
  enter: enterEmbed,
};

function sentencesIn(inputs: Json | undefined): readonly string[] {
  const { source_sentence: source, sentences } = isJsonObject(inputs) ? inputs : {};
  if (typeof source !== 'string') throw wrongField('inputs.source_sentence', 'a string');
  if (!isJsonList(sentences) || sentences.length === 0) throw wrongField('inputs.sentences', 'an array of strings');
  return [
    source,
    ...textsOf(
      sentences,
      (one) => one,
      () => wrongField('inputs.sentences', 'an array of strings'),
    ),
  ];
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
    countedIn,
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

/** At its root a TEI server accepts whatever its model does. */
export const root: ApiMapping = {
  operation: 'embeddings',
  paths: ['/tei', '/tei/{model}'],
  required: { inputs: 'string | string[] | object' },
  optional: { ...embed.optional, parameters: 'object' },
  watched: ['prompt_name'],
  summary: 'Embeddings, or similarities if `inputs` is an object, as at the root path of Text Embeddings Inference.',
  enter: (body) => (isJsonObject(body.inputs) ? enterSimilarity(body) : enterEmbed(body)),
};
