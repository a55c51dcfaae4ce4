/** Fixture of OpenAI: completions, moderations and embeddings by its OpenAPI document of August 2026, edits of March 2023. */

import * as z from 'zod';
import { toForm } from '../support/clients/forms.ts';
import { mediaOf } from './cases/media.ts';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import {
  anyInput,
  completionAsked,
  completionOf,
  embeddingsOf,
  ranksOf,
  text,
  texts,
  toTexts,
} from './openai-shapes.ts';
import { isViolent, replyTo, tokensIn } from './wire.ts';

const model = 'model-1';

const completionsBody = completionAsked.extend({
  prompt: anyInput.nullable(),
  best_of: z.int().min(0).max(20).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z.record(text, z.int()).nullish(),
  logprobs: z.int().min(0).max(5).nullish(),
  max_tokens: z.int().min(0).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  seed: z.int().nullish(),
  stop: z.union([text, texts.min(1).max(4)]).nullish(),
  suffix: text.nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  user: text.nullish(),
});

const editsBody = z.object({
  model: text,
  instruction: text,
  input: text.nullish(),
  n: z.int().min(1).max(20).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
});

const part = z.union([
  z.object({ type: z.literal('text'), text }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: text }) }),
]);
const moderationsBody = z.object({ model: text.optional(), input: z.union([text, texts, z.array(part)]) });

const embeddingsBody = z.strictObject({
  model: text,
  input: anyInput,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
  user: text.nullish(),
});

/** Of services that speak as OpenAI does and rank too. */
const rerankBody = z.object({
  model: text,
  query: text,
  documents: z.array(z.union([text, z.object({ text })])),
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
});

const categories = [
  'hate',
  'hate/threatening',
  'harassment',
  'harassment/threatening',
  'illicit',
  'illicit/violent',
  'sexual',
  'sexual/minors',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'violence',
  'violence/graphic',
];

function judgement(input: string): object {
  const of = <T>(value: (isBad: boolean) => T) =>
    Object.fromEntries(categories.map((name) => [name, value(name === 'violence' && isViolent(input))]));
  return {
    flagged: isViolent(input),
    categories: of((isBad) => isBad),
    category_scores: of((isBad) => (isBad ? 0.75 : 0.25)),
    category_applied_input_types: of(() => ['text']),
  };
}

function moderated(input: z.output<typeof moderationsBody>['input']): object[] {
  if (typeof input === 'string') return [judgement(input)];
  const words = input.map((one) => (typeof one === 'string' ? one : one.type === 'text' ? one.text : ''));
  return input.every((one) => typeof one === 'string') ? words.map(judgement) : [judgement(words.join('\n'))];
}

function refusal(message: string, param: string | null = null): WireReply {
  return { status: 400, body: { error: { message, type: 'invalid_request_error', param, code: null } } };
}

const sound = { name: 'file', value: 'ID3', filename: 'a.mp3', type: 'audio/mpeg' };

export default defineFixture({
  family: 'openai',
  chat: '/v1/chat/completions',
  passesErrors: true,
  model,
  takesTokenIds: true,

  service(call: WireCall): WireReply {
    const { path, body } = call;
    if (path.split('?', 1)[0]?.endsWith('/responses')) return { body: { object: 'response', output: [] } };
    const media = mediaOf(call, path.replace(/^\/v1/, ''));
    if (media !== undefined) return media;
    if (path === '/v1/completions') {
      const asked = completionsBody.parse(body);
      return completionOf(toTexts(asked.prompt ?? '<|endoftext|>'), asked);
    }
    if (path === '/v1/edits') {
      const { input, instruction, n } = editsBody.parse(body);
      const said = replyTo(`${instruction}:${input ?? ''}`);
      const tokens = tokensIn(input ?? '', instruction);
      return {
        body: {
          object: 'edit',
          created: 1_790_000_000,
          choices: Array.from({ length: n ?? 1 }, (_, index) => ({ text: said, index })),
          usage: {
            prompt_tokens: tokens,
            completion_tokens: tokensIn(said),
            total_tokens: tokens + tokensIn(said),
          },
        },
      };
    }
    if (path === '/v1/moderations') {
      const { input } = moderationsBody.parse(body);
      return { body: { id: 'modr-1', model, results: moderated(input) } };
    }
    if (path === '/v1/rerank') {
      const asked = rerankBody.parse(body);
      return { body: { id: 'r', model, results: ranksOf(asked.documents, asked), usage: { total_tokens: 9 } } };
    }
    if (path === '/v1/embeddings') {
      const asked = embeddingsBody.parse(body);
      const inputs = toTexts(asked.input);
      if (asked.input === '' || asked.input.length === 0) return refusal("'$.input' is invalid.");
      if (inputs.length > 2048) return refusal("'$.input' is invalid.");
      return embeddingsOf(inputs, asked);
    }
    return { status: 404, body: '' };
  },

  error: (status, message) => ({
    status,
    body: {
      error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code: null },
    },
  }),

  pairs: [
    {
      name: 'a /v1/responses request and its answer pass byte for byte',
      route: '/v1/responses',
      ask: '{ "model":"m","input":[{"role":"user","content":"\\u00e9"}],"temperature":1.0,"store":false}',
      wire: [
        {
          path: '/v1/responses',
          body: '{ "model":"model-1","input":[{"role":"user","content":"\\u00e9"}],"temperature":1.0,"store":false}',
          reply: { body: '{"object":"response","usage":{"input_tokens":1.0,"output_tokens":2}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a transcription form passes byte for byte with the model renamed',
      route: '/v1/audio/transcriptions',
      ask: toForm([{ name: 'model', value: 'm' }, sound]),
      wire: [
        {
          path: '/v1/audio/transcriptions',
          body: toForm([{ name: 'model', value: model }, sound]).toString(),
          reply: { body: '{"text":"hello"}' },
        },
      ],
    },
    {
      name: 'an audio translation form passes byte for byte with the model renamed',
      route: '/v1/audio/translations',
      ask: toForm([{ name: 'model', value: 'm' }, sound]),
      wire: [
        {
          path: '/v1/audio/translations',
          body: toForm([{ name: 'model', value: model }, sound]).toString(),
          reply: { body: '{"text":"hello"}' },
        },
      ],
    },
    {
      name: 'an image edit as JSON passes byte for byte with the model renamed',
      route: '/v1/images/edits',
      ask: '{"model":"m", "prompt":"p","images":[{"image_url":"u"}]}',
      wire: [
        {
          path: '/v1/images/edits',
          body: '{"model":"model-1", "prompt":"p","images":[{"image_url":"u"}]}',
          reply: { body: '{"created":1}' },
        },
      ],
    },
    {
      name: 'an image variation form passes byte for byte with the model renamed',
      route: '/v1/images/variations',
      ask: toForm([
        { name: 'image', value: 'PNG', filename: 'a.png' },
        { name: 'model', value: 'm' },
      ]),
      wire: [
        {
          path: '/v1/images/variations',
          body: toForm([
            { name: 'image', value: 'PNG', filename: 'a.png' },
            { name: 'model', value: model },
          ]).toString(),
          reply: { body: '{"created":1}' },
        },
      ],
    },
    {
      name: 'image generation passes byte for byte, and its usage is returned',
      route: '/v1/images/generations',
      ask: '{"model":"m", "prompt":"a gate","size":"1024x1024","n":1.0}',
      wire: [
        {
          path: '/v1/images/generations',
          body: '{"model":"model-1", "prompt":"a gate","size":"1024x1024","n":1.0}',
          reply: { body: '{"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":1}}' },
        },
      ],
    },
    {
      name: 'speech audio is returned unchanged',
      route: '/v1/audio/speech',
      ask: '{"model":"m","input":"a gate", "voice":"alloy"}',
      wire: [
        {
          path: '/v1/audio/speech',
          body: '{"model":"model-1","input":"a gate", "voice":"alloy"}',
          reply: { headers: { 'content-type': 'audio/mpeg' }, body: 'ID3 sound' },
        },
      ],
      answer: { headers: { 'content-type': 'audio/mpeg' } },
    },
    {
      name: 'completions pass byte for byte, with unknown fields and number spellings',
      route: '/v1/completions',
      ask: '{"prompt":["a",  "b"],"temperature":1.0,"model":"m","x-new":{"n":1e3},"x-new":[]}',
      wire: [
        {
          path: '/v1/completions',
          body: '{"prompt":["a",  "b"],"temperature":1.0,"model":"model-1","x-new":{"n":1e3},"x-new":[]}',
          headers: { authorization: 'Bearer sk-service-0123456789' },
          reply: { body: '{"id":"cmpl-x1", "choices":[ ] }' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a stream passes event by event',
      route: '/v1/completions',
      ask: { model: 'm', prompt: 'p', stream: true },
      wire: [
        {
          path: '/v1/completions',
          body: { model, prompt: 'p', stream: true },
          reply: { events: ['{"choices":[{"index":0,"text":" b"}], "usage":null}', '[DONE]'] },
        },
      ],
      answer: {
        headers: { 'content-type': 'text/event-stream', 'x-postern-translated': null },
        body: 'data: {"choices":[{"index":0,"text":" b"}], "usage":null}\n\ndata: [DONE]\n\n',
      },
    },
    {
      name: "edits pass to OpenAI's former /v1/edits path",
      route: '/v1/edits',
      ask: { model: 'm', input: 'Fixd text.', instruction: 'Fix it' },
      wire: [
        {
          path: '/v1/edits',
          body: { model, input: 'Fixd text.', instruction: 'Fix it' },
          reply: { body: '{"object":"edit","created":1,"choices":[{"text":"Fixed text.","index":0}]}' },
        },
      ],
    },
    {
      name: 'moderations pass, also with images',
      route: '/v1/moderations',
      ask: { model: 'm', input: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
      wire: [
        {
          path: '/v1/moderations',
          body: { model, input: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
          reply: { body: '{"id":"modr-1","results":[{"flagged":false,"categories":{"illicit":null}}]}' },
        },
      ],
    },
    {
      name: 'rerank passes byte for byte, also for services that return documents as text',
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":[{"text":"a","title":"t"}],"top_n":1.0,"return_documents":true}',
      wire: [
        {
          path: '/v1/rerank',
          body: '{"model":"model-1","query":"q","documents":[{"text":"a","title":"t"}],"top_n":1.0,"return_documents":true}',
          reply: { body: '{"results":[{"index":0,"relevance_score":0.50,"document":"a"}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'rerank results are returned in the shape named by x-postern-shape',
      route: '/v1/rerank',
      headers: { 'x-postern-shape': 'voyage' },
      ask: { model: 'm', query: 'q', documents: ['a', 'b'], top_k: 1, return_documents: true },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a', 'b'], top_n: 1 },
          reply: { body: '{"results":[{"index":1,"relevance_score":0.50}],"usage":{"total_tokens":4}}' },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'openai' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"model-1","data":[{"index":1,"relevance_score":0.50,"document":"b"}],"results":[{"index":1,"relevance_score":0.50,"document":{"text":"b"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":4,"total_tokens":4}}',
      },
    },
    {
      name: 'embeddings pass byte for byte, also with token IDs and null fields',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":[[9906,1917]],"encoding_format":"base64","user":null}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"model-1","input":[[9906,1917]],"encoding_format":"base64","user":null}',
          reply: { body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.50, -1]}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'with base64: convert, floats are requested and converted to base64',
      route: '/v1/embeddings',
      upstream: { base64: 'convert' },
      ask: { model: 'm', input: ['a', 'b'], encoding_format: 'base64' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a', 'b'], encoding_format: 'float' },
          reply: {
            body: {
              object: 'list',
              model,
              data: [
                { object: 'embedding', index: 1, embedding: [1, 2] },
                { object: 'embedding', index: 0, embedding: [0.5, -1] },
              ],
              usage: { prompt_tokens: 2, total_tokens: 2 },
            },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'openai', 'x-postern-usage': null },
        body: embeddingsAnswer(['AAAAPwAAgL8=', 'AACAPwAAAEA='], 2, model),
      },
    },
    {
      name: 'with base64: convert, a request for floats passes byte for byte',
      route: '/v1/embeddings',
      upstream: { base64: 'convert' },
      ask: '{"model":"m","input":"a","encoding_format":"float"}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"model-1","input":"a","encoding_format":"float"}',
          reply: { body: '{"data":[{"embedding":[0.50]}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'the legacy engines path goes to the embeddings, with the model in the body',
      route: '/v1/engines/m/embeddings',
      ask: '{"input":["x"]}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"model-1","input":["x"]}',
          reply: { body: { object: 'list', data: [{}] } },
        },
      ],
    },
    {
      name: 'with legacy_engines: native, the legacy engines path is called, with the body unchanged',
      route: '/v1/engines/m/embeddings',
      upstream: { legacy_engines: 'native' },
      target: { model: 'an/engine' },
      ask: '{"input":["x"] }',
      wire: [
        {
          path: '/v1/engines/an%2Fengine/embeddings',
          body: '{"input":["x"] }',
          reply: { body: '{"object":"list","data":[{"object":"embedding","embedding":[1e-3],"index":0}]}' },
        },
      ],
    },
    {
      name: 'errors pass byte for byte',
      route: '/v1/embeddings',
      ask: { model: 'm', input: '' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: '' },
          reply: {
            status: 400,
            body: '{"error": {"message":"\'$.input\' is invalid.","type":"invalid_request_error","param":null,"code":null}}',
          },
        },
      ],
      answer: {
        status: 400,
        headers: { 'x-postern-translated': null },
      },
    },
  ],
});
