/** `usage: ask`: a stream is counted for the gateway, and its client sees what it would have seen. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { authorized, type Pair, startPair } from '../support/gateways/pair.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const event = (text: string): string => `data: {"id":"c","choices":[{"index":0,"text":"${text}"}],"usage":null}\n\n`;
const count =
  'data: {"id":"c","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":100,"total_tokens":107}}\n\n';
const done = 'data: [DONE]\n\n';
const eventStream: [string, string] = ['Content-Type', 'text/event-stream'];

const streaming =
  (pieces: readonly (string | Buffer)[], headers: readonly [string, string][] = [eventStream]): Handler =>
  (_request, reply) =>
    reply.bytes(200, headers, pieces, { chunked: true });

const counted = streaming([event('a'), event('b'), count, done]);

function start(
  t: TestContext,
  handler: Handler = counted,
  model: Readonly<Record<string, unknown>> = { usage: 'ask' },
): Promise<Pair> {
  return startPair(t, handler, { model });
}

const askWith = ({ rig }: Pair, body: string, ...headers: [string, string][]): Promise<RawResponse> =>
  rig.post('/v1/completions', body, { headers: authorized(...headers) });

const sentBody = (pair: Pair): string | undefined => pair.upstream.requests.at(-1)?.body.toString();

for (const [what, sent, goes] of [
  [
    'absent',
    '{"model":"m","prompt":"p", "stream":true}',
    '{"stream_options":{"include_usage":true},"model":"m","prompt":"p", "stream":true}',
  ],
  [
    'null',
    '{"prompt":"p","stream":true,"stream_options": null,"model":"m"}',
    '{"prompt":"p","stream":true,"stream_options": {"include_usage":true},"model":"m"}',
  ],
  [
    'empty',
    '{"model":"m","prompt":"p","stream":true,"stream_options":{ }}',
    '{"model":"m","prompt":"p","stream":true,"stream_options":{"include_usage":true }}',
  ],
  [
    'false',
    '{"model":"m","prompt":"p","stream":true,"stream_options":{"a":1.0,"include_usage" :false}}',
    '{"model":"m","prompt":"p","stream":true,"stream_options":{"a":1.0,"include_usage" :true}}',
  ],
  [
    'null inside',
    '{"model":"m","prompt":"p","stream":true,"stream_options":{"include_usage":null,"b":[]}}',
    '{"model":"m","prompt":"p","stream":true,"stream_options":{"include_usage":true,"b":[]}}',
  ],
  [
    'other options',
    '{"stream_options":{"chunk":1e0},"model":"m","prompt":"p","stream":true}',
    '{"stream_options":{"include_usage":true,"chunk":1e0},"model":"m","prompt":"p","stream":true}',
  ],
] as const) {
  test(`include_usage is inserted, and all other bytes kept: ${what}`, async (t) => {
    const pair = await start(t);
    const answer = await askWith(pair, sent, ['Accept-Encoding', 'gzip, br']);
    assert.equal(sentBody(pair), goes);
    assert.equal(pair.upstream.requests[0]?.header('accept-encoding'), 'identity');
    assert.equal(answer.body.toString(), event('a') + event('b') + done);
    assert.equal(answer.complete, true);
    const { usage, responseBytes, bill } = await pair.rig.exchange();
    assert.deepEqual([usage?.promptTokens, usage?.completionTokens, bill?.isEstimated], [7, 100, false]);
    assert.equal(responseBytes, answer.body.length);
  });
}

test('include_usage and a renamed model are both inserted, in either order', async (t) => {
  const pair = await startPair(t, counted, { model: { usage: 'ask' }, target: { model: 'another-name-than-m' } });
  for (const [sent, goes] of [
    [
      '{"model":"m","stream_options":{},"prompt":"p","stream":true}',
      '{"model":"another-name-than-m","stream_options":{"include_usage":true},"prompt":"p","stream":true}',
    ],
    [
      '{"stream_options":null,"model":"m","prompt":"p","stream":true}',
      '{"stream_options":{"include_usage":true},"model":"another-name-than-m","prompt":"p","stream":true}',
    ],
    [
      '{"model":"m","prompt":"p","stream":true}',
      '{"stream_options":{"include_usage":true},"model":"another-name-than-m","prompt":"p","stream":true}',
    ],
  ]) {
    await askWith(pair, sent ?? '');
    assert.equal(sentBody(pair), goes);
  }
});

for (const [what, sent] of [
  ['is not streamed', '{"model":"m","prompt":"p"}'],
  ['has stream: false', '{"model":"m","prompt":"p","stream":false,"stream_options":null}'],
  ['has include_usage itself', '{"model":"m","prompt":"p","stream":true,"stream_options":{"include_usage":true}}'],
  ['has stream_options that are no object', '{"model":"m","prompt":"p","stream":true,"stream_options":"yes"}'],
  ['has stream_options in another letter case', '{"model":"m","prompt":"p","stream":true,"Stream_Options":{}}'],
] as const) {
  test(`if the request ${what}, usage is not requested, and both bodies pass byte for byte`, async (t) => {
    const pair = await start(t);
    const answer = await askWith(pair, sent, ['Accept-Encoding', 'gzip']);
    assert.equal(sentBody(pair), sent);
    assert.equal(pair.upstream.requests[0]?.header('accept-encoding'), 'gzip');
    assert.equal(answer.body.toString(), event('a') + event('b') + count + done);
  });
}

test('without usage: ask on the model, a stream passes byte for byte both ways', async (t) => {
  const pair = await start(t, counted, {});
  const sent = '{"model":"m","prompt":"p","stream":true}';
  assert.equal((await askWith(pair, sent)).body.toString(), event('a') + event('b') + count + done);
  assert.equal(sentBody(pair), sent);
});

test('duplicate stream options are refused', async (t) => {
  const pair = await start(t, counted, {});
  const sent = '{"model":"m","prompt":"p","stream":true,"stream_options":{},"Stream_Options":null}';
  const answer = await askWith(pair, sent);
  assert.equal(answer.status, 400);
  assert.match(answer.body.toString(), /duplicate_parameter/);
  assert.equal(pair.upstream.requests.length, 0);
});

test('only the event with usage and no choices is removed from the stream, at any split and line ending', async (t) => {
  const kept = [
    event('a'),
    ': a comment\n\n',
    'data: {"choices":[],"usage":null}\n\n',
    'data: {"choices":[],"prompt_filter_results":[]}\n\n',
    'data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}],"usage":{"completion_tokens":3}}\n\n',
    'event: x\r\ndata: {"usage"\r\n\r\n',
  ];
  const pair = await start(t);
  for (const ending of ['\n', '\r\n', '\r']) {
    const spell = (text: string): string => text.replaceAll(/\r?\n/g, ending);
    const whole = spell([...kept, count, done].join(''));
    for (const size of [1, 7, 64, whole.length]) {
      const pieces = whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      pair.upstream.respondWith(streaming(pieces));
      const answer = await askWith(pair, '{"model":"m","prompt":"p","stream":true}');
      assert.equal(
        answer.body.toString(),
        spell([...kept, done].join('')),
        `${JSON.stringify(ending)}, ${size} a piece`,
      );
    }
  }
});

test('an event too long for usage passes unchanged', async (t) => {
  const long = event('x'.repeat(300_000));
  const pair = await start(t, streaming([long.slice(0, 100_000), long.slice(100_000), count, done]));
  const answer = await askWith(pair, '{"model":"m","prompt":"p","stream":true}');
  assert.equal(answer.body.toString(), long + done);
});

test('a stream that is compressed regardless passes unchanged, and is counted', async (t) => {
  const whole = gzipSync(event('a') + count + done);
  const pair = await start(t, streaming([whole], [eventStream, ['Content-Encoding', 'gzip']]));
  assert.ok((await askWith(pair, '{"model":"m","prompt":"p","stream":true}')).body.equals(whole));
  assert.equal((await pair.rig.exchange()).usage?.completionTokens, 100);
});

test('an upstream that refuses include_usage is called again without it, and not asked again', async (t) => {
  const plain = streaming([event('a'), done]);
  const pair = await start(t, (request, reply) =>
    request.body.includes('stream_options')
      ? reply.json(400, { error: { message: 'Unrecognized request argument: stream_options' } })
      : plain(request, reply),
  );
  const sent = '{"model":"m","prompt":"p","stream":true}';
  for (let i = 0; i < 2; i += 1) {
    const answer = await askWith(pair, sent);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.toString(), event('a') + done);
    assert.equal(answer.header('x-postern-attempts'), i === 0 ? '2' : '1');
  }
  assert.deepEqual(
    pair.upstream.requests.map(({ body }) => body.toString() === sent),
    [false, true, true],
  );
});

test('a 400 for another reason is returned, and the next stream requests usage again', async (t) => {
  const pair = await start(t, (_request, reply) => reply.json(400, { error: { message: 'no such thing' } }));
  const sent = '{"model":"m","prompt":"p","stream":true}';
  for (let i = 0; i < 2; i += 1) assert.equal((await askWith(pair, sent)).status, 400);
  assert.deepEqual(
    pair.upstream.requests.map(({ body }) => body.toString() === sent),
    [false, true, false, true],
  );
});

test('a broken stream stays broken, with every byte received', async (t) => {
  const pair = await start(t, async (_request, reply) => {
    await reply.head(200, [eventStream, ['Transfer-Encoding', 'chunked']]);
    await reply.chunk(`${event('a')}data: {"cho`);
    reply.cut();
  });
  const answer = await askWith(pair, '{"model":"m","prompt":"p","stream":true}');
  assert.equal(answer.complete, false);
  assert.equal(answer.body.toString(), `${event('a')}data: {"cho`);
});

const chat = (delta: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 5, model: 'c', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;

test('a stream made from chat is counted as well, and the client gets usage only on request', async (t) => {
  const stop = chat({}).replace('"finish_reason":null', '"finish_reason":"stop"');
  const handler: Handler = (request, reply) => {
    if (refuses && request.body.includes('stream_options')) return reply.json(400, { error: { message: 'no' } });
    const isAsked = request.body.includes('"include_usage":true');
    return streaming([chat({ content: 'a' }), stop, ...(isAsked ? [count] : []), done])(request, reply);
  };
  let refuses = false;
  const pair = await startPair(t, handler, { model: { usage: 'ask' }, target: { bridge: 'chat' } });
  const asks = (more: object = {}): Promise<RawResponse> =>
    askWith(pair, JSON.stringify({ model: 'm', prompt: 'p', stream: true, ...more }));
  const answer = await asks();
  assert.match(answer.body.toString(), /"text":"a"/);
  assert.doesNotMatch(answer.body.toString(), /prompt_tokens/);
  assert.ok(answer.body.toString().endsWith(done));
  assert.equal((await pair.rig.exchange(1)).usage?.completionTokens, 100);
  assert.match((await asks({ stream_options: { include_usage: true } })).body.toString(), /"prompt_tokens":7/);
  refuses = true;
  assert.equal((await asks()).header('x-postern-attempts'), '2');
  assert.equal((await asks()).header('x-postern-attempts'), '1');
});
