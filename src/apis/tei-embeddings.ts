/** Embeddings in the client API of Text Embeddings Inference: vectors, or similarity of texts. */

import { type ApiMapping, type Entrance, refusedField, wrongField } from '../core/client-api.ts';
import { Unfit } from '../core/translation.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { base64Of, embeddingsIn, floatsOf, tokensIn } from './canonical.ts';
import { wholeTexts } from './like-openai.ts';

const id = 'tei';

function refusePrompt({ prompt_name: prompt, model }: JsonObject): void {
  if (prompt !== undefined) {
    throw refusedField('prompt_name', model, 'no prompts are kept here; write it into the texts');
  }
}

function enterEmbed(body: JsonObject): Entrance {
  const { inputs = '', model, encoding_format: format } = body;
  refusePrompt(body);
  if (format !== undefined && format !== 'float' && format !== 'base64') {
    throw refusedField('encoding_format', model, 'it is float or base64');
  }
  const texts = isJsonList(inputs) ? inputs : [inputs];
  return {
    body: { model, input: texts, dimensions: body.dimensions, encoding_format: format ?? 'float' },
    words: {
      clientApi: id,
      more: {
        truncate: body.truncate,
        truncation_direction: body.truncation_direction,
        normalize: body.normalize,
      },
    },
    demands: wholeTexts(id, 'truncate', body.truncate),
    write({ body: answer }) {
      const vectors = embeddingsIn(answer, texts);
      return {
        body: format === 'base64' ? base64Of(vectors) : floatsOf(vectors),
        headers: ['x-compute-tokens', String(tokensIn(answer, texts))],
      };
    },
  };
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
  summary: 'Embeddings as the clients of Text Embeddings Inference ask for them.',
  enter: enterEmbed,
};

function sentencesIn(inputs: Json | undefined): readonly string[] {
  const { source_sentence: source, sentences } = isJsonObject(inputs) ? inputs : {};
  if (typeof source !== 'string') throw wrongField('inputs.source_sentence', 'a string');
  if (!isJsonList(sentences) || sentences.length === 0) throw wrongField('inputs.sentences', 'an array of strings');
  const others = sentences.map((sentence) => {
    if (typeof sentence !== 'string') throw wrongField('inputs.sentences', 'an array of strings');
    return sentence;
  });
  return [source, ...others];
}

function enterSimilarity(body: JsonObject): Entrance {
  const { model, parameters } = body;
  const asked = isJsonObject(parameters) ? parameters : {};
  refusePrompt({ model, prompt_name: asked.prompt_name ?? undefined });
  const texts = sentencesIn(body.inputs);
  const { truncate, truncation_direction } = asked;
  return {
    body: { model, input: texts, encoding_format: 'float' },
    words: { clientApi: id, more: { truncate, truncation_direction } },
    demands: wholeTexts(id, 'truncate', truncate),
    write({ body: answer }) {
      const [source, ...others] = floatsOf(embeddingsIn(answer, texts)).map((vector) => vector.values());
      return {
        body: others.map((other) => cosine(source ?? [], other)),
        headers: ['x-compute-tokens', String(tokensIn(answer, texts))],
      };
    },
  };
}

/** Of vectors of any length, as a service may return unnormalised ones. */
function cosine(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) throw new Unfit('its vectors are not of one width');
  const lengths = Math.sqrt(dot(one, one) * dot(other, other));
  if (lengths === 0) return 0;
  return Math.max(-1, Math.min(1, dot(one, other) / lengths));
}

const dot = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);

export const similarity: ApiMapping = {
  operation: 'embeddings',
  paths: ['/similarity', '/tei/{model}/similarity'],
  required: { inputs: 'object' },
  optional: { model: 'string', parameters: 'object' },
  summary: 'The cosines between one text and others, as the clients of Text Embeddings Inference ask for them.',
  enter: enterSimilarity,
};

/** At its root a TEI server accepts whatever its model does. */
export const root: ApiMapping = {
  operation: 'embeddings',
  paths: ['/tei', '/tei/{model}'],
  required: { inputs: 'string | string[] | object' },
  optional: { ...embed.optional, parameters: 'object' },
  watched: ['prompt_name'],
  summary: 'Embeddings, or with an object as `inputs` similarities, as at the root of Text Embeddings Inference.',
  enter: (body) => (isJsonObject(body.inputs) ? enterSimilarity(body) : enterEmbed(body)),
};
