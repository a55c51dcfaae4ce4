/** Fixture of Hugging Face inference behind its router, by its JavaScript client. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { moderated, verdict } from './moderation-shapes.ts';
import { isViolent, vectorOf } from './wire.ts';

const model = 'intfloat/multilingual-e5-large';
const features = `/hf-inference/models/${model}/pipeline/feature-extraction`;
const classes = `/hf-inference/models/${model}`;

const featuresBody = z.object({ inputs: z.union([z.string(), z.array(z.string())]) });
const classesBody = z.object({ inputs: z.string() });

const hateful = '[{"label":"identity_hate","score":0.750}]';
const kind = '[{"label":"not-hate","score":0.75},{"label":"hate","score":0.25}]';

export default defineFixture({
  family: 'huggingface',
  chat: '/v1/chat/completions',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path === features) {
      const { inputs } = featuresBody.parse(body);
      return { body: typeof inputs === 'string' ? vectorOf(inputs) : inputs.map((text) => vectorOf(text)) };
    }
    if (path !== classes) return { status: 404, body: { error: 'Not Found' } };
    const { inputs } = classesBody.parse(body);
    const score = isViolent(inputs) ? 0.9375 : 0.03125;
    return {
      body: [
        [
          { label: 'violence', score },
          { label: 'OK', score: 1 - score },
        ].sort((a, b) => b.score - a.score),
      ],
    };
  },

  error: (status, message) => ({ status, body: { error: message } }),

  pairs: [
    {
      name: 'texts are sent as inputs, vectors keep their digits, and usage is estimated',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['ab', 'cd'], dimensions: 8, normalize: true },
      wire: [
        {
          path: features,
          body: { normalize: true, inputs: ['ab', 'cd'] },
          headers: { authorization: 'Bearer sk-service-0123456789' },
          reply: { body: '[[0.10,-1e-2],[0.5,2]]' },
        },
      ],
      answer: {
        headers: {
          'x-postern-translated': 'huggingface',
          'x-postern-usage': 'estimated',
          'x-postern-ignored': 'dimensions',
        },
        body: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-1e-2]},{"object":"embedding","index":1,"embedding":[0.5,2]}],"model":"${model}","usage":{"prompt_tokens":2,"total_tokens":2}}`,
      },
    },
    {
      name: 'a bare vector as the answer for one text is read',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'ab' },
      wire: [{ path: features, body: { inputs: ['ab'] }, reply: { body: '[0.10,-1e-2]' } }],
      answer: {
        body: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-1e-2]}],"model":"${model}","usage":{"prompt_tokens":1,"total_tokens":1}}`,
      },
    },
    {
      name: 'one vector per token becomes one vector per text by averaging',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['ab', 'cd', 'ef'] },
      wire: [
        {
          path: features,
          body: { inputs: ['ab', 'cd', 'ef'] },
          reply: { body: '[[[1,2],[3,-2],[2,3]],[[0.10,7]],[[[1,0],[0,1]]]]' },
        },
      ],
      answer: {
        body: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[2,1]},{"object":"embedding","index":1,"embedding":[0.10,7]},{"object":"embedding","index":2,"embedding":[0.5,0.5]}],"model":"${model}","usage":{"prompt_tokens":3,"total_tokens":3}}`,
      },
    },
    {
      name: 'fewer vectors than inputs give 502',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['ab', 'cd'] },
      wire: [{ path: features, body: { inputs: ['ab', 'cd'] }, reply: { body: '[[1,2]]' } }],
      answer: {
        status: 502,
        body: {
          error: {
            message:
              "The upstream's answer does not fit the request (1 vectors for 2 inputs); try again, and tell the operator if it stays so.",
            type: 'upstream_error',
            param: null,
            code: 'upstream_protocol_error',
          },
        },
      },
    },
    {
      name: 'the legacy engines path goes to feature extraction',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['x'] },
      wire: [{ path: features, body: { inputs: ['x'] }, reply: { body: [[1]] } }],
      answer: { body: embeddingsAnswer([[1]], 1, model) },
    },
    {
      name: 'the estimated loading time of a model becomes a Retry-After header',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: features,
          body: { inputs: ['x'] },
          reply: { status: 503, body: { error: `Model ${model} is currently loading`, estimated_time: 20.5 } },
        },
      ],
      answer: {
        status: 503,
        headers: { 'retry-after': '21' },
        body: {
          error: {
            message: `Model ${model} is currently loading`,
            type: 'upstream_error',
            param: null,
            code: 'upstream_failed',
            upstream: { error: `Model ${model} is currently loading`, estimated_time: 20.5 },
          },
        },
      },
    },
    {
      name: 'classification labels become moderation categories, in a flat or a nested list',
      route: '/v1/moderations',
      ask: { model: 'm', input: ['a', 'b'], parameters: { top_k: 2 } },
      wire: [
        { path: classes, body: { inputs: 'a', parameters: { top_k: 2 } }, reply: { body: `[${hateful}]` } },
        { path: classes, body: { inputs: 'b', parameters: { top_k: 2 } }, reply: { body: kind } },
      ],
      answer: {
        headers: { 'x-postern-translated': 'huggingface' },
        body: moderated(model, [
          verdict(true, { hate: [true, '0.750'] }, hateful),
          verdict(false, { hate: [false, '0.25'] }, kind),
        ]),
      },
    },
  ],
});
