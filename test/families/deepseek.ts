/** Fixture of DeepSeek's beta completions: one prompt, and the text after the gap. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { completionAsked, completionOf, text, textOrTexts } from './openai-shapes.ts';

const model = 'model-1';

const completionsBody = completionAsked.extend({
  prompt: text,
  suffix: text.nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logprobs: z.int().min(0).max(20).nullish(),
  max_tokens: z.int().min(1).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  stop: textOrTexts.nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
});

const balance = {
  error: { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' },
};

export default defineFixture({
  family: 'deepseek',
  chat: '/beta/chat/completions',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path !== '/beta/completions') {
      return { status: 400, body: { error: { message: 'completions api is only available when using beta api' } } };
    }
    const asked = completionsBody.parse(body);
    return completionOf([asked.prompt], asked);
  },

  error: (status, message) => ({
    status,
    body: { error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' } },
  }),

  withheld: [402],

  pairs: [
    {
      name: 'a completion of one prompt with a suffix passes byte for byte',
      route: '/v1/completions',
      ask: '{"model":"m","prompt":"def f(","suffix":")","temperature":1.0}',
      wire: [
        {
          path: '/beta/completions',
          body: '{"model":"model-1","prompt":"def f(","suffix":")","temperature":1.0}',
          reply: { body: '\n\n{"choices":[{"index":0,"text":"x"}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'each of several prompts is one call, and blank lines before an answer are ignored',
      route: '/v1/completions',
      ask: { model: 'm', prompt: ['a', 'b'], max_tokens: 5 },
      wire: [
        {
          path: '/beta/completions',
          body: { model, prompt: 'a', max_tokens: 5 },
          reply: {
            body: '\n\n{"id":"c-1","object":"text_completion","created":7,"model":"model-1","choices":[{"index":0,"text":"A","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_cache_hit_tokens":0}}',
          },
        },
        {
          path: '/beta/completions',
          body: { model, prompt: 'b', max_tokens: 5 },
          reply: {
            body: '{"id":"c-2","object":"text_completion","created":8,"model":"model-1","choices":[{"index":0,"text":"B","logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,"prompt_cache_hit_tokens":4}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'deepseek' },
        body: {
          id: 'c-1',
          object: 'text_completion',
          created: 7,
          model,
          choices: [
            { index: 0, text: 'A', logprobs: null, finish_reason: 'stop' },
            { index: 1, text: 'B', logprobs: null, finish_reason: 'length' },
          ],
          usage: { prompt_tokens: 11, completion_tokens: 22, total_tokens: 33, prompt_cache_hit_tokens: 4 },
        },
      },
    },
    {
      name: 'token IDs are sent as the text they encode',
      route: '/v1/completions',
      ask: { model: 'm', prompt: [9906, 1917] },
      wire: [
        {
          path: '/beta/completions',
          body: { model, prompt: 'Hello world' },
          reply: {
            body: '{"id":"c-1","object":"text_completion","created":7,"model":"model-1","choices":[{"index":0,"text":"A","finish_reason":"stop"}]}',
          },
        },
      ],
      answer: {
        body: {
          id: 'c-1',
          object: 'text_completion',
          created: 7,
          model,
          choices: [{ index: 0, text: 'A', finish_reason: 'stop' }],
        },
      },
    },
    {
      name: "a message about the operator's account balance is withheld",
      route: '/v1/completions',
      ask: { model: 'm', prompt: 'a' },
      wire: [{ path: '/beta/completions', body: { model, prompt: 'a' }, reply: { status: 402, body: balance } }],
      answer: {
        status: 402,
        body: {
          error: {
            message:
              "The upstream answered 402 and speaks of the operator's account in it; its words are withheld. Tell the operator.",
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_denied',
          },
        },
      },
    },
  ],
});
