/** Ollama's `chat` and `generate` over chat completions: what is asked of the upstream, whole answers, and lines as they come. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { type ClientApiRig, startClientApis } from '../support/gateways/client-apis.ts';
import { testKey } from '../support/gateways/rig.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
const counts = { prompt_eval_count: 4, eval_count: 2 };

type Fields = Readonly<Record<string, unknown>>;

const answering =
  (message: Fields, finish = 'stop'): Handler =>
  (_request, reply) =>
    reply.json(200, {
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
      usage,
    });

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const part = (delta: Fields, finish: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason: finish }] });
const counted = event({ choices: [], usage });
const done = 'data: [DONE]\n\n';

const streaming =
  (...parts: readonly string[]): Handler =>
  (_request, reply) =>
    reply.bytes(200, [['content-type', 'text/event-stream']], parts.join(''));

const price = { input: 1, output: 10 };
const target = [{ upstream: 'openai', model: 'real' }];
const models = [
  { id: 'talks', operations: ['chat'], price, targets: target },
  { id: 'both', operations: ['completions', 'chat'], price, targets: target },
  { id: 'words', operations: ['completions'], price, targets: target },
  { id: 'thinks', operations: ['chat'], targets: [{ upstream: 'openai', model: 'gpt-5-mini' }] },
  { id: 'ranker', operations: ['rerank'], targets: target },
];

const start = (t: TestContext, script: Handler): Promise<ClientApiRig> => startClientApis(t, script, { models });

async function ask({ rig }: ClientApiRig, path: string, body: Fields) {
  const answer = await rig.post(path, body);
  const lines = answer.body.toString().split('\n').filter(Boolean);
  return { answer, lines: lines.map((line): Record<string, unknown> => JSON.parse(line)) };
}

const hello = [{ role: 'user', content: 'hello' }];

test('a plain response has message, finish reason, token counts and durations', async (t) => {
  const clientApis = await start(t, answering({ content: 'good day', reasoning_content: 'a greeting' }, 'length'));
  for (const [more, thinking] of [
    [{}, 'a greeting'],
    [{ think: true }, 'a greeting'],
    [{ think: false }, undefined],
  ] as const) {
    const { answer, lines } = await ask(clientApis, '/api/chat', {
      model: 'talks:latest',
      messages: hello,
      stream: false,
      ...more,
    });
    assert.equal(answer.status, 200, answer.body.toString());
    const [{ created_at: at, total_duration: total, eval_duration: spent, ...said } = {}] = lines;
    assert.deepEqual(said, {
      model: 'talks:latest',
      message: { role: 'assistant', content: 'good day', ...(thinking !== undefined && { thinking }) },
      done: true,
      done_reason: 'length',
      load_duration: 0,
      ...counts,
    });
    assert.ok(!Number.isNaN(Date.parse(String(at))) && Number.isSafeInteger(total) && Number.isSafeInteger(spent));
    const { bill } = await clientApis.rig.exchange(clientApis.rig.settled.length);
    assert.deepEqual([bill?.costNanos, bill?.isEstimated], [4 * 1_000 + 2 * 10_000, false]);
  }
});

test('messages, images, tools, formats and options become those of chat completions', async (t) => {
  const clientApis = await start(t, answering({ content: 'x' }));
  const tool = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };
  const schema = { type: 'object', properties: { a: { type: 'number' } } };
  const { answer } = await ask(clientApis, '/api/chat', {
    model: 'talks',
    stream: false,
    keep_alive: '5m',
    think: 'low',
    format: schema,
    tools: [tool],
    logprobs: true,
    top_logprobs: 2,
    options: { num_predict: 7, temperature: 0.5, top_p: null, stop: ['x'], seed: 1, num_ctx: 4096, top_k: 3 },
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'what is this', images: ['/9j/AA==', 'iVBORw=='] },
      {
        role: 'assistant',
        content: '',
        thinking: 'hm',
        tool_calls: [call('look_up', { q: 1 }), call('see', {}), call('look_up', {})],
      },
      { role: 'tool', content: 'third', tool_name: 'see' },
      { role: 'tool', content: 'first', tool_name: 'look_up' },
      { role: 'tool', content: 'second' },
      { role: 'assistant', content: 'so', tool_calls: [{ id: 'own', ...call('see', {}) }] },
      { role: 'tool', content: 'fourth', tool_call_id: 'own' },
    ],
  });
  assert.equal(answer.status, 200, answer.body.toString());
  const called = (id: string, name: string, text: string) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  });
  assert.deepEqual(await clientApis.asked(), {
    path: '/chat/completions',
    body: {
      model: 'real',
      messages: [
        { role: 'system', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is this' },
            { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/AA==' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            called('call_1', 'look_up', '{"q":1}'),
            called('call_2', 'see', '{}'),
            called('call_3', 'look_up', '{}'),
          ],
        },
        { role: 'tool', tool_call_id: 'call_2', content: 'third' },
        { role: 'tool', tool_call_id: 'call_1', content: 'first' },
        { role: 'tool', tool_call_id: 'call_3', content: 'second' },
        { role: 'assistant', content: 'so', tool_calls: [called('own', 'see', '{}')] },
        { role: 'tool', tool_call_id: 'own', content: 'fourth' },
      ],
      tools: [tool],
      response_format: { type: 'json_schema', json_schema: { name: 'format', schema } },
      reasoning_effort: 'low',
      logprobs: true,
      top_logprobs: 2,
      temperature: 0.5,
      seed: 1,
      stop: ['x'],
      max_tokens: 7,
    },
  });
  await ask(clientApis, '/api/chat', {
    model: 'thinks',
    messages: hello,
    format: 'json',
    stream: false,
    options: { num_predict: 9 },
  });
  assert.deepEqual((await clientApis.asked()).body, {
    model: 'gpt-5-mini',
    messages: hello,
    response_format: { type: 'json_object' },
    max_completion_tokens: 9,
  });
});

const call = (name: string, input: Fields): Fields => ({ function: { name, arguments: input } });

test('generate becomes chat for a chat model, and completions in raw mode', async (t) => {
  const clientApis = await start(t, (request, reply) =>
    request.path === '/completions'
      ? reply.json(200, { choices: [{ index: 0, text: 'good day', finish_reason: 'stop' }], usage })
      : answering({ content: 'good day' })(request, reply),
  );
  const asked = { prompt: 'hi', stream: false };
  const chatted = { path: '/chat/completions', messages: [{ role: 'user', content: 'hi' }] };
  for (const [model, more, wanted] of [
    ['talks', {}, chatted],
    ['both', { raw: false, suffix: '' }, chatted],
    ['both', { raw: true }, { path: '/completions', prompt: 'hi' }],
    ['both', { suffix: 'end' }, { path: '/completions', prompt: 'hi', suffix: 'end' }],
    ['words', {}, { path: '/completions', prompt: 'hi' }],
    [
      'talks',
      { system: 'be brief', images: ['R0lGODdh'], format: 'json' },
      {
        path: '/chat/completions',
        messages: [
          { role: 'system', content: 'be brief' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'hi' },
              { type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lGODdh' } },
            ],
          },
        ],
        response_format: { type: 'json_object' },
      },
    ],
  ] as const) {
    const { answer, lines } = await ask(clientApis, '/api/generate', { model, ...asked, ...more });
    assert.equal(answer.status, 200, answer.body.toString());
    const { path, body } = await clientApis.asked();
    assert.deepEqual(
      { path, ...body, model: undefined },
      { ...wanted, model: undefined },
      `${model} ${JSON.stringify(more)}`,
    );
    assert.deepEqual([lines[0]?.response, lines[0]?.done, lines[0]?.eval_count], ['good day', true, 2]);
  }
});

test('events become lines, a tool call is one line, and the last line has the usage', async (t) => {
  const piece = (index: number, more: Fields, name?: string) =>
    part({
      tool_calls: [{ index, ...more, function: { ...(name !== undefined && { name }), ...(more.function ?? {}) } }],
    });
  const clientApis = await start(
    t,
    streaming(
      part({ role: 'assistant', content: '' }),
      part({ reasoning_content: 'hm' }),
      part({ content: 'good ' }),
      part({ content: 'day' }),
      piece(0, { id: 'c1' }, 'look_up'),
      piece(0, { function: { arguments: '{"q":' } }),
      piece(0, { function: { arguments: '1.50}' } }),
      piece(1, { id: 'c2' }, 'see'),
      part({}, 'tool_calls'),
      counted,
      done,
    ),
  );
  for (const more of [{}, { stream: true }]) {
    const { answer, lines } = await ask(clientApis, '/api/chat', { model: 'talks', messages: hello, ...more });
    assert.equal(answer.header('content-type'), 'application/x-ndjson');
    assert.ok(answer.complete && !answer.body.includes('\n\n') && !answer.body.includes('data:'));
    assert.deepEqual(
      lines.map(({ message, done: isDone }) => [message, isDone]),
      [
        [{ role: 'assistant', content: '', thinking: 'hm' }, false],
        [{ role: 'assistant', content: 'good ' }, false],
        [{ role: 'assistant', content: 'day' }, false],
        [
          {
            role: 'assistant',
            content: '',
            tool_calls: [{ id: 'c1', function: { index: 0, name: 'look_up', arguments: { q: 1.5 } } }],
          },
          false,
        ],
        [
          {
            role: 'assistant',
            content: '',
            tool_calls: [{ id: 'c2', function: { index: 1, name: 'see', arguments: {} } }],
          },
          false,
        ],
        [{ role: 'assistant', content: '' }, true],
      ],
    );
    assert.match(answer.body.toString(), /"arguments":\{"q":1\.50\}/);
    const { created_at: _at, model: _model, message: _message, ...last } = lines.at(-1) ?? {};
    const { total_duration: total, eval_duration: spent, prompt_eval_duration: first, ...end } = last;
    assert.deepEqual(end, { done: true, done_reason: 'stop', load_duration: 0, ...counts });
    for (const ns of [total, spent, first]) assert.ok(Number.isSafeInteger(ns) && Number(ns) >= 0);
    const { body } = await clientApis.asked();
    assert.deepEqual([body.stream, body.stream_options], [true, { include_usage: true }]);
    const { bill, outcome } = await clientApis.rig.exchange(clientApis.rig.settled.length);
    assert.deepEqual([bill?.costNanos, bill?.isEstimated, outcome], [4 * 1_000 + 2 * 10_000, false, 'ok']);
  }
});

test('an upstream that refuses the usage option streams without it, and is billed by an estimate', async (t) => {
  const clientApis = await start(t, (request, reply) =>
    request.body.includes('stream_options')
      ? reply.json(422, { error: { message: 'unknown field' } })
      : streaming(part({ content: 'good' }), part({}, 'stop'), done)(request, reply),
  );
  const { lines } = await ask(clientApis, '/api/generate', { model: 'talks', prompt: 'hi' });
  assert.deepEqual(
    lines.map(({ response, done: isDone, eval_count: count }) => [response, isDone, count]),
    [
      ['good', false, undefined],
      ['', true, undefined],
    ],
  );
  const { bill } = await clientApis.rig.exchange();
  assert.equal(bill?.isEstimated, true);
});

test('a line is sent as soon as its event arrives', async (t) => {
  let next = (): void => {};
  const waited = new Promise<void>((resolve) => {
    next = resolve;
  });
  const clientApis = await start(t, async (_request, reply) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
    await reply.raw(Buffer.from(head + part({ content: 'one' })));
    await waited;
    await reply.raw(Buffer.from(part({ content: 'two' }, 'stop') + done));
    reply.cut();
  });
  const connection = await connect(clientApis.rig.port);
  const body = JSON.stringify({ model: 'talks', messages: hello });
  await connection.write(
    toRequestBytes({
      method: 'POST',
      path: '/api/chat',
      body: Buffer.from(body),
      headers: [
        ['Authorization', `Bearer ${testKey}`],
        ['Content-Type', 'application/json'],
      ],
    }),
  );
  await until(() => connection.received().includes('"one"'));
  assert.ok(!connection.received().includes('"done":true'));
  next();
  await until(() => connection.received().includes('"done":true'));
  connection.reset();
});

test('a broken or failed stream, or one with an invalid tool call, never ends with done', async (t) => {
  const broken = [{ function: { name: 'f', arguments: '{"a":' }, index: 0 }];
  for (const [parts, last] of [
    [[part({ content: 'good' })], undefined],
    [[part({ content: 'good' }), done], undefined],
    [[part({ content: 'good' }), event({ error: { message: 'out of it' } })], { error: 'out of it' }],
    [[part({ content: 'good' }), part({ tool_calls: broken }), part({}, 'tool_calls'), done], undefined],
  ] as const) {
    const clientApis = await start(t, streaming(...parts));
    const { answer, lines } = await ask(clientApis, '/api/chat', { model: 'talks', messages: hello });
    assert.equal(answer.complete, false);
    assert.ok(
      lines.every(({ done: isDone }) => isDone !== true),
      answer.body.toString(),
    );
    if (last !== undefined) assert.deepEqual(lines.at(-1), last);
    assert.equal((await clientApis.rig.exchange()).outcome, 'cut');
  }
});

test('an empty chat or generate request reports the model as loaded or unloaded, without an upstream call', async (t) => {
  const clientApis = await start(t, answering({ content: 'x' }));
  for (const [path, more, reason] of [
    ['/api/chat', { messages: [] }, 'load'],
    ['/api/chat', {}, 'load'],
    ['/api/chat', { messages: [], keep_alive: 0 }, 'unload'],
    ['/api/generate', { prompt: '' }, 'load'],
    ['/api/generate', { keep_alive: 0 }, 'unload'],
  ] as const) {
    const { lines } = await ask(clientApis, path, { model: 'talks', ...more });
    assert.deepEqual([lines.length, lines[0]?.done, lines[0]?.done_reason], [1, true, reason], path);
    assert.deepEqual(
      path === '/api/chat' ? lines[0]?.message : lines[0]?.response,
      path === '/api/chat' ? { role: 'assistant', content: '' } : '',
    );
  }
  assert.equal(clientApis.upstream.requests.length, 0);
});

test('unsupported chat fields are refused by name before any call', async (t) => {
  const clientApis = await start(t, answering({ content: 'x' }));
  const rows: readonly (readonly [path: string, body: Fields, expected: RegExp])[] = [
    ['/api/chat', { messages: {} }, /"messages" must be an array/],
    ['/api/chat', { messages: ['x'] }, /"messages\[0\]" must be an object/],
    ['/api/chat', { messages: [{ content: 'x' }] }, /"messages\[0\]\.role"/],
    [
      '/api/chat',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      /"messages\[0\]\.content" must be a string/,
    ],
    ['/api/chat', { messages: [{ role: 'user', content: 'x', images: [7] }] }, /"messages\[0\]\.images"/],
    ['/api/chat', { messages: hello, format: 'yaml' }, /"format" cannot be served/],
    ['/api/chat', { messages: hello, think: 'deep' }, /"think" cannot be served/],
    ['/api/chat', { messages: hello, tools: [{ type: 'web_search' }] }, /"tools\[0\]" cannot be served/],
    ['/api/generate', { prompt: 'x', raw: true }, /"raw" cannot be served/],
    ['/api/generate', { prompt: 'x', suffix: 'y' }, /"suffix" cannot be served/],
    ['/api/generate', { prompt: 'x', template: 't' }, /"template" cannot be served/],
    [
      '/api/chat',
      { model: 'words', messages: hello, format: 'json' },
      /"format" cannot be served for the model "words"/,
    ],
    [
      '/api/chat',
      { model: 'words', messages: [{ ...hello[0], images: ['AA=='] }] },
      /"messages\[0\]" cannot be served/,
    ],
    ['/api/chat', { model: 'ranker', messages: hello }, /"ranker" does not serve chat/],
    ['/api/generate', { model: 'ranker', prompt: 'x' }, /"ranker" does not serve/],
  ];
  for (const [path, body, expected] of rows) {
    const answer = await clientApis.rig.post(path, { model: 'talks', ...body });
    assert.equal(answer.status, 400, `${path} ${JSON.stringify(body)}: ${answer.body}`);
    const said = answer.json() as { error: string };
    assert.deepEqual(Object.keys(said), ['error']);
    assert.match(said.error, expected);
  }
  assert.equal(clientApis.upstream.requests.length, 0);
});

test('a completion-only model answers a chat with the continuation of its text', async (t) => {
  const text = (words: string, finish: string | null = null) =>
    event({ choices: [{ index: 0, text: words, finish_reason: finish }] });
  const clientApis = await start(t, streaming(text('good '), text('day', 'stop'), counted, done));
  const messages = [{ role: 'system', content: 'be brief' }, ...hello];
  const { lines } = await ask(clientApis, '/api/chat', {
    model: 'words',
    messages,
    tools: [],
    options: { num_predict: 9 },
  });
  assert.deepEqual(
    lines.map(({ message, done: isDone }) => [message, isDone]),
    ['good ', 'day', ''].map((content) => [{ role: 'assistant', content }, content === '']),
  );
  const { path, body } = await clientApis.asked();
  assert.deepEqual([path, body.prompt, body.max_tokens], ['/completions', 'be brief\n\nhello', 9]);
});

test('every listed model answers according to its capabilities', async (t) => {
  const clientApis = await start(t, (request, reply) =>
    request.path === '/completions'
      ? reply.json(200, { choices: [{ index: 0, text: 'x', finish_reason: 'stop' }], usage })
      : answering({ content: 'x' })(request, reply),
  );
  const { models: listed } = (await clientApis.rig.get('/api/tags')).json() as {
    models: { model: string; capabilities: string[] }[];
  };
  assert.deepEqual(
    listed.map(({ model }) => model),
    ['talks:latest', 'both:latest', 'words:latest', 'thinks:latest'],
  );
  for (const { model, capabilities } of listed) {
    assert.ok(capabilities.includes('completion'), model);
    for (const path of ['/api/chat', '/api/generate']) {
      const { answer } = await ask(clientApis, path, { model, messages: hello, prompt: 'hi', stream: false });
      assert.equal(answer.status, 200, `${model} ${path}: ${answer.body}`);
    }
  }
});

test('an upstream error is a text field with its status', async (t) => {
  const clientApis = await start(t, (_request, reply) => reply.json(429, { error: { message: 'too fast' } }));
  const { answer, lines } = await ask(clientApis, '/api/chat', { model: 'talks', messages: hello });
  assert.deepEqual([answer.status, lines], [429, [{ error: 'too fast' }]]);
});

test('a key limited to completions or chat may use only that', async (t) => {
  const secrets = { completions: 'completing-key-with-enough-characters', chat: 'chatting-key-with-enough-characters' };
  const clientApis = await startClientApis(
    t,
    (request, reply) =>
      request.path === '/completions'
        ? reply.json(200, { choices: [{ index: 0, text: 'x', finish_reason: 'stop' }], usage })
        : answering({ content: 'x' })(request, reply),
    { models, keys: Object.entries(secrets).map(([id, secret]) => ({ id, secret, operations: [id] })) },
  );
  for (const [operation, path, capabilities] of [
    ['completions', '/completions', ['completion']],
    ['chat', '/chat/completions', ['completion', 'tools']],
  ] as const) {
    const headers: [string, string][] = [['Authorization', `Bearer ${secrets[operation]}`]];
    const answer = await clientApis.rig.post(
      '/api/generate',
      { model: 'both', prompt: 'hi', stream: false },
      { headers },
    );
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal((await clientApis.asked()).path, path);
    const shown = (await clientApis.rig.post('/api/show', { model: 'both' }, { headers })).json() as {
      capabilities: string[];
    };
    assert.deepEqual(shown.capabilities, capabilities);
  }
});
