/** Fixture of Azure OpenAI: the v1 API, and deployments with a dated version. */

import * as z from 'zod';
import { toForm } from '../support/clients/forms.ts';
import { mediaOf } from './cases/media.ts';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { anyInput, completionAsked, completionOf, embeddingsOf, toTexts } from './openai-shapes.ts';

const deployment = 'my-deployment';
const dated = { options: { api_version: '2024-10-21' } };

const completionsBody = completionAsked.extend({ prompt: anyInput.nullish() });
const embeddingsBody = z.object({
  input: anyInput,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
});
const named = z.object({ model: z.literal(deployment) });

function notFound(): WireReply {
  const message = 'The API deployment for this resource does not exist.';
  return { status: 404, body: { error: { code: 'DeploymentNotFound', message } } };
}

const sound = { name: 'file', value: 'ID3', filename: 'a.mp3', type: 'audio/mpeg' };

export default defineFixture({
  family: 'azure',
  chat: '/openai/v1/chat/completions',
  model: deployment,
  takesTokenIds: true,

  service(call: WireCall): WireReply {
    const { path, body, header } = call;
    if (header('api-key') === undefined) {
      return { status: 401, body: { error: { code: '401', message: 'Access denied.' } } };
    }
    if (path.split('?', 1)[0]?.endsWith('/responses')) return { body: { object: 'response', output: [] } };
    const isNamed = named.safeParse(body).success || /name="model"[\s\S]*?\r\n\r\nmy-deployment\r\n/.test(call.text);
    const media = isNamed ? mediaOf(call, path.replace(/^\/openai\/v1/, '')) : undefined;
    if (media !== undefined) return media;
    const [route, operation] = /^\/openai\/v1\/(\w+)$/.exec(path) ?? [];
    if (route === undefined || !named.safeParse(body).success) return notFound();
    // It calls the model by the name that it has beneath.
    if (operation === 'completions') {
      const asked = completionsBody.parse(body);
      return completionOf(toTexts(asked.prompt ?? '<|endoftext|>'), { ...asked, model: 'model-1' });
    }
    if (operation === 'embeddings') {
      const asked = embeddingsBody.parse(body);
      const inputs = toTexts(asked.input);
      if (asked.input.length > 0 && inputs.length <= 2048) return embeddingsOf(inputs, { ...asked, model: 'model-1' });
      const message = "'$.input' is invalid.";
      return { status: 400, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } };
    }
    return { status: 404, body: { error: { code: '404', message: 'Resource not found' } } };
  },

  error: (status, message) => ({ status, body: { error: { code: String(status), message } } }),

  pairs: [
    {
      name: "/v1/responses goes to Azure's v1 API with the deployment as the model",
      route: '/v1/responses',
      ask: '{ "model":"m","input":[{"role":"user","content":"\\u00e9"}],"temperature":1.0,"store":false}',
      wire: [
        {
          path: '/openai/v1/responses',
          body: '{ "model":"my-deployment","input":[{"role":"user","content":"\\u00e9"}],"temperature":1.0,"store":false}',
          reply: { body: '{"object":"response","usage":{"input_tokens":1.0,"output_tokens":2}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'with a dated api-version, /v1/responses goes to /openai/responses',
      route: '/v1/responses',
      ask: '{ "model":"m","input":[{"role":"user","content":"\\u00e9"}],"temperature":1.0,"store":false}',
      upstream: dated,
      wire: [
        {
          path: '/openai/responses?api-version=2024-10-21',
          body: '{ "model":"my-deployment","input":[{"role":"user","content":"\\u00e9"}],"temperature":1.0,"store":false}',
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
          path: '/openai/v1/audio/transcriptions',
          body: toForm([{ name: 'model', value: deployment }, sound]).toString(),
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
          path: '/openai/v1/audio/translations',
          body: toForm([{ name: 'model', value: deployment }, sound]).toString(),
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
          path: '/openai/v1/images/edits',
          body: '{"model":"my-deployment", "prompt":"p","images":[{"image_url":"u"}]}',
          reply: { body: '{"created":1}' },
        },
      ],
    },
    {
      name: "with a dated api-version, image generation goes to the deployment's path",
      route: '/v1/images/generations',
      ask: '{"model":"m","prompt":"a gate"}',
      upstream: dated,
      wire: [
        {
          path: '/openai/deployments/my-deployment/images/generations?api-version=2024-10-21',
          body: '{"model":"my-deployment","prompt":"a gate"}',
          reply: { body: '{"created":1,"data":[{}]}' },
        },
      ],
    },
    {
      name: "speech goes to Azure's v1 API with the deployment as the model",
      route: '/v1/audio/speech',
      ask: '{"model":"m","input":"a gate","voice":"alloy"}',
      wire: [
        {
          path: '/openai/v1/audio/speech',
          body: '{"model":"my-deployment","input":"a gate","voice":"alloy"}',
          reply: { headers: { 'content-type': 'audio/mpeg' }, body: 'ID3 sound' },
        },
      ],
      answer: { headers: { 'content-type': 'audio/mpeg' } },
    },
    {
      name: "completions go to Azure's v1 API with the deployment as the model and the key in the api-key header",
      route: '/v1/completions',
      ask: '{"model":"m", "prompt":["a"],"temperature":1.0}',
      wire: [
        {
          path: '/openai/v1/completions',
          body: '{"model":"my-deployment", "prompt":["a"],"temperature":1.0}',
          headers: { 'api-key': 'sk-service-0123456789', authorization: null },
          reply: { body: '{"choices":[{"index":0,"text":"b","content_filter_results":{}}],"model":"model-1"}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a stream passes unchanged, with its first chunk that has no choices',
      route: '/v1/completions',
      ask: { model: 'm', prompt: 'p', stream: true },
      wire: [
        {
          path: '/openai/v1/completions',
          body: { model: deployment, prompt: 'p', stream: true },
          reply: {
            events: [{ choices: [], prompt_filter_results: [] }, { choices: [{ index: 0, text: 'b' }] }, '[DONE]'],
          },
        },
      ],
      answer: {
        body: 'data: {"choices":[],"prompt_filter_results":[]}\n\ndata: {"choices":[{"index":0,"text":"b"}]}\n\ndata: [DONE]\n\n',
      },
    },
    {
      name: 'with a dated api-version, completions have the deployment in the path, percent-encoded',
      route: '/v1/completions',
      upstream: dated,
      target: { model: 'gpt-35/turbo ü' },
      ask: '{"model":"m","prompt":"a"}',
      wire: [
        {
          path: '/openai/deployments/gpt-35%2Fturbo%20%C3%BC/completions?api-version=2024-10-21',
          body: '{"model":"gpt-35/turbo ü","prompt":"a"}',
          reply: { body: '{"choices":[]}' },
        },
      ],
    },
    {
      name: 'embeddings pass byte for byte, also token IDs and base64',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":[[9906,1917]],"encoding_format":"base64"}',
      wire: [
        {
          path: '/openai/v1/embeddings',
          body: '{"model":"my-deployment","input":[[9906,1917]],"encoding_format":"base64"}',
          reply: { body: '{"data":[{"embedding":"AAAAPwAAgL8=","index":0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'the legacy engines path goes to the embeddings of the deployment',
      route: '/v1/engines/m/embeddings',
      upstream: { options: { api_version: '2025-04-01-preview' } },
      ask: { input: ['x'] },
      wire: [
        {
          path: '/openai/deployments/my-deployment/embeddings?api-version=2025-04-01-preview',
          body: { model: deployment, input: ['x'] },
          reply: { body: { object: 'list', data: [{}] } },
        },
      ],
    },
    {
      name: 'an Entra token is sent as a bearer token instead of the api-key header',
      route: '/v1/embeddings',
      upstream: { options: { auth: 'entra' } },
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: '/openai/v1/embeddings',
          body: { model: deployment, input: 'x' },
          headers: { authorization: 'Bearer sk-service-0123456789', 'api-key': null },
          reply: { body: { object: 'list', data: [{}] } },
        },
      ],
    },
    {
      name: 'an error without type and param gets the missing fields',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: '/openai/v1/embeddings',
          body: { model: deployment, input: 'x' },
          reply: notFound(),
        },
      ],
      answer: {
        status: 404,
        headers: { 'x-postern-translated': 'azure' },
        body: {
          error: {
            message: 'The API deployment for this resource does not exist.',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: notFound().body,
          },
        },
      },
    },
    {
      name: 'a content-filter error keeps its message, param and original body',
      route: '/v1/completions',
      ask: { model: 'm', prompt: 'x' },
      wire: [
        {
          path: '/openai/v1/completions',
          body: { model: deployment, prompt: 'x' },
          reply: {
            status: 400,
            body: {
              error: {
                message: 'The prompt was filtered.',
                type: null,
                param: 'prompt',
                code: 'content_filter',
                innererror: { code: 'ResponsibleAIPolicyViolation' },
              },
            },
          },
        },
      ],
      answer: {
        status: 400,
        body: {
          error: {
            message: 'The prompt was filtered.',
            type: 'invalid_request_error',
            param: 'prompt',
            code: 'upstream_refused',
            upstream: {
              error: {
                message: 'The prompt was filtered.',
                type: null,
                param: 'prompt',
                code: 'content_filter',
                innererror: { code: 'ResponsibleAIPolicyViolation' },
              },
            },
          },
        },
      },
    },
    {
      name: "an error of Azure API Management is returned in OpenAI's shape",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: '/openai/v1/embeddings',
          body: { model: deployment, input: 'x' },
          reply: { status: 401, body: { statusCode: 401, message: 'Access denied: no subscription.' } },
        },
      ],
      answer: {
        status: 401,
        body: {
          error: {
            message: 'Access denied: no subscription.',
            type: 'authentication_error',
            param: null,
            code: 'upstream_denied',
            upstream: { statusCode: 401, message: 'Access denied: no subscription.' },
          },
        },
      },
    },
    {
      name: "a wait time in a 429's message becomes a Retry-After header",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: '/openai/v1/embeddings',
          body: { model: deployment, input: 'x' },
          reply: {
            status: 429,
            body: { error: { code: '429', message: 'Requests exceeded the rate. Please retry after 6 seconds.' } },
          },
        },
      ],
      answer: {
        status: 429,
        headers: { 'retry-after': '6' },
        body: {
          error: {
            message: 'Requests exceeded the rate. Please retry after 6 seconds.',
            type: 'rate_limit_error',
            param: null,
            code: 'rate_limit_exceeded',
            upstream: {
              error: { code: '429', message: 'Requests exceeded the rate. Please retry after 6 seconds.' },
            },
          },
        },
      },
    },
  ],
});
