import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingSaid, parseTools, type Settings, sampleTools, type Turn } from '../talk.ts';
import { chooseWire, type WireName, wireNames, wires } from './index.ts';

const tools = parseTools(sampleTools);
assert.ok(typeof tools !== 'string');

const settings: Settings = {
  system: 'Be brief.',
  stream: true,
  tools,
  toolChoice: 'required',
  maxTokens: 50,
  temperature: 0.5,
  topP: undefined,
  stop: '',
  further: { user: 'u' },
};

/** One tool call after a word, as each wire format streams it. */
const streams: Readonly<Record<WireName, readonly unknown[]>> = {
  chat: [
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'Let me ' } }] },
    { choices: [{ index: 0, delta: { content: 'look.', reasoning_content: 'hm' } }] },
    {
      choices: [{ delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'get_weather', arguments: '' } }] } }],
    },
    { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] } }] },
    { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] } }] },
    { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage: { total_tokens: 9 } },
  ],
  responses: [
    { type: 'response.created', response: { status: 'in_progress' } },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'hm' },
    { type: 'response.output_text.delta', output_index: 1, delta: 'Let me ' },
    { type: 'response.output_text.delta', output_index: 1, delta: 'look.' },
    {
      type: 'response.output_item.added',
      output_index: 2,
      item: { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"city":' },
    { type: 'response.function_call_arguments.delta', output_index: 2, delta: '"Rome"}' },
    { type: 'response.completed', response: { status: 'completed' } },
  ],
  messages: [
    { type: 'message_start', message: {} },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Let me look.' } },
    {
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 'c1', name: 'get_weather', input: {} },
    },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"Rome"}' } },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ],
};

/** The same as a complete answer. */
const wholes: Readonly<Record<WireName, unknown>> = {
  chat: {
    choices: [
      {
        message: {
          content: 'Let me look.',
          reasoning_content: 'hm',
          tool_calls: [{ id: 'c1', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
  },
  responses: {
    status: 'completed',
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Let me look.' }] },
      { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{"city":"Rome"}' },
    ],
  },
  messages: {
    stop_reason: 'tool_use',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Rome' } },
    ],
  },
};

const endWords: Readonly<Record<WireName, string>> = {
  chat: 'tool_calls',
  responses: 'completed',
  messages: 'tool_use',
};

for (const name of wireNames) {
  const wire = wires[name];

  test(`${name}: text, reasoning and tool calls are the same streamed and whole`, () => {
    for (const said of [streams[name].reduce(wire.add, nothingSaid), wire.readWhole(wholes[name])]) {
      assert.equal(said.text, 'Let me look.');
      assert.equal(said.thinking, 'hm');
      assert.deepEqual(
        said.calls.map(({ id, name: called, input }) => [id, called, JSON.parse(input)]),
        [['c1', 'get_weather', { city: 'Rome' }]],
      );
      assert.equal(said.reason, endWords[name]);
      assert.equal(said.fault, undefined);
    }
  });

  test(`${name}: invalid stream events add nothing, and a huge index creates no huge list`, () => {
    const events = [null, 'text', 7, {}, { choices: 'no' }, { type: 'content_block_delta', index: 1e9 }];
    assert.deepEqual(events.reduce(wire.add, nothingSaid), nothingSaid);
    assert.doesNotThrow(() => wire.readWhole('<html>'));
  });
}

const picture = { name: 'gate.png', url: 'data:image/png;base64,AAAA' };
const talk: readonly Turn[] = [
  { kind: 'asked', text: 'How is it?', pictures: [picture] },
  { kind: 'said', said: streams.messages.reduce(wires.messages.add, nothingSaid) },
  { kind: 'tools', answers: [{ id: 'c1', name: 'get_weather', output: 'sunny' }] },
];

test('chat completions send a conversation as messages with roles', () => {
  const body = wires.chat.toBody(talk, settings);
  assert.deepEqual(body.messages, [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'How is it?' },
        { type: 'image_url', image_url: { url: picture.url } },
      ],
    },
    {
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
  ]);
  assert.deepEqual(
    [body.tool_choice, body.max_tokens, body.temperature, body.stream, body.user, 'top_p' in body],
    ['required', 50, 0.5, true, 'u', false],
  );
});

test('the responses API sends a conversation as items, with nothing stored upstream', () => {
  const body = wires.responses.toBody(talk, settings);
  assert.deepEqual(body.input, [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'How is it?' },
        { type: 'input_image', image_url: picture.url },
      ],
    },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }] },
    { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{"city":"Rome"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
  ]);
  assert.deepEqual([body.instructions, body.store, body.max_output_tokens], ['Be brief.', false, 50]);
});

test('the messages API sends back blocks as received, with signed reasoning', () => {
  const body = wires.messages.toBody(talk, settings);
  assert.deepEqual(body.messages, [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'text', text: 'How is it?' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Rome' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'sunny' }] },
  ]);
  assert.deepEqual(body.tool_choice, { type: 'any' });
  assert.equal(wires.messages.toBody(talk, { ...settings, maxTokens: undefined }).max_tokens, 1024);
});

test("typed tools are read in any API's format, and hosted tools are sent unchanged", () => {
  const parameters = { type: 'object' };
  const forms = [
    { name: 'f', parameters },
    { type: 'function', function: { name: 'f', parameters } },
    { name: 'f', input_schema: parameters },
  ];
  for (const form of forms) {
    assert.deepEqual(parseTools(JSON.stringify(form)), [
      { function: { name: 'f', description: undefined, parameters } },
    ]);
  }
  assert.deepEqual(parseTools('[{"type":"web_search"}]'), [{ hosted: { type: 'web_search' } }]);
  assert.match(String(parseTools('[{}]')), /Tool 1 has neither/);
  assert.match(String(parseTools('{')), /not JSON/);
});

test('the preferred chat API is used if the model offers it, or else one that it offers', () => {
  assert.equal(chooseWire(['messages', 'chat'], 'messages'), 'messages');
  assert.equal(chooseWire(['messages'], 'chat'), 'messages');
  assert.equal(chooseWire(undefined, ''), 'chat');
});
