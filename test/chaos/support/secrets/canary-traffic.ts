/** Requests of every type with canaries in every part, and upstreams that answer with more. */

import { gzipSync } from 'node:zlib';
import type { HeaderField } from '../../../support/clients/http-message.ts';
import { type RawResponse, request, send } from '../../../support/clients/raw-client.ts';
import { connect } from '../../../support/clients/raw-connection.ts';
import type { GatewayProcess } from '../../../support/gateways/gateway-process.ts';
import type { Handler } from '../../../support/upstreams/fake-upstream.ts';
import type { Canaries, Trace } from './canaries.ts';

export interface Traffic {
  /** Answers of the gateway itself to clients. */
  readonly answers: Trace[];
  /** By status. */
  readonly statuses: Map<number, number>;
}

/** The first word of a body's `do` decides how the upstream answers. */
export function createAnswers(texts: Canaries): Handler {
  const text = texts.make('answer');
  const error = { error: { message: texts.make('upstream-error'), type: text, code: text, param: text } };
  const canaryHeaders = [['X-Told', texts.make('answer-header')]] as const;
  const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
  return async (entry, reply) => {
    if (entry.path.startsWith('/health')) return reply.json(entry.path.length % 2 === 0 ? 200 : 503, error);
    const body = entry.body.toString();
    const does = (word: string): boolean => body.includes(`"do":"${word}"`);
    const credential = (entry.header('authorization') ?? '').replace('Bearer ', '');
    if (does('refuse')) return reply.json(400, error, canaryHeaders);
    if (does('fail')) return reply.json(503, error, canaryHeaders);
    if (does('limit')) return reply.json(429, error, [...canaryHeaders, ['retry-after', '0']]);
    if (does('reject')) return reply.json(401, error, canaryHeaders);
    if (does('leak')) return reply.json(401, { error: { message: `bad key ${credential}` } }, canaryHeaders);
    if (does('pack')) {
      return reply.bytes(
        400,
        [
          ['content-encoding', 'gzip'],
          ['content-type', 'application/json'],
        ],
        gzipSync(JSON.stringify(error)),
      );
    }
    if (does('babble')) return reply.raw(`${text}\r\n\r\n`);
    if (does('badhead')) return reply.raw(`HTTP/1.1 200 OK\r\n${text} : x\r\n\r\n`);
    if (does('redirect')) return reply.bytes(302, [['location', `http://127.0.0.1:1/${text}`]], text);
    if (does('reset')) return reply.reset();
    if (does('silent')) return reply.stall();
    if (does('cut')) {
      await reply.raw(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${text}`);
      return reply.cut();
    }
    if (does('hang')) {
      await reply.head(200, [
        ['content-type', 'text/event-stream'],
        ['transfer-encoding', 'chunked'],
      ]);
      await reply.chunk(`data: ${text}\n\n`);
      return reply.stall();
    }
    if (does('stream')) return reply.sse([{ choices: [{ text }] }, { choices: [], usage }, '[DONE]']);
    return reply.json(200, { text, model: text, data: [{ embedding: [1], text }], usage }, canaryHeaders);
  };
}

const words = [
  'fine',
  'refuse',
  'fail',
  'limit',
  'reject',
  'leak',
  'pack',
  'babble',
  'badhead',
  'redirect',
  'reset',
  'cut',
];

export interface TrafficOptions {
  readonly gateway: GatewayProcess;
  readonly keys: readonly string[];
  readonly models: readonly string[];
  readonly texts: Canaries;
  readonly secrets: Canaries;
}

/** Each way of answering through each model with each key, and everything that ends before. */
export async function sendTraffic({ gateway, keys, models, texts, secrets }: TrafficOptions): Promise<Traffic> {
  const { port } = gateway;
  const traffic: Traffic = { answers: [], statuses: new Map() };
  const note = (response: RawResponse): RawResponse => {
    traffic.statuses.set(response.status, (traffic.statuses.get(response.status) ?? 0) + 1);
    // An upstream's text is for the client; the gateway's own text must not reveal anything.
    if (response.header('x-postern-upstream') === undefined) {
      traffic.answers.push({ location: `an answer ${response.status}`, bytes: response.rawBytes });
    }
    return response;
  };
  const [first = ''] = keys;
  const part = texts.make('body');
  const fields = (model: unknown, does: string): Record<string, unknown> => ({
    ...{ model, do: does, input: part, prompt: part, user: part, metadata: { [texts.make('name')]: part } },
    stream: does === 'stream' || does === 'hang',
  });
  const others: readonly HeaderField[] = [
    ['X-Mine', texts.make('forwarded')],
    ['X-Other', texts.make('header')],
    [`X-${texts.make('header-name')}`, '1'],
    ['Cookie', `session=${texts.make('cookie')}`],
    ['User-Agent', texts.make('agent')],
    ['Referer', `http://x/${texts.make('referer')}`],
    ['traceparent', texts.make('trace')],
    ['OpenAI-Organization', texts.make('account')],
    ['Proxy-Authorization', `Basic ${texts.make('proxy')}`],
    ['X-Forwarded-For', texts.make('address')],
    ['X-Request-Id', `not fit: ${texts.make('request-id')}`],
  ];
  const headers = (key: string): HeaderField[] => [['Authorization', `Bearer ${key}`], ...others];
  const query = `?key=${first}&q=${texts.make('query')}`;
  const ask = async (path: string, body: unknown, fieldsOf: HeaderField[] = headers(first)): Promise<RawResponse> =>
    note(await request({ port, path: path + query, headers: fieldsOf, body, timeoutMs: 15_000 }));

  for (const model of models) {
    await Promise.all(words.map((word) => ask('/v1/embeddings', fields(model, word))));
    await ask('/v1/completions', fields(model, 'stream'));
  }
  for (const key of keys) await ask('/v1/embeddings', fields(models[0], 'fine'), headers(key));
  await ask('/v1/completions', fields(models[0], 'silent'));
  // A budget that is soon spent, with alerts.
  for (let turn = 0; turn < 4; turn += 1) await ask('/v1/embeddings', fields('poor', 'fine'));

  for (const key of ['strange-key', 'pst_strange0key0'].map((name) => secrets.make(name))) {
    for (const header of ['x-api-key', 'api-key', 'x-goog-api-key'])
      await ask('/v1/embeddings', fields(models[0], ''), [[header, key]]);
    await ask('/v1/embeddings', fields(models[0], ''), headers(key));
    await ask('/v1/embeddings', fields(models[0], ''), [
      ['Authorization', `Basic ${Buffer.from(`u:${key}`).toString('base64')}`],
    ]);
    await ask('/v1/embeddings', fields(models[0], ''), [['Authorization', key]]);
    await ask(`/v1/models/${key}`, undefined, [['x-api-key', key]]);
    await ask('/v1/embeddings', fields(models[0], ''), [
      ['x-api-key', key],
      ['api-key', first],
    ]);
    await request({ port, path: `/v1/models?key=${key}` }).then(note);
  }
  await ask('/v1/embeddings', { ...fields(models[0], ''), input: 7, user: part });
  await ask('/v1/embeddings', { ...fields(models[0], ''), input: { [part]: part } });
  await ask('/v1/embeddings', { model: { [part]: part }, input: part });
  await ask('/v1/embeddings', `{"${part}": ${part}`);
  await ask('/v1/embeddings', `{"model": "m-up", "input": "${part}", "input": "${part}"}`);
  await ask('/v1/embeddings', part.repeat(4_000));
  await ask('/v1/embeddings', part, [
    ['x-api-key', first],
    ['content-type', `text/${part}`],
  ]);
  await ask('/v1/embeddings', part, [
    ['x-api-key', first],
    ['content-encoding', part],
  ]);
  await ask('/v1/embeddings', gzipSync(part).subarray(0, 20), [
    ['x-api-key', first],
    ['content-encoding', 'gzip'],
  ]);
  await ask('/v1/embeddings', { model: 'free-model', input: part });
  await send(port, `${part}\r\n\r\n`).then(note);
  await send(port, `POST /${part} HTTP/1.1\r\nX Y: ${part}\r\n\r\n`).then(note);
  await send(port, `POST /v1/embeddings HTTP/1.1\r\nHost: ${part}/x\r\nContent-Length: 1\r\n\r\n${part}`).then(note);

  const half = `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${first}\r\nContent-Length: 999\r\n\r\n${part}`;
  const slow = send(port, half, { timeoutMs: 10_000 });
  const leaving = await connect(port);
  await leaving.write(half);
  leaving.reset();
  note(await slow);
  return traffic;
}

/** Leaves a stream open and a call unanswered, so that the gateway is killed in the middle of them. */
export async function leaveOpen({ port }: GatewayProcess, key: string, model: string, texts: Canaries): Promise<void> {
  for (const word of ['hang', 'silent']) {
    const body = JSON.stringify({ model, do: word, prompt: texts.make('unfinished'), stream: true });
    const connection = await connect(port, { timeoutMs: 10_000 });
    await connection.write(
      `POST /v1/completions HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    if (word === 'hang') await connection.sees('data:');
  }
}
