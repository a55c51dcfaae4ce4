/** Provokes each error of the gateway: one row each, with request and settings. */

import type { TestContext } from 'node:test';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { digestOf } from '../../../src/lib/secrets/key-secret.ts';
import { type Rig, startRig, testKey } from '../gateways/rig.ts';
import { type FakeUpstream, type Script, startFakeUpstream } from '../upstreams/fake-upstream.ts';
import type { HeaderField } from './http-message.ts';
import { type RawResponse, send, toRequestBytes } from './raw-client.ts';
import { connect } from './raw-connection.ts';

const privateText = 'a private text that no error may repeat';
const upstreamKey = 'sk-upstream-credential-0123456789';
const expiredKey = 'expired-key-with-enough-characters';
const busyKey = 'busy-key-with-enough-characters-0';
const poorKey = 'poor-key-with-enough-characters-0';
const narrowKey = 'narrow-key-with-enough-characters';
const elsewhereKey = 'elsewhere-key-enough-characters';
const revokedKey = 'revoked-key-with-enough-characters';
const strangeKey = 'sk-a-key-that-nobody-ever-made-here';
const mistypedKey = 'pst_a-key-that-nobody-ever-made-here';

/** None of them may stand in any answer. */
export const secrets: readonly string[] = [
  privateText,
  testKey,
  upstreamKey,
  expiredKey,
  busyKey,
  poorKey,
  narrowKey,
  elsewhereKey,
  revokedKey,
  strangeKey,
  mistypedKey,
];

const goodBody = JSON.stringify({ model: 'm', input: privateText });

interface Setup {
  readonly rig: Rig;
  readonly upstream: FakeUpstream;
}

export async function openSetup(t: TestContext, { script, server = {}, target = {} }: Setting = {}): Promise<Setup> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    server: { body_limit: '64KiB', ...server },
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: upstreamKey, ...target }],
    models: [
      { id: 'm', operations: ['embeddings'], price: { request: 1 }, targets: [{ upstream: 'up' }] },
      { id: 'other', operations: ['embeddings'], targets: [{ upstream: 'up' }] },
      ...(Object.hasOwn(target, 'family')
        ? []
        : [{ id: 'answers', operations: ['responses'], targets: [{ upstream: 'up' }] }]),
    ],
    keys: [
      { id: 'test', secret: testKey },
      { id: 'expired', secret: expiredKey, expires: '2020-01-01' },
      { id: 'busy', secret: busyKey, limits: { requests_per_minute: 1 } },
      { id: 'poor', secret: poorKey, budgets: [{ every: 'month', amount: '0.5' }] },
      { id: 'narrow', secret: narrowKey, models: ['other'], operations: ['embeddings'] },
      { id: 'elsewhere', secret: elsewhereKey, addresses: ['192.0.2.0/24'] },
    ],
  });
  return { rig, upstream };
}

interface Setting {
  readonly script?: Script;
  readonly server?: Readonly<Record<string, unknown>>;
  readonly target?: Readonly<Record<string, unknown>>;
}

interface ErrorRow {
  readonly code: ErrorCode;
  readonly when: string;
  readonly param?: string;
  readonly message: RegExp;
  readonly setting?: Setting;
  /** The request never became one, so its own ID was never read. */
  readonly unparsed?: true;
  /** The fault is the upstream's: the call has to get there. */
  readonly upstreamIsAsked?: true;
  readonly ask: (setup: Setup) => Promise<RawResponse>;
}

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string;
  readonly type?: string;
  readonly headers?: readonly HeaderField[];
  readonly body?: string | Buffer;
}

export const clientId = 'the-clients.own_ID-1';

export function toBytes({
  method = 'POST',
  path = '/v1/embeddings',
  key = testKey,
  type,
  headers = [],
  body,
}: Asked): Buffer {
  return toRequestBytes({
    method,
    path,
    headers: [
      ['X-Request-Id', clientId],
      ...(key === '' ? [] : [['Authorization', `Bearer ${key}`] as const]),
      ['Content-Type', type ?? 'application/json'],
      ...headers,
    ],
    body: body ?? goodBody,
  });
}

const question =
  (asked: Asked) =>
  ({ rig }: Setup): Promise<RawResponse> =>
    send(rig.port, toBytes(asked));

/** What an operator's store does on a bad day. */
function breakStore({ rig }: Setup, find: () => Promise<unknown>): void {
  Object.assign(rig.store.keys, { find });
}

export const errorRows: readonly ErrorRow[] = [
  {
    code: 'invalid_json',
    when: 'the body breaks off',
    message: /at byte 62\); send one JSON object/,
    ask: question({ body: goodBody.slice(0, -1) }),
  },
  {
    code: 'invalid_json',
    when: 'the body is not UTF-8',
    message: /not valid UTF-8 \(at byte 22\); send it as UTF-8/,
    ask: question({ body: Buffer.from('{"model":"m","input":"\xff"}', 'latin1') }),
  },
  {
    code: 'invalid_json',
    when: 'the body is not what its Content-Encoding says',
    message: /not what its Content-Encoding says; send it plain/,
    ask: question({ headers: [['Content-Encoding', 'gzip']] }),
  },
  {
    code: 'invalid_multipart',
    when: 'a form ends before its boundary',
    message: /it ends before its last boundary \(at byte 2\)/,
    ask: question({ path: '/v1/audio/transcriptions', body: '--', type: 'multipart/form-data; boundary=x' }),
  },
  {
    code: 'missing_required_parameter',
    when: 'a required field is absent',
    param: 'input',
    message: /"input" is missing; send a string or an array/,
    ask: question({ body: '{"model":"m"}' }),
  },
  {
    code: 'missing_required_parameter',
    when: 'the model is absent',
    param: 'model',
    message: /"model" is missing; send a string/,
    ask: question({ body: `{"input":"${privateText}"}` }),
  },
  {
    code: 'invalid_type',
    when: 'a field has a type that no upstream accepts',
    param: 'input',
    message: /"input" must be a string or an array; a number came/,
    ask: question({ body: '{"model":"m","input":7}' }),
  },
  {
    code: 'invalid_type',
    when: 'the body is JSON but no object',
    message: /must be a JSON object; an array came/,
    ask: question({ body: `["${privateText}"]` }),
  },
  {
    code: 'duplicate_parameter',
    when: 'a field that the gateway reads is duplicated',
    param: 'model',
    message: /"model" stands twice .*keep one/,
    ask: question({ body: '{"model":"m","input":"x","Model":"other"}' }),
  },
  {
    code: 'body_too_deep',
    when: 'the body has 65 nesting levels',
    message: /deeper than 64 levels; flatten it/,
    ask: question({ body: `{"model":"m","input":${'['.repeat(64)}${']'.repeat(64)}}` }),
  },
  {
    code: 'operation_not_supported',
    when: 'the model does not serve the operation of the route',
    param: 'model',
    message: /"m" does not serve completions; GET \/v1\/models lists/,
    ask: question({ path: '/v1/completions', body: `{"model":"m","prompt":"${privateText}"}` }),
  },
  {
    code: 'unsupported_parameter',
    when: "the model's upstream does not support the parameter",
    param: 'frobnicate',
    message:
      /"frobnicate" cannot be served: the upstream "up" has no such parameter; leave it out, or ask the operator/,
    setting: { target: { family: 'mistral' } },
    ask: question({ body: `{"model":"m","input":"${privateText}","frobnicate":"${privateText}"}` }),
  },
  {
    code: 'unsupported_parameter',
    when: 'the x-postern-shape header names an unknown shape',
    param: 'x-postern-shape',
    message: /names no shape that is known here; send one of cohere, jina, voyage, tei, or none/,
    ask: question({
      path: '/v1/rerank',
      headers: [['X-Postern-Shape', privateText]],
      body: `{"model":"m","query":"q","documents":["${privateText}"]}`,
    }),
  },
  {
    code: 'malformed_request',
    when: 'the request has two Host headers',
    message: /Host header stands twice; send it once/,
    ask: question({
      headers: [
        ['Host', 'a'],
        ['Host', 'b'],
      ],
    }),
  },
  {
    code: 'malformed_request',
    when: 'the request is not valid HTTP',
    message: /not well-formed HTTP; fix the client/,
    unparsed: true,
    ask: ({ rig }) => send(rig.port, 'POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nX Y: 1\r\n\r\n'),
  },
  {
    code: 'missing_api_key',
    when: 'no header has a key',
    message: /send it as "Authorization: Bearer <key>"/,
    ask: question({ key: '' }),
  },
  {
    code: 'invalid_api_key',
    when: 'the key is unknown',
    message: /not known here; check it/,
    ask: question({ key: strangeKey }),
  },
  {
    code: 'invalid_api_key',
    when: 'the key has the form of a gateway key and does not exist',
    message: /mistyped or cut short .*copy it again/,
    ask: question({ key: mistypedKey }),
  },
  {
    code: 'expired_api_key',
    when: 'the key has expired',
    message: /has expired; ask the operator/,
    ask: question({ key: expiredKey }),
  },
  {
    code: 'revoked_api_key',
    when: 'the key was revoked',
    message: /was revoked; ask the operator/,
    async ask(setup) {
      const { keys } = setup.rig.store;
      const { id } = await keys.create({ name: '', digest: digestOf(revokedKey), hint: 'r', models: ['*'] });
      await keys.revoke(id);
      return question({ key: revokedKey })(setup);
    },
  },
  {
    code: 'model_not_allowed',
    when: "the key's list does not hold the model",
    param: 'model',
    message: /may not use the model; GET \/v1\/models lists/,
    setting: { server: { reveal_models: true } },
    ask: question({ key: narrowKey }),
  },
  {
    code: 'route_not_allowed',
    when: 'the key does not allow the operation of the route',
    message: /may not use this route; ask the operator/,
    ask: question({ key: narrowKey, path: '/v1/completions', body: '{"model":"m","prompt":"x"}' }),
  },
  {
    code: 'ip_not_allowed',
    when: "the key does not allow the client's address",
    message: /from your address; ask the operator/,
    ask: question({ key: elsewhereKey }),
  },
  {
    code: 'object_not_found',
    when: 'the request names a previous response that the project does not have',
    param: 'previous_response_id',
    message: /"previous_response_id" names is not known here/,
    ask: question({ path: '/v1/responses', body: '{"model":"answers","input":"x","previous_response_id":"resp_1"}' }),
  },
  {
    code: 'model_not_found',
    when: 'there is no such model',
    param: 'model',
    message: /"gpt-9" does not exist; GET \/v1\/models lists/,
    ask: question({ body: '{"model":"gpt-9","input":"x"}' }),
  },
  {
    code: 'route_not_found',
    when: 'no route has the path',
    message:
      /No route has this path; the nearest is POST \/v1\/chat\/completions\. Paths for POST: \/v1\/completions, /,
    ask: question({ path: '/v1/chat/complete' }),
  },
  {
    code: 'method_not_allowed',
    when: 'the path has another method only',
    message: /takes POST, not PUT/,
    ask: question({ method: 'PUT' }),
  },
  {
    code: 'request_timeout',
    when: 'the body comes too slowly',
    message: /too slowly for server\.timeouts; send it faster or in smaller requests/,
    setting: { server: { timeouts: { request: '100ms' } } },
    ask: ({ rig }) => send(rig.port, toBytes({}).subarray(0, -5)),
  },
  {
    code: 'body_too_large',
    when: 'the announced body is over the limit',
    message: /limit is 65536 bytes \(server\.body_limit\).*is 70000 bytes long; send it in smaller requests/,
    ask: question({ body: ' '.repeat(70_000) }),
  },
  {
    code: 'body_too_large',
    when: 'a body of unknown length goes over the limit',
    message: /limit is 65536 bytes .*goes on beyond it/,
    ask: question({ headers: [['Transfer-Encoding', 'chunked']], body: `11170\r\n${' '.repeat(70_000)}\r\n0\r\n\r\n` }),
  },
  {
    code: 'unsupported_media_type',
    when: 'the body is a form',
    message: /"Content-Type: application\/json"/,
    ask: question({ type: 'application/x-www-form-urlencoded' }),
  },
  {
    code: 'unsupported_encoding',
    when: 'the body has an unknown Content-Encoding',
    message: /Content-Encoding gzip, br, deflate or zstd/,
    ask: question({ headers: [['Content-Encoding', 'compress']] }),
  },
  {
    code: 'headers_too_large',
    when: 'one header is 40 KB long',
    message: /over the limit; send fewer or shorter ones/,
    unparsed: true,
    ask: question({ headers: [['X-Long', 'x'.repeat(40_000)]] }),
  },
  {
    code: 'headers_too_large',
    when: 'there are 300 headers',
    message: /over the limit; send fewer or shorter ones/,
    unparsed: true,
    ask: question({ headers: Array.from({ length: 300 }, (_, i) => [`X-${i}`, '']) }),
  },
  {
    code: 'internal_error',
    when: 'the gateway itself fails',
    message: /inside the gateway; tell the operator the request ID/,
    async ask(setup) {
      breakStore(setup, async () => ({ id: 'a record with nothing in it' }));
      return question({ key: strangeKey })(setup);
    },
  },
  {
    code: 'rate_limit_exceeded',
    when: 'a limit of the key is reached',
    message: /limit of 1 requests? a minute of the key "busy" is reached; try again in \d+ s/,
    upstreamIsAsked: true,
    async ask(setup) {
      await question({ key: busyKey })(setup);
      return question({ key: busyKey })(setup);
    },
  },
  {
    code: 'budget_exceeded',
    when: "the request's worst-case cost exceeds the rest of a budget",
    message: /budget of the key "poor" for this month is \$0\.5.*could cost up to \$1/,
    ask: question({ key: poorKey }),
  },
  {
    code: 'store_unavailable',
    when: 'the store is unreachable, and the key is not cached',
    message: /cannot be looked up just now; try again/,
    async ask(setup) {
      breakStore(setup, async () => {
        throw new Error(`disk on fire at /var/lib/${upstreamKey}`);
      });
      return question({ key: strangeKey })(setup);
    },
  },
  {
    code: 'upstream_unreachable',
    when: "the upstream's port refuses connections",
    message: /could not be reached; try again later/,
    async ask(setup) {
      await setup.upstream.close();
      return question({})(setup);
    },
  },
  {
    code: 'upstream_unreachable',
    when: 'the upstream closes the connection without a response',
    message: /closed the connection before it answered; try again later/,
    setting: { script: (_request, reply) => reply.cut() },
    upstreamIsAsked: true,
    ask: question({}),
  },
  {
    code: 'upstream_protocol_error',
    when: "the upstream's response is not HTTP",
    message: /not valid HTTP\/1\.1; tell the operator: /,
    setting: { script: (_request, reply) => reply.raw(`+PONG ${upstreamKey}\r\n\r\n`) },
    upstreamIsAsked: true,
    ask: question({}),
  },
  {
    code: 'upstream_protocol_error',
    when: "the upstream's response head is too long",
    message: /not valid HTTP\/1\.1; tell the operator: .*65536 bytes/,
    setting: { script: (_request, reply) => reply.raw(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`) },
    upstreamIsAsked: true,
    ask: question({}),
  },
  {
    code: 'upstream_protocol_error',
    when: 'a response that has to be translated does not match the request',
    message: /does not fit the request \(1 vectors for 2 inputs\); try again, and tell the operator/,
    setting: {
      target: { family: 'cohere' },
      script: (_request, reply) => reply.json(200, { embeddings: { float: [[1]] }, id: upstreamKey }),
    },
    upstreamIsAsked: true,
    ask: question({ body: `{"model":"m","input":["${privateText}","x"]}` }),
  },
  {
    code: 'upstream_protocol_error',
    when: 'a response that has to be translated exceeds answer_limit',
    message: /over 1024 bytes.*upstreams\[\]\.answer_limit\); ask for less, or tell the operator/,
    setting: {
      target: { family: 'cohere', answer_limit: '1KiB' },
      script: (_request, reply) => reply.json(200, { pad: upstreamKey.repeat(100) }),
    },
    upstreamIsAsked: true,
    ask: question({}),
  },
  {
    code: 'upstream_protocol_error',
    when: 'the upstream answers with a redirect',
    message: /redirect, which is never followed; the operator must set its base_url/,
    setting: { script: (_request, reply) => reply.bytes(307, [['location', 'http://127.0.0.1:1/']], '') },
    upstreamIsAsked: true,
    ask: question({}),
  },
  {
    code: 'upstream_protocol_error',
    when: "an error repeats the upstream's credential",
    message: /repeats a credential; it is withheld. Tell the operator/,
    setting: { script: (_request, reply) => reply.json(401, { error: `bad key ${upstreamKey}` }) },
    upstreamIsAsked: true,
    ask: question({}),
  },
  {
    code: 'no_upstream_available',
    when: 'the only upstream has sent Retry-After',
    message: /asked for a pause; try again in 30 s/,
    setting: { script: (_request, reply) => reply.json(503, { error: 'busy' }, [['retry-after', '30']]) },
    upstreamIsAsked: true,
    async ask(setup) {
      await question({})(setup);
      return question({})(setup);
    },
  },
  {
    code: 'overloaded',
    when: 'the upstream is at its concurrency limit, and its queue is full',
    message: /queues are full or too slow \(upstreams\[\]\.limits\); try again in 1 s/,
    setting: { script: (_request, reply) => reply.stall(), target: { limits: { concurrency: 1, queue: 0 } } },
    upstreamIsAsked: true,
    async ask(setup) {
      const first = await connect(setup.rig.port);
      await first.write(toBytes({}));
      await setup.upstream.nextRequest();
      const answer = await question({})(setup);
      first.destroy();
      return answer;
    },
  },
  {
    code: 'overloaded',
    when: 'the gateway has too little memory left',
    message: /short of memory \(server\.shedding\.memory\).*try again in 1 s/,
    setting: { server: { shedding: { memory: '64MiB' } } },
    ask: question({}),
  },
  {
    code: 'upstream_timeout',
    when: 'the upstream sends no response in time',
    message: /longer than 0\.05 s .*timeouts\.first_byte\); try again later/,
    setting: { script: (_request, reply) => reply.stall(), target: { timeouts: { first_byte: '50ms' } } },
    upstreamIsAsked: true,
    ask: question({}),
  },
];
