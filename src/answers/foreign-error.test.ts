import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import * as z from 'zod';
import { anyCharacter } from '../../test/support/any-character.ts';
import { toUpstream } from '../../test/support/upstreams/upstream.ts';
import type { Candidate } from '../core/dispatch.ts';
import { upstreamCodes } from '../core/errors.ts';
import { defineFamily } from '../core/family.ts';
import type { Answer } from '../core/outcome.ts';
import type { ErrorWireFormat } from '../core/translation.ts';
import { at, textIn } from '../families/wire-formats/reading.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { type ErrorReader, inOurWords } from './foreign-error.ts';
import { WholeMadeAnswer } from './made-answer.ts';

const codes = [...upstreamCodes, 'rate_limit_exceeded', 'upstream_timeout'];

const shape = z.strictObject({
  error: z.strictObject({
    message: z.string().min(1).max(2_001),
    type: z.string().min(1).max(201),
    param: z.string().max(201).nullable(),
    code: z.enum(codes),
    upstream: z.unknown(),
  }),
});

function toCandidate(errors: ErrorWireFormat | undefined, isTranslated = true): Candidate {
  const family = defineFamily({ id: 'f', title: 'F', offers: {}, ...(errors !== undefined && { errors }) });
  const upstream = toUpstream('http://127.0.0.1:1', { family });
  const offer = {
    path: '/',
    ...(isTranslated && {
      translation: {
        ask() {
          throw new TypeError('nobody asks');
        },
      },
    }),
  };
  const target = {
    upstream,
    model: 'm',
    priority: 0,
    weight: 1,
    price: undefined,
    offers: new Map(),
    unsupported: undefined,
    bridge: undefined,
    tokenIds: 'decode' as const,
    defaults: {},
  };
  return { target, offer, lifted: false };
}

function toAnswer(status: number, body: string | Buffer, headers: readonly string[] = []): Answer {
  const times = { sentAtMs: 1, firstByteAtMs: 2 };
  const whole = new WholeMadeAnswer(undefined, { status, statusText: 'Whatever', ...times, body: Buffer.from(body) });
  return Object.assign(whole, { headers });
}

interface Spoken {
  readonly status: number;
  readonly headers: readonly string[];
  readonly text: string;
}

interface Speaking {
  readonly wireFormat?: ErrorWireFormat | undefined;
  readonly headers?: readonly string[];
  readonly reader?: ErrorReader;
}

/** For any name of an upstream, the client has a field of that name. */
const translated: ErrorReader = { isTranslated: true, write: () => Buffer.alloc(0), fieldFor: async (param) => param };
const direct: ErrorReader = { ...translated, isTranslated: false };

async function speak(
  status: number,
  body: string | Buffer,
  { wireFormat = {}, headers = [], reader = translated }: Speaking = {},
): Promise<Spoken> {
  const came = Promise.resolve(toAnswer(status, body, headers));
  const answer = await inOurWords(came, status, toCandidate(wireFormat), reader);
  return { status: answer.status, headers: answer.headers, text: Buffer.concat(answer.waiting).toString() };
}

async function errorOf(body: string, more?: Parameters<typeof speak>[2]) {
  return shape.parse(JSON.parse((await speak(418, body, more)).text)).error;
}

interface Row {
  readonly kind: string;
  readonly body: string;
  readonly message: string | RegExp;
  readonly param?: string;
}

const noMessage = /^The upstream answered 418 with no message; try again/;

const rows: readonly Row[] = [
  {
    kind: 'an object without a param',
    body: '{"error":{"message":"m","type":"t","code":"c"}}',
    message: 'm',
  },
  {
    kind: 'an object with an inner error',
    body: '{"error":{"code":"429","message":"m","innererror":{"code":"x"}}}',
    message: 'm',
  },
  {
    kind: 'a whole number as code',
    body: '{"error":{"message":"m","type":"BadRequestError","param":null,"code":400}}',
    message: 'm',
  },
  { kind: 'an object in an object', body: '{"error":{"error":{"message":"m","code":"c"}}}', message: 'm' },
  {
    kind: 'a status in words',
    body: '{"error":{"code":404,"message":"m","status":"NOT_FOUND","details":[]}}',
    message: 'm',
  },
  {
    kind: 'a list of one',
    body: '[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]',
    message: 'm',
  },
  { kind: 'a text', body: '{"error":"m"}', message: 'm' },
  { kind: 'a text with its type', body: '{"error":"m","error_type":"Validation"}', message: 'm' },
  { kind: 'a list of texts', body: '{"error":["a","b"],"warnings":["w"]}', message: 'a; b' },
  {
    kind: 'a list of errors',
    body: '{"errors":[{"message":"a","code":"c"},{"message":"b"}]}',
    message: 'a; b',
  },
  { kind: 'a message and an ID', body: '{"message":"m","id":"1"}', message: 'm' },
  { kind: 'a message with a capital', body: '{"Message":"m"}', message: 'm' },
  {
    kind: 'a flat object',
    body: '{"object":"error","message":"m","type":"t","param":"p","code":"1300"}',
    message: 'm',
    param: 'p',
  },
  {
    kind: 'a flat object with a number',
    body: '{"message":"m","code":422,"type":"Validation"}',
    message: 'm',
  },
  {
    kind: 'a flat object with an ID',
    body: '{"code":"InvalidParameter","message":"m","request_id":"r"}',
    message: 'm',
  },
  { kind: 'a detail', body: '{"detail":"m"}', message: 'm' },
  { kind: 'a detail as an object', body: '{"detail":{"message":"m"}}', message: 'm' },
  { kind: 'a detail with an error in it', body: '{"detail":{"error":"m"}}', message: 'm' },
  {
    kind: 'a list of details',
    body: '{"detail":[{"loc":["body","input",0],"msg":"a","type":"string_type"},{"loc":["body"],"msg":"b"}]}',
    message: 'input.0: a; b',
    param: 'input.0',
  },
  { kind: 'a list of texts as detail', body: '{"detail":["a","b"]}', message: 'a; b' },
  {
    kind: 'details in a message',
    body: '{"object":"error","message":{"detail":[{"loc":["body","input"],"msg":"m"}]},"type":"invalid_request_error"}',
    message: 'input: m',
    param: 'input',
  },
  {
    kind: 'a fault',
    body: '{"fault":{"faultstring":"m","detail":{"errorcode":"steps.Fault"}}}',
    message: 'm',
  },
  { kind: 'a JSON text', body: '"m"', message: 'm' },
  { kind: 'plain text', body: ' m \n', message: 'm' },
  {
    kind: 'a page',
    body: ' <!doctype html><html>502</html>',
    message: /^The upstream answered 418 with a page instead of an error; try again/,
  },
  { kind: 'nothing', body: '', message: noMessage },
  { kind: 'null', body: 'null', message: noMessage },
  { kind: 'a number', body: '429', message: noMessage },
  { kind: 'numbers', body: '[1,2]', message: noMessage },
  { kind: 'true', body: 'true', message: noMessage },
  { kind: 'an empty object', body: '{}', message: noMessage },
  { kind: 'an empty list', body: '[]', message: noMessage },
  { kind: 'an empty text', body: '""', message: noMessage },
  { kind: 'an error of null', body: '{"error":null,"message":"m"}', message: 'm' },
  { kind: 'an error of true', body: '{"error":true,"message":"m"}', message: 'm' },
  { kind: 'an error of a number', body: '{"error":42}', message: noMessage },
  { kind: 'an empty error', body: '{"error":"","detail":"m"}', message: 'm' },
  { kind: 'an empty message', body: '{"error":{"message":" ","type":"","code":""}}', message: noMessage },
  {
    kind: 'a message of a number',
    body: '{"error":{"message":5,"type":6,"param":7,"code":8.0}}',
    message: noMessage,
    param: '7',
  },
  {
    kind: 'values of other types',
    body: '{"error":{"message":{"a":1},"type":[],"param":{},"code":true}}',
    message: noMessage,
  },
  {
    kind: 'locations of other types',
    body: '{"detail":[{"loc":"body","msg":"m"},{"loc":[],"msg":"n"},{"loc":[null],"msg":"o"},null,1]}',
    message: 'm; n; o',
  },
];

for (const { kind, body, message, param = null } of rows) {
  test(`reads the message from an upstream's error body that is ${kind}: ${body.slice(0, 40)}`, async () => {
    const error = await errorOf(body);
    if (typeof message === 'string') assert.equal(error.message, message);
    else assert.match(error.message, message);
    assert.deepEqual([error.type, error.param, error.code], ['invalid_request_error', param, 'upstream_refused']);
  });
}

test("an upstream's error keeps its status and gets the shape of OpenAI errors", async () => {
  const anyBody = fc.oneof(
    fc.json({ maxDepth: 6 }),
    fc.string({ unit: anyCharacter }),
    fc.json().map((inner) => `{"error":${inner}}`),
    fc.json().map((inner) => `{"error":{"message":${inner},"code":${inner},"param":${inner},"type":${inner}}}`),
    fc.json().map((inner) => `{"detail":[${inner},{"loc":${inner},"msg":${inner}}]}`),
  );
  await fc.assert(
    fc.asyncProperty(anyBody, fc.integer({ min: 400, max: 599 }), async (body, status) => {
      const spoken = await speak(status, body);
      assert.equal(spoken.status, status);
      const parsed: unknown = JSON.parse(spoken.text);
      const ours = shape.safeParse(parsed);
      assert.ok(ours.success, spoken.text);
      assert.equal(headerValue(spoken.headers, 'content-length'), String(Buffer.byteLength(spoken.text)));
    }),
    { numRuns: 2_000 },
  );
});

test("keeps the upstream's error body, digits included, in the field upstream; plain text as a string", async () => {
  const body = '{"message":"m","n":[1.0,1e3],"big":12345678901234567890,"__proto__":{"x":1}}';
  const { text } = await speak(400, body);
  assert.ok(text.endsWith(`"upstream":${body}}}`), text);
  assert.equal((await errorOf('just text')).upstream, 'just text');
  assert.equal((await errorOf('')).upstream, null);
  assert.equal((await errorOf('null')).upstream, null);
  assert.equal((await errorOf('0')).upstream, 0);
});

test('truncates long upstream errors, never inside a character', async () => {
  const { message } = await errorOf(
    JSON.stringify({
      message: `${'m'.repeat(1_999)}😀`,
    }),
  );
  assert.equal(message, `${'m'.repeat(1_999)}…`);
});

test('an untranslated call passes OpenAI-shaped errors byte for byte, unless their status is to be withheld', async () => {
  const body = ' {"error":{"message":"m","type":"t","param":null,"code":null,"more":1.0}}';
  assert.equal((await speak(400, body, { reader: direct })).text, body);
  const { text } = await speak(402, body, { wireFormat: { withheld: [402] }, reader: direct });
  assert.deepEqual(JSON.parse(text), {
    error: {
      message:
        "The upstream answered 402 and speaks of the operator's account in it; its words are withheld. Tell the operator.",
      type: 'invalid_request_error',
      param: null,
      code: 'upstream_denied',
    },
  });
});

test("a translated call maps type, param and code of an upstream's error, even if it has the shape of OpenAI errors", async () => {
  const body = '{"error":{"message":"m","type":"BadRequestError","param":"texts.0","code":"1300"}}';
  const ofClient = { isTranslated: true, write: () => Buffer.alloc(0), fieldFor: async () => 'input' };
  const { error } = shape.parse(JSON.parse((await speak(400, body, { reader: ofClient })).text));
  assert.deepEqual([error.type, error.param, error.code], ['invalid_request_error', 'input', 'upstream_refused']);
  assert.deepEqual(error.upstream, JSON.parse(body));
  const ofNothing = { isTranslated: true, write: () => Buffer.alloc(0), fieldFor: async () => undefined };
  const other = shape.parse(JSON.parse((await speak(400, body, { reader: ofNothing })).text)).error;
  assert.equal(other.param, null);
});

test("the status of an upstream's error determines the error type for the client", async () => {
  const rows = [
    [400, 'invalid_request_error', 'upstream_refused'],
    [401, 'authentication_error', 'upstream_denied'],
    [402, 'invalid_request_error', 'upstream_denied'],
    [403, 'permission_error', 'upstream_denied'],
    [404, 'invalid_request_error', 'upstream_refused'],
    [429, 'rate_limit_error', 'rate_limit_exceeded'],
    [500, 'upstream_error', 'upstream_failed'],
    [503, 'upstream_error', 'upstream_failed'],
    [504, 'upstream_error', 'upstream_timeout'],
  ] as const;
  for (const [status, type, code] of rows) {
    const body = `{"error":{"message":"m","type":"insufficient_quota","param":null,"code":${status}}}`;
    const { error } = shape.parse(JSON.parse((await speak(status, body)).text));
    assert.deepEqual([error.type, error.code], [type, code], String(status));
  }
});

test('a non-standard error status is mapped to a standard one, and named in the message if there is no other', async () => {
  const spoken = await speak(499, '', { wireFormat: { statuses: { 499: 502 } } });
  assert.equal(spoken.status, 502);
  const { error } = shape.parse(JSON.parse(spoken.text));
  assert.equal(error.type, 'upstream_error');
  assert.match(error.message, /answered 499 with no message/);
});

test("a wire format's error reader has priority, and common field names fill in what it does not find", async () => {
  const wireFormat: ErrorWireFormat = {
    read: (body, headers) => ({ param: textIn(at(body, 'reason')), message: headerValue(headers, 'x-error') }),
  };
  const headers = ['X-Error', 'Throttled'];
  const error = await errorOf('{"message":"m","reason":"r","param":"p"}', { wireFormat, headers });
  assert.deepEqual([error.message, error.param], ['Throttled', 'r']);
  const plain = await errorOf('{"message":"m","param":"p"}', { wireFormat });
  assert.deepEqual([plain.message, plain.param], ['m', 'p']);
  assert.equal((await errorOf('not json', { wireFormat, headers })).message, 'Throttled');
});

test("an upstream's error about the gateway's credential is reported to the client as upstream_denied", async () => {
  const error = await errorOf('{}', { wireFormat: { read: () => ({ message: 'm', isOurKey: true }) } });
  assert.deepEqual([error.type, error.code], ['upstream_error', 'upstream_denied']);
});

test("adds Retry-After from an upstream's error body if the header is missing", async () => {
  const after = async (seconds: number | undefined, headers: readonly string[] = []) =>
    headerValue(
      (await speak(429, '{}', { wireFormat: { retryAfterS: () => seconds }, headers })).headers,
      'retry-after',
    );
  assert.equal(await after(1.2), '2');
  assert.equal(await after(0), '1');
  assert.equal(await after(-5), '1');
  assert.equal(await after(30, ['Retry-After', '7']), '7');
  for (const none of [undefined, Number.NaN, Number.POSITIVE_INFINITY, 1e9]) assert.equal(await after(none), undefined);
  assert.equal(
    headerValue((await speak(429, 'text', { wireFormat: { retryAfterS: () => 5 } })).headers, 'retry-after'),
    undefined,
  );
});

test("decompresses an upstream's error body, and drops the headers that described the compressed body", async () => {
  const headers = ['Content-Encoding', 'gzip', 'ETag', '"x"', 'Content-Type', 'text/plain', 'X-Kept', 'k'];
  const spoken = await speak(400, gzipSync('{"detail":"m"}'), { headers });
  assert.match(spoken.text, /"message":"m"/);
  assert.deepEqual(
    ['content-encoding', 'etag', 'content-type', 'x-kept'].map((name) => headerValue(spoken.headers, name)),
    [undefined, undefined, 'application/json', 'k'],
  );
});

test('leaves successful responses, and errors of OpenAI-compatible families, unchanged', async () => {
  const good = toAnswer(200, '{"message":"m"}');
  assert.equal(await inOurWords(Promise.resolve(good), 200, toCandidate({}), translated), good);
  const plain = toAnswer(400, '{"message":"m"}');
  assert.equal(await inOurWords(Promise.resolve(plain), 400, toCandidate(undefined, false), direct), plain);
  // A family without a wire format whose offer is another wire format, such as a bridge.
  const bridged = await inOurWords(
    Promise.resolve(toAnswer(400, '{"message":"m"}')),
    400,
    toCandidate(undefined),
    translated,
  );
  assert.equal(bridged.translated?.by, 'f');
});

test("an upstream's response with status 200 that is an error gets the given error status", async () => {
  const answer = await inOurWords(
    Promise.resolve(toAnswer(200, '{"error":{"message":"m"}}')),
    502,
    toCandidate({}),
    translated,
  );
  assert.equal(answer.status, 502);
  assert.equal(answer.statusText, '');
});
