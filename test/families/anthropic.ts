/** Fixture of Anthropic's messages, by its clients and docs of 2026. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { replyTo, tokensIn } from './wire.ts';

const model = 'claude-sonnet-4-5';

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() })).min(1)]);
const counted = z.looseObject({
  model: z.string(),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content })).min(1),
});
const asked = counted.extend({ max_tokens: z.int().min(0), stream: z.boolean().optional() });

export default defineFixture({
  family: 'anthropic',
  model,
  chat: '/v1/chat/completions',
  passesErrors: true,

  service({ path, body, header }: WireCall): WireReply {
    if (header('anthropic-version') === undefined) return failed(400, 'anthropic-version: header is required');
    if (path === '/v1/messages/count_tokens') {
      return { body: { input_tokens: tokensIn(JSON.stringify(counted.parse(body).messages)) } };
    }
    if (path !== '/v1/messages') return failed(404, 'Not found');
    const { messages } = asked.parse(body);
    const said = replyTo(JSON.stringify(messages.at(-1)?.content));
    const usage = { input_tokens: tokensIn(JSON.stringify(messages)), output_tokens: tokensIn(said) };
    return {
      body: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text: said }],
        stop_reason: 'end_turn',
        usage,
      },
    };
  },

  error: failed,

  pairs: [
    {
      name: "chat passes byte for byte to Anthropic's OpenAI-compatible path, with the key as a bearer token",
      route: '/v1/chat/completions',
      ask: '{ "model":"m","messages":[{"role":"user","content":"\\u00e9"}],"n":1.0}',
      wire: [
        {
          path: '/v1/chat/completions',
          body: '{ "model":"claude-sonnet-4-5","messages":[{"role":"user","content":"\\u00e9"}],"n":1.0}',
          headers: { authorization: 'Bearer sk-service-0123456789', 'x-api-key': null },
          reply: { body: '{"choices":[],"usage":{"prompt_tokens":1.0}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a completion emulated over chat sends the key as a bearer token, too',
      route: '/v1/completions',
      target: { bridge: 'chat' },
      ask: { model: 'm', prompt: 'x', max_tokens: 3 },
      wire: [
        {
          path: '/v1/chat/completions',
          body: { model, messages: [{ role: 'user', content: 'x' }], max_tokens: 3 },
          headers: { authorization: 'Bearer sk-service-0123456789', 'x-api-key': null },
          reply: {
            body: {
              id: 'c-1',
              object: 'chat.completion',
              created: 1_790_000_000,
              model,
              choices: [{ index: 0, message: { role: 'assistant', content: 'y' }, finish_reason: 'stop' }],
              usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
            },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'chat' },
        body: {
          id: 'cmpl-c-1',
          object: 'text_completion',
          created: 1_790_000_000,
          model,
          choices: [{ text: 'y', index: 0, logprobs: null, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        },
      },
    },
    {
      name: 'messages pass byte for byte, with a default anthropic-version header',
      route: '/v1/messages',
      ask: '{ "max_tokens":1e1,"model":"m", "messages":[{"role":"user","content":"\\u00e9"}],"temperature":1.0}',
      wire: [
        {
          path: '/v1/messages',
          body: '{ "max_tokens":1e1,"model":"claude-sonnet-4-5", "messages":[{"role":"user","content":"\\u00e9"}],"temperature":1.0}',
          headers: {
            'anthropic-version': '2023-06-01',
            'anthropic-beta': null,
            'x-api-key': 'sk-service-0123456789',
            authorization: null,
          },
          reply: { body: '{"type":"message","usage":{"input_tokens":1.0,"output_tokens":2}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: "the client's anthropic-version and anthropic-beta headers are forwarded",
      route: '/v1/messages',
      headers: { 'anthropic-version': '2099-01-01', 'anthropic-beta': 'one,two' },
      ask: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] },
      wire: [
        {
          path: '/v1/messages',
          body: { model, max_tokens: 1, messages: [{ role: 'user', content: 'x' }] },
          headers: { 'anthropic-version': '2099-01-01', 'anthropic-beta': 'one,two' },
          reply: { body: {} },
        },
      ],
    },
    {
      name: "an anthropic-version configured by the operator overrides the client's header",
      route: '/v1/messages',
      headers: { 'anthropic-version': '2099-01-01', 'anthropic-beta': 'one' },
      upstream: { headers: { 'anthropic-version': '2024-10-22' } },
      ask: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] },
      wire: [
        {
          path: '/v1/messages',
          body: { model, max_tokens: 1, messages: [{ role: 'user', content: 'x' }] },
          headers: { 'anthropic-version': '2024-10-22', 'anthropic-beta': 'one' },
          reply: { body: {} },
        },
      ],
    },
    {
      name: "an error of /v1/messages is returned in Anthropic's shape",
      route: '/v1/messages',
      ask: { model: 'm', max_tokens: 1, messages: [] },
      wire: [
        {
          path: '/v1/messages',
          body: { model, max_tokens: 1, messages: [] },
          reply: failed(400, 'messages: at least one message is required'),
        },
      ],
      answer: { status: 400, body: failed(400, 'messages: at least one message is required').body },
    },
    {
      name: 'token counting passes byte for byte',
      route: '/v1/messages/count_tokens',
      ask: '{"model":"m","messages":[{"role":"user","content":"x"}],"system":"s"}',
      wire: [
        {
          path: '/v1/messages/count_tokens',
          body: '{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"x"}],"system":"s"}',
          reply: { body: '{"input_tokens":9}' },
        },
      ],
    },
  ],
});

function failed(status: number, message: string): WireReply {
  const type = status === 404 ? 'not_found_error' : status >= 500 ? 'api_error' : 'invalid_request_error';
  return { status, body: { type: 'error', error: { type, message }, request_id: 'req_1' } };
}
