/** Serves clients of Mistral's API: embeddings and moderation over every family; conversations and fill-in-the-middle over Mistral only. */

import { type ApiAnswer, type ApiMapping, defineClientApi, refusedField } from '../core/client-api.ts';
import { upstreamError } from '../core/errors.ts';
import { operationRows } from '../core/operations/index.ts';
import { at, listIn, objectIn, textIn } from '../families/wire-formats/reading.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { asList, dataOf, embeddingsFor, isBase64In, kindOf, onlyOf, textsOf } from './canonical.ts';

const clientApi = 'mistral';

/** The conversations to judge: each is a list of messages; a single one may stand without the outer list. */
function conversationsIn(input: Json | undefined): readonly (readonly Json[])[] {
  const list = isJsonList(input) ? input : [];
  return list.every(isJsonList) ? list : [list];
}

/** The texts to judge. Only conversations of one message are accepted: other services judge no message by earlier ones. */
function textsIn({ input, model }: JsonObject): readonly string[] {
  const why = 'no upstream of it judges a message by those before it, or what is no text; send one message of text';
  return textsOf(
    conversationsIn(input),
    (messages) => at(onlyOf(messages), 'content'),
    () => refusedField('input', model, why),
  );
}

/** Writes Mistral's own results from `original` where they exist: the common categories lack some of its own, such as `pii`. */
function writeModerations({ body, model, id }: ApiAnswer) {
  const answer = objectIn(body, 'the answer');
  const results = listIn(answer.results, 'results').map((result) => {
    const original = at(result, 'original');
    return isJsonObject(original) && isJsonObject(original.categories) ? original : result;
  });
  return { body: { id: `mod-${id}`, model, ...answer, results } };
}

const moderations: ApiMapping = {
  operation: 'moderations',
  paths: ['/mistral/v1/moderations'],
  required: { input: 'string | string[]' },
  optional: { model: 'string', metadata: 'object' },
  summary: "Moderations as Mistral's clients ask for them.",
  enter: (body) => ({ body, words: { clientApi, more: {} }, write: writeModerations }),
};

const chatModerations: ApiMapping = {
  operation: 'moderations',
  paths: ['/v1/chat/moderations'],
  required: { input: 'array' },
  optional: { model: 'string' },
  summary: "Moderations of conversations in Mistral's format.",
  passes: { label: 'conversations', row: operationRows.moderations },
  enter(body) {
    const texts = textsIn(body);
    return { body: { model: body.model, input: texts }, words: { clientApi, more: {} }, write: writeModerations };
  },
};

const embeddings: ApiMapping = {
  operation: 'embeddings',
  paths: ['/mistral/v1/embeddings'],
  required: { input: 'string | string[]' },
  optional: {
    model: 'string',
    output_dimension: 'number',
    output_dtype: 'string',
    encoding_format: 'string',
    metadata: 'object',
  },
  summary: "Embeddings as Mistral's clients ask for them.",
  enter(body) {
    const { model, metadata } = body;
    const asked = {
      clientApi,
      model,
      inputs: asList(body.input),
      dimensions: body.output_dimension,
      kind: kindOf(body.output_dtype, 'output_dtype', model),
      kindField: 'output_dtype',
      isBase64: isBase64In(body.encoding_format, model, 'float'),
      more: { metadata },
    };
    return embeddingsFor(asked, ({ vectors, tokens, id, model: name }) => ({
      id,
      object: 'list',
      data: dataOf(vectors),
      model: name,
      usage: { prompt_tokens: tokens(), completion_tokens: 0, total_tokens: tokens() },
    }));
  },
};

const toCompletion = ({ model, prompt, suffix, random_seed: seed, ...body }: JsonObject): JsonObject => {
  const { temperature, top_p, max_tokens, stop, metadata, n } = body;
  return { model, prompt, ...(suffix !== '' && { suffix }), temperature, top_p, max_tokens, stop, seed, metadata, n };
};

const fim: ApiMapping = {
  operation: 'completions',
  paths: ['/v1/fim/completions'],
  required: { prompt: 'string' },
  optional: {
    model: 'string',
    suffix: 'string',
    temperature: 'number',
    top_p: 'number',
    max_tokens: 'number',
    min_tokens: 'number',
    stop: 'string | array',
    stream: 'boolean',
    random_seed: 'number',
  },
  summary: "Completions between a prompt and a suffix, in Mistral's format.",
  passes: { label: 'fim', row: { ...operationRows.completions, written: { whole: ['content'], events: ['content'] } } },
  enter(body) {
    for (const field of ['stream', 'min_tokens']) {
      if (body[field] === undefined || body[field] === false) continue;
      throw refusedField(field, body.model, 'no upstream of it has this path as Mistral does; leave it out');
    }
    return {
      body: toCompletion(body),
      words: { clientApi, more: {} },
      write({ body: answer, id, nowMs, model: name }) {
        const { choices, usage } = objectIn(answer, 'the answer');
        return {
          body: {
            id: `fim-${id}`,
            object: 'chat.completion',
            created: Math.floor(nowMs / 1_000),
            model: name,
            choices: listIn(choices, 'choices').map((choice, index) => ({
              index,
              message: { role: 'assistant', content: textIn(at(choice, 'text')) ?? '' },
              finish_reason: at(choice, 'finish_reason') ?? 'stop',
            })),
            usage: isJsonObject(usage) ? usage : { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
          },
        };
      },
    };
  },
};

export default defineClientApi({
  id: clientApi,
  title: 'Mistral',
  prefix: '/mistral',
  modelLists: ['/mistral/v1/models'],
  mappings: [embeddings, moderations, chatModerations, fim],
  standsFor: ({ path }) => (path === '/v1/chat/completions' ? [`/mistral${path}`] : []),
  error({ status, message, type = upstreamError(status).type, param = null, code = null }) {
    return { object: 'error', message, type, param, code };
  },
});
