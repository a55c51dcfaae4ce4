/** Serves clients of Voyage AI's API: embeddings of plain texts over every family; other kinds only over upstreams that have them. */

import { type ApiMapping, defineClientApi, type Entrance, refusedField } from '../core/client-api.ts';
import { operationRows } from '../core/operations/index.ts';
import { inputTypes } from '../core/translation.ts';
import { at } from '../families/wire-formats/reading.ts';
import { isJsonList, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { asList, dataOf, embeddingsFor, isBase64In, kindOf, onlyOf, textsOf, wholeTexts } from './canonical.ts';

const id = 'voyage';

const row = { ...operationRows.embeddings, items: ['inputs'] };

const settings = {
  model: 'string',
  input_type: 'string',
  truncation: 'boolean',
  output_dimension: 'number',
  output_dtype: 'string',
  encoding_format: 'string',
};

const embeddings: ApiMapping = {
  operation: 'embeddings',
  paths: ['/voyage/v1/embeddings'],
  required: { input: 'string | string[]' },
  optional: settings,
  summary: "Embeddings in Voyage AI's format.",
  enter(body) {
    const { model, input, output_dtype: dtype, truncation } = body;
    const asked = {
      clientApi: id,
      model,
      inputs: asList(input),
      dimensions: body.output_dimension,
      kind: kindOf(dtype, 'output_dtype', model),
      kindField: 'output_dtype',
      isBase64: isBase64In(body.encoding_format, model),
      purpose: inputTypes.get(body.input_type ?? null),
      more: { truncation },
      demands: wholeTexts(id, 'truncation', truncation),
    };
    return embeddingsFor(asked, ({ vectors, tokens, model: name }) => ({
      object: 'list',
      data: dataOf(vectors),
      model: name,
      usage: { total_tokens: tokens() },
    }));
  },
};

type Write = (vectors: readonly Json[], tokens: number) => JsonObject;

function entranceOf(body: JsonObject, texts: readonly string[], write: Write): Entrance {
  const { model, output_dtype: dtype, output_encoding: encoding, encoding_format: format = encoding } = body;
  if (dtype !== undefined && dtype !== 'float') {
    throw refusedField('output_dtype', model, 'floats are made here; POST to /v1/embeddings for others');
  }
  const asked = {
    clientApi: id,
    model,
    inputs: texts,
    dimensions: body.output_dimension,
    isBase64: isBase64In(format, model),
    purpose: inputTypes.get(body.input_type ?? null),
    more: { truncation: body.truncation },
  };
  return embeddingsFor(asked, ({ vectors, tokens, model: name }) => ({
    object: 'list',
    ...write(vectors, tokens()),
    model: name,
  }));
}

/** The texts to embed: each document must be one chunk, as other services embed no chunk in the context of others. */
function chunksIn({ inputs, model }: JsonObject): readonly string[] {
  const why = 'no upstream of it embeds chunks in their context; send one chunk for each document';
  return textsOf(
    inputs,
    (document) => (isJsonList(document) ? onlyOf(document) : document),
    (index) => refusedField(`inputs[${index}]`, model, why),
  );
}

const contextualized: ApiMapping = {
  operation: 'embeddings',
  paths: ['/v1/contextualizedembeddings'],
  required: { inputs: 'array' },
  optional: { ...settings, output_encoding: 'string' },
  summary: "Contextual chunk embeddings in Voyage AI's format.",
  passes: { label: 'contextualized', row },
  enter: (body) =>
    entranceOf(body, chunksIn(body), (vectors, total_tokens) => ({
      data: vectors.map((embedding, index) => ({
        object: 'list',
        data: [{ object: 'embedding', embedding, index: 0 }],
        index,
      })),
      usage: { total_tokens },
    })),
};

function plainTextsIn({ inputs, model }: JsonObject): readonly string[] {
  const why = 'no upstream of it embeds pictures with texts; send one text for each input';
  const textOf = (input: Json): Json | undefined => {
    const part = onlyOf(at(input, 'content'));
    return at(part, 'type') === 'text' ? at(part, 'text') : undefined;
  };
  return textsOf(inputs, textOf, (index) => refusedField(`inputs[${index}].content`, model, why));
}

const multimodal: ApiMapping = {
  operation: 'embeddings',
  paths: ['/v1/multimodalembeddings'],
  required: { inputs: 'object[]' },
  optional: { ...settings, output_encoding: 'string' },
  summary: "Embeddings of texts and images in Voyage AI's format.",
  passes: { label: 'multimodal', row },
  enter: (body) =>
    entranceOf(body, plainTextsIn(body), (vectors, tokens) => ({
      data: dataOf(vectors),
      usage: { text_tokens: tokens, image_pixels: 0, video_pixels: 0, total_tokens: tokens },
    })),
};

export default defineClientApi({
  id,
  title: 'Voyage AI',
  prefix: '/voyage',
  mappings: [embeddings, contextualized, multimodal],
  error: ({ message }) => ({ detail: message }),
});
