/**
 * Fake chat services: OpenAI's chat and responses, Anthropic's messages, Google's contents, and Ollama's chat. Each answers the last message as
 * `wire.ts` defines.
 */

import * as z from 'zod';
import type { Operation } from '../../src/core/operations/index.ts';
import type { FamilyFixture, WireCall, WireReply } from '../families/fixture.ts';
import { replyTo, tokensIn } from '../families/wire.ts';

const text = z.string();
const part = z.looseObject({ type: text, text: text.optional() });
const content = z.union([text, z.array(part)]).nullish();
const message = z.looseObject({ role: text, content });
const functionTool = z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: text }) });

const chatAsked = z.looseObject({
  model: text,
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  tools: z.array(functionTool).nullish(),
});
const responsesAsked = z.looseObject({
  model: text,
  input: z.union([text, z.array(message)]),
  stream: z.boolean().nullish(),
});
const messagesAsked = z.looseObject({
  model: text,
  max_tokens: z.int(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
});

const contentsAsked = z.looseObject({
  contents: z.array(z.looseObject({ parts: z.array(z.object({ text })) })).min(1),
});

const textOf = (said: z.output<typeof content>): string =>
  typeof said === 'string' ? said : (said ?? []).map((one) => one.text ?? '').join('');
const lastOf = (messages: readonly z.output<typeof message>[]): string => textOf(messages.at(-1)?.content);

/** A tool is always called, with the very text that was said. */
function chat(body: unknown): WireReply {
  const { model, messages, stream, stream_options: options, tools } = chatAsked.parse(body);
  const asked = lastOf(messages);
  const [tool] = tools ?? [];
  const said = tool === undefined ? replyTo(asked) : JSON.stringify({ text: asked });
  const head = { id: 'chatcmpl-x1', created: 1_790_000_000, model };
  const usage = {
    prompt_tokens: tokensIn(asked),
    completion_tokens: tokensIn(said),
    total_tokens: tokensIn(asked, said),
  };
  const finish_reason = tool === undefined ? 'stop' : 'tool_calls';
  const call = (more: object) => ({ id: 'call_1', type: 'function', function: { name: tool?.function.name, ...more } });
  if (stream !== true) {
    const words = tool === undefined ? { content: said } : { content: null, tool_calls: [call({ arguments: said })] };
    const choices = [
      { index: 0, message: { role: 'assistant', refusal: null, ...words }, logprobs: null, finish_reason },
    ];
    return { body: { object: 'chat.completion', ...head, choices, usage } };
  }
  const chunk = (delta: object, reason: string | null = null) => ({
    object: 'chat.completion.chunk',
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  const parts =
    tool === undefined
      ? [...said].map((one) => chunk({ content: one }))
      : [chunk({ tool_calls: [{ index: 0, ...call({ arguments: said }) }] })];
  const counted = { object: 'chat.completion.chunk', ...head, choices: [], usage };
  return {
    events: [
      chunk({ role: 'assistant', content: '' }),
      ...parts,
      chunk({}, finish_reason),
      ...(options?.include_usage === true ? [counted] : []),
      '[DONE]',
    ],
  };
}

function responses(body: unknown): WireReply {
  const { model, input, stream } = responsesAsked.parse(body);
  const asked = typeof input === 'string' ? input : lastOf(input);
  const said = replyTo(asked);
  const part = { type: 'output_text', text: said, annotations: [] };
  const item = { type: 'message', id: 'msg_1', role: 'assistant' };
  const output = [{ ...item, status: 'completed', content: [part] }];
  const begun = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
  };
  const usage = {
    input_tokens: tokensIn(asked),
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokensIn(said),
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokensIn(asked, said),
  };
  const whole = { ...begun, status: 'completed', output, usage };
  if (stream !== true) return { body: whole };
  const here = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const response = { ...begun, status: 'in_progress', output: [], usage: null };
  const events: NamedEvent[] = [
    ['response.created', { response }],
    ['response.in_progress', { response }],
    ['response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } }],
    ['response.content_part.added', { ...here, part: { ...part, text: '' } }],
    ...[...said].map((delta): NamedEvent => ['response.output_text.delta', { ...here, delta, logprobs: [] }]),
    ['response.output_text.done', { ...here, text: said, logprobs: [] }],
    ['response.content_part.done', { ...here, part }],
    ['response.output_item.done', { output_index: 0, item: output[0] }],
    ['response.completed', { response: whole }],
  ];
  return named(events.map(([type, more], sequence_number) => [type, { sequence_number, ...more }]));
}

type NamedEvent = [type: string, more: object];

/** Events whose data repeat their type. */
function named(events: readonly NamedEvent[]): WireReply {
  const lines = events.map(([type, more]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  return { headers: { 'content-type': 'text/event-stream' }, body: lines.join('') };
}

function messages(body: unknown): WireReply {
  const { model, messages: given, stream } = messagesAsked.parse(body);
  const asked = lastOf(given);
  const said = replyTo(asked);
  const whole = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null };
  const input_tokens = tokensIn(asked);
  const output_tokens = tokensIn(said);
  const usage = { input_tokens, output_tokens };
  if (stream !== true) {
    return { body: { ...whole, content: [{ type: 'text', text: said }], stop_reason: 'end_turn', usage } };
  }
  const begun = { ...whole, content: [], stop_reason: null, usage: { input_tokens, output_tokens: 1 } };
  return named([
    ['message_start', { message: begun }],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ...[...said].map(
      (one): NamedEvent => ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: one } }],
    ),
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens } }],
    ['message_stop', {}],
  ]);
}

function ollamaChat(body: unknown): WireReply {
  const { model, messages: given, stream, tools } = chatAsked.parse(body);
  const asked = lastOf(given);
  const [tool] = tools ?? [];
  const said = tool === undefined ? replyTo(asked) : '';
  const head = { model, created_at: '2026-09-01T00:00:00Z' };
  const counts = { done: true, done_reason: 'stop', prompt_eval_count: tokensIn(asked), eval_count: tokensIn(said) };
  const call = tool && [{ function: { name: tool.function.name, arguments: { text: asked } } }];
  const saying = (words: string) => ({ message: { role: 'assistant', content: words, tool_calls: call } });
  if (stream === false) return { body: { ...head, ...saying(said), ...counts } };
  const lines = [
    ...[...said].map((one) => ({ ...head, ...saying(one), done: false })),
    { ...head, ...saying(''), ...counts },
  ];
  const type = 'application/x-ndjson';
  return { headers: { 'content-type': type }, body: lines.map((line) => `${JSON.stringify(line)}\n`).join('') };
}

function contents(body: unknown, asEvents: boolean): WireReply {
  const asked = (contentsAsked.parse(body).contents.at(-1)?.parts ?? []).map((part) => part.text).join('');
  const said = replyTo(asked);
  const usageMetadata = {
    promptTokenCount: tokensIn(asked),
    candidatesTokenCount: tokensIn(said),
    totalTokenCount: tokensIn(asked, said),
  };
  const saying = (words: string, more: object = {}) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: words }] }, ...more }],
    usageMetadata,
    modelVersion: 'm',
  });
  const end = { finishReason: 'STOP' };
  if (!asEvents) return { body: saying(said, end) };
  return { events: [...[...said].map((one) => saying(one)), saying('', end)] };
}

const services: Readonly<
  Partial<Record<Operation, readonly (readonly [end: string, (body: unknown) => WireReply])[]>>
> = {
  chat: [
    ['/chat/completions', chat],
    ['/api/chat', ollamaChat],
  ],
  responses: [['/responses', responses]],
  messages: [['/v1/messages', messages]],
  generate: [
    [':generateContent', (body) => contents(body, false)],
    [':streamGenerateContent', (body) => contents(body, true)],
  ],
};

/** The usage that a service reported. */
export interface Counted {
  readonly input: number;
  readonly output: number;
}

/** The fixture with a service that answers the operation and writes down what it counts; undefined where none does. */
export function conversing(
  fixture: FamilyFixture,
  operation: Operation,
  journal: Counted[],
): FamilyFixture | undefined {
  const { [operation]: known } = services;
  if (known === undefined) return undefined;
  return {
    ...fixture,
    service(call: WireCall): WireReply {
      const [path = ''] = call.path.split('?');
      const [, answer] = known.find(([end]) => path.endsWith(end)) ?? [];
      if (answer === undefined) return { status: 404, body: '' };
      const reply = answer(call.body);
      journal.push(countIn(JSON.stringify(reply)));
      return reply;
    },
  };
}

/** The last counts in it, by any of their names; nothing if there are none. */
function countIn(reply: string): Counted {
  const last = (names: string): number =>
    Number([...reply.matchAll(new RegExp(`"(?:${names})\\\\*":(\\d+)`, 'g'))].at(-1)?.[1] ?? 0);
  return {
    input: last('prompt_tokens|input_tokens|prompt_eval_count|promptTokenCount'),
    output: last('completion_tokens|output_tokens|eval_count|candidatesTokenCount'),
  };
}
