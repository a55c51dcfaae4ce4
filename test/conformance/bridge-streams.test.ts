/** Streams of completions that are made of streams of chat: event by event, and as visibly broken as what they are made of. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import OpenAI from 'openai';
import { type RawResponse, toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { authorized } from '../support/gateways/pair.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { until } from '../support/time/until.ts';
import { type FakeUpstream, type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

interface Bridge {
  readonly upstream: FakeUpstream;
  readonly rig: Rig;
  ask(more?: object): Promise<RawResponse>;
}

async function startBridge(t: TestContext, script: Script): Promise<Bridge> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-0123456789' }],
    models: [{ id: 'm', targets: [{ upstream: 'up', bridge: 'chat' }] }],
  });
  return { upstream, rig, ask: (more = {}) => rig.post('/v1/completions', question(more)) };
}

const question = (more: object = {}): object => ({ model: 'm', prompt: 'p', stream: true, ...more });

/** A chunk of chat. */
const part = (content: string | null, more: object = {}, index = 0): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 5,
  model: 'c',
  choices: [{ index, delta: content === null ? {} : { content }, logprobs: null, finish_reason: null, ...more }],
});

const stop = (index = 0): object => part(null, { finish_reason: 'stop' }, index);

/** What the client gets for it. */
const frame = (text: string, more: object = {}, beside: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 5,
    model: 'c',
    choices: [{ text, index: 0, logprobs: null, finish_reason: null, ...more }],
    ...beside,
  })}\n\n`;

const end = frame('', { finish_reason: 'stop' });
const done = 'data: [DONE]\n\n';

const eventStream: [string, string][] = [
  ['Content-Type', 'text/event-stream; charset=utf-8'],
  ['Transfer-Encoding', 'chunked'],
];

test('chat chunks become chunks of the completions API', async (t) => {
  const { ask, upstream } = await startBridge(t, (_request, reply) =>
    reply.sse([part('', { delta: { role: 'assistant', content: '' } }), part('a'), part('é🚀'), stop(), '[DONE]']),
  );
  const answer = await ask({ max_tokens: 5 });
  assert.equal(answer.body.toString(), frame('') + frame('a') + frame('é🚀') + end + done);
  assert.equal(answer.complete, true);
  assert.equal(answer.header('x-postern-translated'), 'chat');
  const [request] = upstream.requests;
  assert.equal(request?.path, '/chat/completions');
  assert.equal(request?.header('accept'), 'text/event-stream');
  assert.deepEqual(JSON.parse(request?.body.toString() ?? ''), {
    model: 'm',
    messages: [{ role: 'user', content: 'p' }],
    stream: true,
    max_tokens: 5,
  });
});

test('a chunk reaches the client before the upstream makes the next', async (t) => {
  let goOn = (): void => {};
  const { rig } = await startBridge(t, async (_request, reply) => {
    await reply.head(200, eventStream);
    for (const text of ['one', 'two', 'three']) {
      const seen = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await reply.chunk(`data: ${JSON.stringify(part(text))}\r\n\r\n`);
      await seen;
    }
    await reply.chunk(`data: ${JSON.stringify(stop())}\r\n\r\ndata: [DONE]\r\n\r\n`);
    await reply.lastChunk();
  });
  const connection = await connect(rig.port);
  t.after(() => connection.destroy());
  await connection.write(toRequestBytes({ path: '/v1/completions', headers: authorized(), body: question() }));
  for (const text of ['one', 'two', 'three']) {
    await connection.sees(frame(text));
    goOn();
  }
  const { body, complete } = await connection.nextResponse();
  assert.equal(body.toString(), frame('one') + frame('two') + frame('three') + end + done);
  assert.equal(complete, true);
});

test('characters and events may be split anywhere, with comments between', async (t) => {
  const text = `: hello\n\nevent: chunk\nid: 1\ndata: ${JSON.stringify(part('日本🚀'))}\n\ndata: ${JSON.stringify(stop())}\n\n${done}`;
  const { ask } = await startBridge(t, async (_request, reply) => {
    await reply.head(200, eventStream);
    for (const byte of Buffer.from(text)) await reply.chunk(Buffer.from([byte]));
    await reply.lastChunk();
  });
  assert.equal((await ask()).body.toString(), frame('日本🚀') + end + done);
});

test('usage comes last if requested, from any position, and is dropped otherwise', async (t) => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const apart = { ...part(null), choices: [], usage };
  const beside = { ...stop(), usage };
  const alone = { usage };
  for (const events of [
    [part('a'), stop(), apart],
    [part('a'), beside],
    [part('a'), stop(), alone],
  ]) {
    const { ask, rig } = await startBridge(t, (_request, reply) => reply.sse([...events, '[DONE]']));
    const counted = await ask({ stream_options: { include_usage: true } });
    const nothing = { usage: null };
    const last = frame('', {}, { choices: [], usage });
    assert.equal(
      counted.body.toString(),
      frame('a', {}, nothing) + frame('', { finish_reason: 'stop' }, nothing) + last + done,
    );
    assert.equal((await ask()).body.toString(), frame('a') + end + done);
    for (const count of [1, 2]) {
      assert.deepEqual((await rig.exchange(count)).usage, {
        promptTokens: 3,
        completionTokens: 2,
        totalTokens: 5,
        searchUnits: null,
      });
    }
  }
});

test('each of several choices begins with the prompt if echo is set', async (t) => {
  const { ask } = await startBridge(t, (_request, reply) =>
    reply.sse([part('a'), part('b', {}, 1), stop(1), part('c'), stop(), '[DONE]']),
  );
  assert.equal(
    (await ask({ n: 2, echo: true })).body.toString(),
    [
      frame('p'),
      frame('a'),
      frame('p', { index: 1 }),
      frame('b', { index: 1 }),
      frame('', { index: 1, finish_reason: 'stop' }),
      frame('c'),
      end,
      done,
    ].join(''),
  );
});

test('logprobs come with each chunk, and offsets continue', async (t) => {
  const likely = (token: string): object => ({ logprobs: { content: [{ token, logprob: -1, top_logprobs: [] }] } });
  const { ask } = await startBridge(t, (_request, reply) =>
    reply.sse([part('é🚀', likely('é🚀')), part('b', likely('b')), stop(), '[DONE]']),
  );
  const listed = (token: string, offset: number): object => ({
    logprobs: { tokens: [token], token_logprobs: [-1], top_logprobs: [{ [token]: -1 }], text_offset: [offset] },
  });
  assert.equal(
    (await ask({ logprobs: 0 })).body.toString(),
    frame('é🚀', listed('é🚀', 0)) + frame('b', listed('b', 2)) + end + done,
  );
});

test('an upstream that ends after the last finish reason without [DONE] is complete', async (t) => {
  const { ask } = await startBridge(t, (_request, reply) => reply.sse([part('a'), stop()]));
  const { body, complete } = await ask();
  assert.deepEqual([body.toString(), complete], [frame('a') + end + done, true]);
});

test("a truncated or invalid stream breaks the client's connection", async (t) => {
  const event = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
  const tool = part(null, { delta: { tool_calls: [{ index: 0 }] } });
  for (const [rest, how] of [
    ['', 'reset'],
    ['', 'end'],
    [event(part('b')).slice(0, -9), 'end'],
    [event('{"id":'), 'end'],
    [event('{}'), 'end'],
    [event([]), 'end'],
    [event(part('b', {}, 1)), 'end'],
    [event({ ...part('b'), choices: [{ delta: { content: 'b' } }] }), 'end'],
    [event(part('b', { delta: { content: 7 } })), 'end'],
    [event(part('b', { finish_reason: 'error' })), 'end'],
    [Buffer.from('646174613a2022c328220a0a', 'hex'), 'end'],
  ] as const) {
    const { ask, rig } = await startBridge(t, async (_request, reply) => {
      await reply.head(200, eventStream);
      await reply.chunk(event(part('a')));
      await reply.sleep(20);
      if (rest.length > 0) await reply.chunk(rest);
      if (how === 'reset') reply.reset();
      else await reply.lastChunk();
    });
    const { body, complete, status } = await ask();
    assert.deepEqual([status, body.toString(), complete], [200, frame('a'), false], `${rest} ${how}`);
    assert.equal((await rig.exchange()).cut, true);
  }
  const { ask } = await startBridge(t, (_request, reply) =>
    reply.sse([tool, part(null, { finish_reason: 'tool_calls' }), '[DONE]']),
  );
  const { body, complete } = await ask();
  assert.deepEqual([body.toString(), complete], [frame(''), false]);
});

test('an empty or "null" finish reason does not count as the end of the stream', async (t) => {
  for (const finish_reason of ['', 'null']) {
    const events = [part('a', { finish_reason }), part(null, { finish_reason })];
    for (const last of [[], ['[DONE]']]) {
      const { ask, rig } = await startBridge(t, (_request, reply) => reply.sse([...events, ...last]));
      const { body, complete } = await ask();
      assert.deepEqual([body.toString(), complete], [frame('a') + frame(''), false]);
      assert.equal((await rig.exchange()).cut, true);
    }
    const { ask } = await startBridge(t, (_request, reply) => reply.sse([...events, stop(), '[DONE]']));
    assert.equal((await ask()).body.toString(), frame('a') + frame('') + end + done);
  }
});

test('[DONE] ends only after every requested choice has finished', async (t) => {
  for (const events of [
    [part('a')],
    [part('a'), stop()],
    [part('a'), part('b', {}, 1)],
    [part('a'), part('b', {}, 1), stop(1)],
  ]) {
    const { ask } = await startBridge(t, (_request, reply) => reply.sse([...events, '[DONE]']));
    const { body, complete } = await ask({ n: 2 });
    assert.equal(complete, false);
    assert.doesNotMatch(body.toString(), /DONE/);
  }
});

test('invalid usage is dropped, and an infinite logprob breaks the stream', async (t) => {
  const usage = { prompt_tokens: 3, completion_tokens: -2, total_tokens: 1 };
  const { ask, rig } = await startBridge(t, (_request, reply) =>
    reply.sse([part('a'), stop(), { ...part(null), choices: [], usage }, '[DONE]']),
  );
  const counted = await ask({ stream_options: { include_usage: true } });
  const nothing = { usage: null };
  assert.equal(counted.body.toString(), frame('a', {}, nothing) + frame('', { finish_reason: 'stop' }, nothing) + done);
  assert.equal((await rig.exchange()).usage, null);
  const endless = JSON.stringify(part('a', { logprobs: { content: [{ token: 'a', logprob: 7 }] } }));
  const bridge = await startBridge(t, (_request, reply) =>
    reply.sse([endless.replace('"logprob":7', '"logprob":-1e999'), JSON.stringify(stop()), '[DONE]']),
  );
  const { body, complete } = await bridge.ask({ logprobs: 0 });
  assert.deepEqual([body.toString(), complete], ['', false]);
});

test('a chat chunk without choices produces no completions chunk', async (t) => {
  const filtered = { id: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
  const { ask } = await startBridge(t, (_request, reply) => reply.sse([filtered, part('a'), stop(), '[DONE]']));
  assert.equal((await ask()).body.toString(), frame('a') + end + done);
});

test('an empty stream is an error', async (t) => {
  for (const events of [['[DONE]'], [], [{ ...part(null), choices: [] }, '[DONE]']]) {
    const { ask } = await startBridge(t, (_request, reply) => reply.sse(events));
    const { body, complete } = await ask();
    assert.deepEqual([body.toString(), complete], ['', false]);
  }
});

test('an error in mid-stream is passed on without [DONE]', async (t) => {
  const { ask } = await startBridge(t, (_request, reply) =>
    reply.sse([part('a'), { error: { message: 'overloaded', code: 503 } }, '[DONE]']),
  );
  const { body, complete } = await ask();
  const said = body.toString().slice(frame('a').length);
  assert.deepEqual(JSON.parse(said.slice('data: '.length)), {
    error: {
      message: 'overloaded',
      type: 'upstream_error',
      param: null,
      code: 'upstream_failed',
      upstream: { error: { message: 'overloaded', code: 503 } },
    },
  });
  assert.equal(complete, false);
});

test("an error before the stream keeps its status, in the gateway's shape", async (t) => {
  const { ask, upstream } = await startBridge(t, (_request, reply) =>
    reply.json(400, { error: { message: 'too long', type: 'invalid_request_error', code: 400 } }),
  );
  const { status, body } = await ask();
  const { error } = JSON.parse(body.toString());
  assert.deepEqual([status, error.message, error.code, error.param], [400, 'too long', 'upstream_refused', null]);
  assert.equal(upstream.requests.length, 1);
});

test('a response that is no event stream is never passed on as one', async (t) => {
  for (const [type, coding] of [
    ['application/json', 'identity'],
    ['text/html', 'identity'],
    ['text/event-stream', 'gzip'],
  ] as const) {
    const { ask } = await startBridge(t, (_request, reply) =>
      reply.bytes(
        200,
        [
          ['content-type', type],
          ['content-encoding', coding],
        ],
        done,
      ),
    );
    const { status, body } = await ask();
    assert.equal(status, 502);
    assert.match(body.toString(), /"code":"upstream_protocol_error"/);
  }
});

test('a client that disconnects cancels the upstream', async (t) => {
  let left = (): void => {};
  const isLeft = new Promise<void>((resolve) => {
    left = resolve;
  });
  const { rig } = await startBridge(t, async (_request, reply) => {
    await reply.head(200, eventStream);
    await reply.chunk(`data: ${JSON.stringify(part('a'))}\n\n`);
    await reply.clientClosed;
    left();
  });
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: testKey, maxRetries: 0 });
  const stream = await client.completions.create({ model: 'm', prompt: 'p', stream: true });
  for await (const { choices } of stream) {
    assert.equal(choices[0]?.text, 'a');
    break;
  }
  await isLeft;
  assert.equal((await rig.exchange()).errorCode, 'client_closed');
});

test('several running calls are cancelled when the client disconnects', async (t) => {
  let open = 0;
  let wake = (): void => {};
  const { rig } = await startBridge(t, async (_request, reply) => {
    open += 1;
    wake();
    await reply.clientClosed;
    open -= 1;
    wake();
  });
  const until = async (count: number): Promise<void> => {
    while (open !== count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const connection = await connect(rig.port);
  const body = { model: 'm', prompt: ['a', 'b', 'c'] };
  await connection.write(toRequestBytes({ path: '/v1/completions', headers: authorized(), body }));
  await until(3);
  connection.reset();
  await until(0);
  assert.equal((await rig.exchange()).errorCode, 'client_closed');
});

test('an upstream that stays connected after [DONE] does not hold the client', async (t) => {
  const { ask, upstream } = await startBridge(t, async (_request, reply) => {
    await reply.head(200, eventStream);
    await reply.chunk(`data: ${JSON.stringify(part('a'))}\n\ndata: ${JSON.stringify(stop())}\n\n${done}`);
    await reply.stall();
  });
  const { body, complete } = await ask();
  assert.deepEqual([body.toString(), complete], [frame('a') + end + done, true]);
  // The client has it all while the upstream still holds its connection.
  assert.equal(upstream.connections().open, 1);
  await until(() => upstream.connections().open === 0);
});
