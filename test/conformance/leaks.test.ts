/** An error that repeats the upstream's credential never reaches a client, nor does the credential reach the log. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { assertError } from '../support/error-answer.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/fake-upstream.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { type HeaderField, toChunk, toHead } from '../support/http-message.ts';
import { ask, question, startPair, toDocument } from '../support/pair.ts';
import { type RawResponse, request } from '../support/raw-client.ts';

/** Spelled differently wherever something is escaped. */
const secret = 'sk-"Qz7x"/Vw3k\\Jp9m+Ht2c==Rb6nXy8dFg4s';
const inHeader = 'Nw5j/Lk8Pd-Tu3Yv7Ec2';
const json: HeaderField = ['Content-Type', 'application/json'];

interface Place {
  readonly upstream: FakeUpstream;
  readonly gateway: GatewayProcess;
  askOnce(): Promise<RawResponse>;
}

/** In a process of its own, so that its log is the real one. */
async function startPlace(t: TestContext): Promise<Place> {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const config = toDocument(upstream.url, { api_key: secret, headers: { 'X-Second-Key': inHeader } });
  const gateway = await startGatewayProcess({ config });
  t.after(() => gateway.stop());
  const askOnce = (): Promise<RawResponse> =>
    request({
      port: gateway.port,
      path: '/v1/embeddings',
      headers: [['Authorization', `Bearer ${gateway.key}`]],
      body: question,
    });
  return { upstream, gateway, askOnce };
}

/** Any few characters in a row of it would be a beginning. */
function holdsPartOf(text: string, credential: string): string | undefined {
  for (let at = 0; at + 6 <= credential.length; at += 1) {
    const part = credential.slice(at, at + 6);
    if (text.includes(part)) return part;
  }
  return undefined;
}

function assertNothingOfIt(bytes: Buffer | string, what: string): void {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1');
  for (const credential of [secret, inHeader]) {
    const part = holdsPartOf(text, credential);
    assert.equal(part, undefined, `${what}: ${JSON.stringify(part)} came through`);
  }
}

const failing =
  (body: Buffer | string, headers: readonly HeaderField[] = [json]): Handler =>
  (_request, reply) =>
    reply.bytes(401, headers, body);

const encoded = (name: string, body: Buffer): Handler => failing(body, [json, ['Content-Encoding', name]]);

const message = `{"error":{"message":"Incorrect API key provided: ${secret}"}}`;
const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex');

const heldBack: Readonly<Record<string, Handler>> = {
  'as it is': failing(message),
  'in JSON': failing(JSON.stringify({ error: { message: secret } })),
  'in JSON with escaped slashes': failing(JSON.stringify({ error: secret }).replaceAll('/', '\\/')),
  'in a URL': failing(`<a href="/login?key=${encodeURIComponent(secret)}">`),
  'as a second credential': failing(`{"x-second-key":"${inHeader}"}`),
  'in a header': failing('{}', [json, ['X-Debug', `key=${secret}`]]),
  'in a header that is withheld anyway': failing('{}', [json, ['Set-Cookie', `key=${secret}`]]),
  'in the text of the status': (_request, reply) =>
    reply.raw(`HTTP/1.1 403 No ${secret}\r\nContent-Length: 2\r\n\r\n{}`),
  'in gzip': encoded('gzip', gzipSync(message)),
  'in x-gzip': encoded('X-GZIP', gzipSync(message)),
  'in br': encoded('br', brotliCompressSync(message)),
  'in zstd': encoded('zstd', zstdCompressSync(message)),
  'in deflate': encoded('deflate', deflateSync(message)),
  'in deflate without its wrapper': encoded('deflate', deflateRawSync(message)),
  'in two encodings': encoded('gzip, br', brotliCompressSync(gzipSync(message))),
  'in a long text compressed': encoded('gzip', gzipSync(`${' '.repeat(5_000_000)}${message}`)),
  'under an encoding that is none': encoded('identity', Buffer.from(message)),
  'under an encoding that it is not in': encoded('gzip', Buffer.from(message)),
  'in chunks of a byte each': (_request, reply) =>
    reply.bytes(500, [json], [...message].map(String), { chunked: true }),
  'in a stream of events': (_request, reply) =>
    reply.bytes(429, [['Content-Type', 'text/event-stream']], [`data: ${secret}\n\n`], { chunked: true }),
  'in the trailers': async (_request, reply) => {
    await reply.head(500, [['Transfer-Encoding', 'chunked']]);
    await reply.raw(Buffer.concat([toChunk(Buffer.from('{}')), toHead('0', [['X-Debug', secret]])]));
  },
  'in a body that ends with the connection': async (_request, reply) => {
    await reply.raw(`HTTP/1.1 500 Oh\r\nConnection: close\r\n\r\n${message}`);
    reply.cut();
  },
  'in a body that breaks off behind it': async (_request, reply) => {
    await reply.head(500, [['Content-Length', '9999']]);
    await reply.raw(message);
    reply.cut();
  },
  'in a compressed body that breaks off behind it': async (_request, reply) => {
    const whole = gzipSync(`${message}${noise(20_000)}`);
    await reply.head(500, [
      ['Content-Encoding', 'gzip'],
      ['Content-Length', String(whole.length)],
    ]);
    await reply.raw(whole.subarray(0, whole.length / 2));
    reply.cut();
  },
  'in a compressed body too long to be held': encoded('gzip', gzipSync(`${noise(1_200_000)}${message}`)),
  'in a compressed body too long once decoded': encoded('gzip', gzipSync(`${' '.repeat(40_000_000)}${message}`)),
};

test('an error that repeats the credential is withheld, wherever it stands and however it is spelled', async (t) => {
  const { upstream, gateway, askOnce } = await startPlace(t);
  for (const [where, handler] of Object.entries(heldBack)) {
    upstream.respondWith(handler);
    const answer = await askOnce();
    assertError(answer, 'upstream_protocol_error', { of: where });
    assertNothingOfIt(answer.rawBytes, where);
  }
  await gateway.stop();
  assertNothingOfIt(gateway.stdout(), 'standard output');
  assertNothingOfIt(gateway.stderr(), 'standard error');
  const logged = gateway.log().filter((line) => line.msg === 'request');
  assert.equal(logged.length, Object.keys(heldBack).length);
  for (const line of logged) {
    assert.equal(line.error, 'upstream_protocol_error');
    assert.match(String(line.cause), /credential/);
  }
});

test('a credential in the middle of a long error is cut off before its first byte', async (t) => {
  const { upstream, gateway, askOnce } = await startPlace(t);
  const held = 256 * 1024;
  const filler = noise(600_000);
  const sendIn =
    (pieces: readonly string[]): Handler =>
    (_request, reply) =>
      reply.bytes(500, [json], pieces, { chunked: true });
  const around = (at: number): [string, string] => [filler.slice(0, at), filler.slice(at)];
  const cases: [what: string, pieces: string[]][] = [];
  for (const at of [held - 10, held, 300_000, 500_000, 600_000]) {
    const [before, after] = around(at);
    cases.push([`whole at ${at}`, [before, secret, after]]);
    cases.push([`in two at ${at}`, [before, secret.slice(0, 20), secret.slice(20), after]]);
    cases.push([`byte by byte at ${at}`, [before, ...secret, after]]);
    cases.push([`after a false beginning at ${at}`, [before, secret.slice(0, 12), secret, after]]);
  }
  for (let inside = 1; inside < secret.length; inside += 5) {
    const [before, after] = around(held - inside);
    cases.push([`byte by byte, ${inside} of it held`, [before, ...secret, after]]);
  }
  for (const [what, pieces] of cases) {
    upstream.respondWith(sendIn(pieces));
    const answer = await askOnce();
    assertNothingOfIt(answer.rawBytes, what);
    if (answer.status === 502) assertError(answer, 'upstream_protocol_error');
    else assert.equal(answer.complete, false, what);
    const before = pieces[0] ?? '';
    if (answer.status === 500) assert.ok(before.startsWith(answer.body.toString()), what);
  }

  upstream.respondWith(async (_request, reply) => {
    await reply.head(500, [['Transfer-Encoding', 'chunked']]);
    await reply.chunk(filler);
    await reply.raw(toHead('0', [['X-Debug', secret]]));
  });
  const inTrailers = await askOnce();
  assertNothingOfIt(inTrailers.rawBytes, 'trailers of a long body');
  assert.equal(inTrailers.complete, false);

  upstream.respondWith(async (_request, reply) => {
    await reply.head(500, [['Transfer-Encoding', 'chunked']]);
    await reply.chunk(`${filler}${secret.slice(0, -1)}`);
    reply.cut();
  });
  const half = await askOnce();
  assertNothingOfIt(half.rawBytes, 'a body that breaks off inside the credential');
  assert.equal(half.complete, false);
  await gateway.stop();
  assertNothingOfIt(gateway.stdout(), 'standard output');
});

test('an error that only resembles the credential passes byte for byte', async (t) => {
  const pair = await startPair(t, undefined, { upstream: { api_key: secret } });
  const beginning = secret.slice(0, -1);
  const masked = `{"error":{"message":"Incorrect API key provided: ${secret.slice(0, 7)}****Fg4s"}}`;
  const filler = noise(600_000);
  const cases: string[][] = [
    [masked],
    [beginning],
    [filler, beginning],
    [filler, ...beginning],
    [filler, beginning, `x${beginning}`, secret.slice(1), filler],
    ['a', filler.slice(0, 262_143), beginning, '!'],
  ];
  for (const pieces of cases) {
    for (const chunked of [true, false]) {
      pair.upstream.respondWith((_request, reply) => reply.bytes(401, [json], pieces, { chunked }));
      const answer = await ask(pair);
      assert.equal(answer.status, 401);
      assert.equal(answer.complete, true);
      assert.ok(answer.body.equals(Buffer.from(pieces.join(''))), `${pieces.length} pieces`);
    }
  }
  const long = gzipSync(`${' '.repeat(5_000_000)}${masked}`);
  pair.upstream.respondWith(encoded('gzip', long));
  assert.ok((await ask(pair)).body.equals(long));
});

test("only errors are looked through: what succeeds is the upstream's to say", async (t) => {
  const pair = await startPair(t, undefined, { upstream: { api_key: secret } });
  const text = `{"choices":[{"text":"the key is ${secret}"}]}`;
  pair.upstream.respondWith((_request, reply) => reply.bytes(200, [json], text));
  const answer = await ask(pair);
  assert.equal(answer.status, 200);
  assert.equal(answer.body.toString(), text);
});

test('an error is looked through where it comes with a status of 200 as well', async (t) => {
  const pair = await startPair(t, (_request, reply) => reply.bytes(200, [json], message), {
    upstream: { api_key: secret },
  });
  assertError(await ask(pair), 'upstream_protocol_error', { message: /repeats a credential/ });
});
