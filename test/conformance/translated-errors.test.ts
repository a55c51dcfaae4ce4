/** An upstream's error in its own format reaches the client in OpenAI's format, with its status, and never with a credential. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import { assertError } from '../support/clients/error-answer.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { refusingWith, startSeveral } from '../support/gateways/several.ts';
import { startTranslated } from '../support/gateways/translated.ts';
import { patiently } from '../support/time/patience.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const question = { model: 'm', input: 'abc' };
const credential = 'sk-upstream/credential+0123456789';

const errorShape = z.strictObject({
  error: z.strictObject({
    message: z.string().min(1),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string(),
    upstream: z.unknown(),
  }),
});

const errorIn = (answer: RawResponse) => errorShape.parse(answer.json()).error;

const saying =
  (status: number, body: string | Buffer, headers: readonly (readonly [string, string])[] = []): Handler =>
  (_request, reply) =>
    reply.bytes(status, headers, body);

test('every error status is kept, with a type that tells client from server faults', async (t) => {
  const { embed, upstream } = await startTranslated(t);
  for (const [status, type, code] of [
    [400, 'invalid_request_error', 'upstream_refused'],
    [404, 'invalid_request_error', 'upstream_refused'],
    [413, 'invalid_request_error', 'upstream_refused'],
    [422, 'invalid_request_error', 'upstream_refused'],
    [451, 'invalid_request_error', 'upstream_refused'],
    [401, 'authentication_error', 'upstream_denied'],
    [403, 'permission_error', 'upstream_denied'],
    [429, 'rate_limit_error', 'rate_limit_exceeded'],
    [500, 'upstream_error', 'upstream_failed'],
    [503, 'upstream_error', 'upstream_failed'],
    [504, 'upstream_error', 'upstream_timeout'],
    [529, 'upstream_error', 'upstream_failed'],
  ] as const) {
    upstream.respondWith(saying(status, '{"message":"so it is","id":"1"}'));
    const answer = await embed(question);
    assert.equal(answer.status, status);
    assert.equal(answer.header('content-type'), 'application/json');
    assert.equal(answer.header('x-postern-translated'), 'cohere');
    assert.deepEqual(errorIn(answer), {
      message: 'so it is',
      type,
      param: null,
      code,
      upstream: { message: 'so it is', id: '1' },
    });
  }
});

test("the original error is kept beside the gateway's message, with every digit", async (t) => {
  const original = '{"message":"m","code":12345678901234567890,"ratio":1.50}';
  const { embed } = await startTranslated(t, saying(400, original));
  const answer = await embed(question);
  assert.equal(
    answer.body.toString(),
    `{"error":{"message":"m","type":"invalid_request_error","param":null,"code":"upstream_refused","upstream":${original}}}`,
  );
});

test("a translated call's error is rewritten even if it is already in OpenAI's shape", async (t) => {
  const said = { message: 'm', type: 't', param: 'texts.1', code: '1300', more: 1 };
  const { embed } = await startTranslated(t, saying(400, JSON.stringify({ error: said })));
  const answer = await embed(question);
  assert.deepEqual(errorIn(answer), {
    message: 'm',
    type: 'invalid_request_error',
    param: 'input',
    code: 'upstream_refused',
    upstream: { error: said },
  });
});

test("an untranslated call's error in OpenAI's shape passes unchanged", async (t) => {
  const body = '{ "error": {"message":"m","type":"BadRequestError","param":"text.input.0","code":"c","more":1.0} }';
  const { embed, upstream } = await startTranslated(t, saying(400, body), { family: 'vllm' });
  const direct = await embed(question);
  assert.equal(direct.body.toString(), body);
  assert.equal(direct.header('x-postern-translated'), undefined);
  // What is said in another shape comes in our words on any way.
  upstream.respondWith(saying(400, '{"detail":[{"loc":["body","text","input","list[constrained-str]",0],"msg":"m"}]}'));
  assert.deepEqual(
    [errorIn(await embed(question)).param, errorIn(await embed(question)).code],
    ['input', 'upstream_refused'],
  );
});

test("an error's param never names a field that the client did not send", async (t) => {
  const { embed } = await startTranslated(t, saying(400, '{"detail":[{"loc":["body","input_type"],"msg":"m"}]}'));
  assert.equal(errorIn(await embed(question)).param, null);
  assert.equal(errorIn(await embed({ ...question, input_type: 'x' })).param, 'input_type');
});

test('HTML, text and empty error bodies become errors with a message', async (t) => {
  const { embed, upstream } = await startTranslated(t);
  const rows: [string | Buffer, RegExp, unknown][] = [
    ['<html><body>Bad Gateway</body></html>', /answered 418 with a page/, '<html><body>Bad Gateway</body></html>'],
    ['', /answered 418 with no message/, null],
    ['no healthy upstream', /^no healthy upstream$/, 'no healthy upstream'],
    ['{"message":', /^\{"message":$/, '{"message":'],
    ['null', /no message/, null],
    [Buffer.from([0xff, 0x00]), /^\ufffd\0$/, '\ufffd\0'],
    ['y'.repeat(5_000), /^y{2000}…$/, `${'y'.repeat(2_000)}…`],
    [`${'y'.repeat(1_999)}😀😀`, /^y{1999}…$/, `${'y'.repeat(1_999)}…`],
  ];
  for (const [body, message, original] of rows) {
    upstream.respondWith(saying(418, body));
    const answer = await embed(question);
    assert.equal(answer.status, 418);
    const error = errorIn(answer);
    assert.match(error.message, message);
    assert.deepEqual(error.upstream, original);
  }
});

test('a compressed error is read; an unreadable one keeps its status', async (t) => {
  const body = Buffer.from('{"detail":"too long"}');
  const { embed, upstream } = await startTranslated(t);
  for (const [coding, coded, message] of [
    ['gzip', gzipSync(body), /^too long$/],
    ['br', brotliCompressSync(body), /^too long$/],
    ['gzip', body, /answered 422 with a message that cannot be read/],
    ['rot13', body, /answered 422 with a message that cannot be read/],
  ] as const) {
    upstream.respondWith(saying(422, coded, [['content-encoding', coding]]));
    const answer = await embed(question);
    assert.equal(answer.status, 422);
    assert.equal(answer.header('content-encoding'), undefined);
    assert.match(errorIn(answer).message, message);
  }
});

test('an error that is too long or truncated keeps its status', async (t) => {
  const { embed, upstream } = await startTranslated(t);
  const long = `{"message":"${'x'.repeat(2 * 1024 * 1024)}"}`;
  for (const script of [
    saying(400, long),
    saying(400, gzipSync(long), [['content-encoding', 'gzip']]),
    async (_request, reply) => {
      await reply.head(400, [['content-length', '100']]);
      await reply.raw('{"message":"beg');
      reply.cut();
    },
  ] satisfies Handler[]) {
    upstream.respondWith(script);
    const answer = await embed(question);
    assert.equal(answer.status, 400);
    assert.match(errorIn(answer).message, /cannot be read/);
    assert.equal(errorIn(answer).upstream, null);
  }
});

test('an error up to the search limit comes with the original', async (t) => {
  const { embed } = await startTranslated(t, saying(400, `{"message":"m","pad":"${'x'.repeat(200 * 1024)}"}`));
  const answer = await embed(question);
  assert.equal(errorIn(answer).message, 'm');
  assert.ok(answer.body.length > 200 * 1024);
});

test('an error that repeats the credential is withheld, in any encoding and position', async (t) => {
  const escaped = credential.replace('sk', '\\u0073k').replace('/', '\\/');
  const bodies: [string | Buffer, string?][] = [
    [`{"message":"bad key ${credential}"}`],
    [`{"message":"bad key","debug":{"headers":{"authorization":"Bearer ${credential}"}}}`],
    [`{"detail":[{"loc":["header","authorization"],"msg":"x","input":"${escaped}"}]}`],
    [`<html>${encodeURIComponent(credential)}</html>`],
    [`{"error":{"message":"${credential}","type":"t","param":null,"code":null}}`],
    [gzipSync(`{"message":"${escaped}"}`), 'gzip'],
  ];
  const { embed, upstream, rig } = await startTranslated(t);
  for (const [body, coding] of bodies) {
    upstream.respondWith(saying(401, body, coding === undefined ? [] : [['content-encoding', coding]]));
    const answer = await embed(question);
    assertError(answer, 'upstream_protocol_error', { message: /repeats a credential; it is withheld/ });
    assert.equal(answer.header('x-postern-translated'), undefined);
  }
  const { errorCause } = await rig.exchange(bodies.length);
  assert.match(errorCause ?? '', /contains the credential/);
});

test('a credential far down in a long error does not reach the client, in any encoding', async (t) => {
  const { embed, upstream } = await startTranslated(t);
  for (const spelling of [credential, credential.replace('sk', '\\u0073k')]) {
    upstream.respondWith(saying(400, `{"message":"m","pad":"${'x'.repeat(300 * 1024)}","key":"${spelling}"}`));
    const answer = await embed(question);
    assert.equal(answer.body.includes('credential+'), false);
    // Where much of it comes at once, the credential is seen before anything is said: then the whole error is withheld.
    if (answer.status !== 502) assert.deepEqual([answer.status, errorIn(answer).upstream], [400, null]);
    else assertError(answer, 'upstream_protocol_error', { message: /repeats a credential; it is withheld/ });
  }
});

test('non-standard statuses of a family are mapped to known ones', async (t) => {
  const { embed, upstream } = await startTranslated(t);
  upstream.respondWith(saying(498, '{"message":"denied"}'));
  const denied = await embed(question);
  assert.deepEqual([denied.status, errorIn(denied).type], [400, 'invalid_request_error']);
  upstream.respondWith(saying(499, ''));
  const cancelled = await embed(question);
  assert.equal(cancelled.status, 502);
  assert.match(errorIn(cancelled).message, /answered 499/);
});

test("a family's message about the operator's account is withheld, in any shape", async (t) => {
  for (const body of [
    '{"message":"account 42 is empty","account":42}',
    '{"error":{"message":"account 42 is empty","type":"t","param":null,"code":null}}',
    'account 42 is empty',
  ]) {
    const setup = await startSeveral(t, [saying(402, body)], {
      model: { operations: ['completions'] },
      upstream: { family: 'deepseek' },
    });
    const answer = await setup.complete();
    assert.equal(answer.status, 402);
    assert.match(answer.body.toString(), /"message":"The upstream answered 402 [^"]*withheld/);
    assert.equal(answer.body.includes('42 is empty'), false);
    assert.equal(answer.body.includes('"upstream"'), false);
  }
});

test("a retry delay in the upstream's body becomes a Retry-After header", async (t) => {
  const info = (delay: string) =>
    `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"${delay}"}]}}`;
  for (const [delay, header, wanted] of [
    ['34.07s', undefined, '35'],
    ['0s', undefined, '1'],
    ['34s', '7', '7'],
    ['99999999999999999999s', undefined, undefined],
    ['soon', undefined, undefined],
  ] as const) {
    const headers: [string, string][] = header === undefined ? [] : [['Retry-After', header]];
    const { embed } = await startTranslated(t, saying(429, info(delay), headers), { family: 'gemini' });
    const answer = await embed(question);
    assert.equal(answer.status, 429);
    assert.equal(answer.header('retry-after'), wanted, delay);
  }
});

test('a retry delay in the body causes a cooldown as well, and an unreadable body is an ordinary error', async (t) => {
  const info =
    '{"error":{"code":429,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"20s"}]}}';
  const { embed, upstream } = await startTranslated(t, saying(429, info), { family: 'gemini' });
  assert.equal((await embed(question)).status, 429);
  const refused = await embed(question);
  assertError(refused, 'rate_limit_exceeded', { message: /too many calls and asked for a pause/ });
  const retryAfterS = Number(refused.header('retry-after'));
  assert.ok(retryAfterS > 0 && retryAfterS <= 20, `${retryAfterS} s`);
  assert.equal(upstream.requests.length, 1);
  for (const script of [saying(429, 'x'.repeat(400 * 1024)), saying(429, 'gz', [['content-encoding', 'gzip']])]) {
    const other = await startTranslated(t, script, { family: 'gemini' });
    assert.equal((await other.embed(question)).status, 429);
  }
});

test('an error object with status 200 is returned with the status in its code', async (t) => {
  const { rig } = await startTranslated(
    t,
    (_request, reply) => reply.json(200, { code: 'InvalidParameter', message: 'no', request_id: 'r' }),
    { family: 'dashscope', target: { model: 'gte-rerank-v2' } },
  );
  const answer = await rig.post('/v1/rerank', { model: 'm', query: 'q', documents: ['a'] });
  assert.equal(answer.status, 400);
  assert.equal(errorIn(answer).message, 'no');
  assert.equal(errorIn(answer).code, 'upstream_refused');
});

test('an openai error with status 200 passes unchanged, unless it repeats the credential', async (t) => {
  const saying200 = (message: string): Handler =>
    saying(200, JSON.stringify({ error: { message, code: 400 } }), [['content-type', 'application/json']]);
  const { embed, upstream } = await startTranslated(t, saying200('wrong input'), { family: 'openai' });
  const passed = await embed(question);
  assert.equal(passed.status, 200);
  assert.deepEqual(passed.json(), { error: { message: 'wrong input', code: 400 } });
  upstream.respondWith(saying200(`wrong key ${credential}`));
  assertError(await embed(question), 'upstream_protocol_error', { message: /repeats a credential/ });
});

test('errors of family openai pass unchanged, translated or not', async (t) => {
  const body = '{"error":{"message":"m"}}';
  const { embed } = await startTranslated(t, saying(400, body), { family: 'openai', upstream: { base64: 'convert' } });
  for (const more of [{}, { encoding_format: 'base64' }]) {
    const answer = await embed({ ...question, ...more });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.toString(), body);
    assert.equal(answer.header('x-postern-translated'), undefined);
  }
});

test("an error in OpenAI's shape passes unchanged where the upstream has OpenAI's format, also with base64", async (t) => {
  const body =
    '{"error":{"message":"m","type":"invalid_request_error","param":null,"code":"content_filter","status":400}}';
  for (const family of ['azure', 'vllm', 'openai']) {
    const { embed } = await startTranslated(t, saying(400, body), { family, model: { operations: ['embeddings'] } });
    // The official clients send the second by default.
    for (const more of [{}, { encoding_format: 'base64' }]) {
      const answer = await embed({ ...question, ...more });
      assert.equal(answer.status, 400);
      assert.equal(answer.body.toString(), body);
      assert.equal(answer.header('x-postern-translated'), undefined);
    }
  }
});

test('an error that stops within its body is waited for until the idle timeout', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500)], {
    model: { operations: ['embeddings'] },
    upstream: { family: 'cohere', timeouts: { idle: patiently(25) } },
  });
  setup.upstreams[0]?.respondWith(async (_request, reply) => {
    await reply.head(500, [['content-length', '100']]);
    await reply.stall();
  });
  const answer = await setup.embed();
  assert.equal(answer.status, 500);
  assert.match(errorIn(answer).message, /cannot be read/);
});
