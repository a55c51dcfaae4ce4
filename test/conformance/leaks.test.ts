/** An answer that repeats the upstream's credential never reaches a client, nor does the credential reach the log. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { assertError } from '../support/clients/error-answer.ts';
import { type HeaderField, toChunk, toHead } from '../support/clients/http-message.ts';
import { type RawResponse, request } from '../support/clients/raw-client.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { ask, question, startPair, toDocument } from '../support/gateways/pair.ts';
import { startRig } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

/** Spelled differently wherever something is escaped. */
const secret = 'sk-"Qz7x"/Vw3k\\Jp9m+Ht2c==Rb6nXy8dFg4s';
const inHeader = 'Nw5j/Lk8Pd-Tu3Yv7Ec2';
const json: HeaderField = ['Content-Type', 'application/json'];

interface Setup {
  readonly upstream: FakeUpstream;
  readonly gateway: GatewayProcess;
  askOnce(): Promise<RawResponse>;
}

/** In a process of its own, so that its log is the real one. */
async function startSetup(t: TestContext): Promise<Setup> {
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

const bytes = Buffer.from(secret);
const each = (write: (hex: string, byte: number) => string): string =>
  Array.from(bytes, (byte) => write(byte.toString(16).padStart(2, '0'), byte)).join('');
/** Behind so many bytes of something else. */
const inBase64 = (before: number, alphabet: 'base64' | 'base64url'): string =>
  Buffer.from(`${'u:'.repeat(before).slice(0, before)}${secret} and more`).toString(alphabet);

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
  'under two headers of an encoding each': failing(brotliCompressSync(gzipSync(message)), [
    json,
    ['Content-Encoding', 'gzip'],
    ['Content-Encoding', 'br'],
  ]),
  'under a header of no encoding and one of an encoding': failing(gzipSync(message), [
    json,
    ['Content-Encoding', 'identity'],
    ['content-encoding', 'gzip'],
  ]),
  'in a list with something that is no encoding': encoded('gzip, utf-8', gzipSync(message)),
  'in base64': failing(inBase64(0, 'base64')),
  'in base64, behind a byte': failing(inBase64(1, 'base64')),
  'in base64 for URLs, behind two bytes': failing(inBase64(2, 'base64url')),
  'in hex': failing(bytes.toString('hex')),
  'in percents, each character': failing(each((hex) => `%${hex}`)),
  'in percents twice': failing(encodeURIComponent(encodeURIComponent(secret))),
  'in entities of HTML': failing(
    each((_hex, byte) => `&#${byte};`),
    [['Content-Type', 'text/html']],
  ),
  'in some entities of HTML': failing(`<pre>${secret.replaceAll('"', '&quot;').replaceAll('+', '&#x2B;')}</pre>`),
  'in JSON in JSON': failing(JSON.stringify({ error: JSON.stringify({ key: secret.replace('+', '\\u002b') }) })),
  'escaped for Unicode': failing(each((hex) => `\\u00${hex}`)),
  'escaped in a header': failing('{}', [json, ['X-Debug', encodeURIComponent(secret)]]),
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

test('an error that repeats the credential is withheld, at any position and in any encoding', async (t) => {
  const { upstream, gateway, askOnce } = await startSetup(t);
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

test('a long error with the credential inside is truncated before its first byte', async (t) => {
  const { upstream, gateway, askOnce } = await startSetup(t);
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

test('an error with a similar text passes byte for byte', async (t) => {
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

const begun = '{"choices":[{"text":"the key is ';
const ended = ' as I was told"}]}';
const events = ['data: {"choices":[{"text":"a"}]}\n\n', 'event: error\ndata: {"error":{"message":"bad key '] as const;

const succeeding =
  (pieces: readonly (string | Buffer)[], headers: readonly HeaderField[] = [json], chunked = true): Handler =>
  (_request, reply) =>
    reply.bytes(200, headers, pieces, { chunked });

/** And what passes before it. */
const cutOff: Readonly<Record<string, readonly [handler: Handler, passes: string]>> = {
  'as it is': [succeeding([begun, secret, ended]), begun],
  'with a length': [succeeding([begun, secret, ended], [json], false), begun],
  'in one chunk': [succeeding([begun + secret + ended]), begun],
  'byte by byte': [succeeding([begun, ...secret, ended]), begun],
  'in JSON': [succeeding([begun, JSON.stringify(secret).slice(1, -1), ended]), begun],
  'in base64': [succeeding([begun, bytes.toString('base64'), ended]), begun],
  'as a second credential': [succeeding([begun, inHeader, ended]), begun],
  'in an error event of a stream': [
    succeeding([events[0], `${events[1]}${secret}"}}\n\n`], [['Content-Type', 'text/event-stream']]),
    events[0] + events[1],
  ],
  'in the trailers': [
    async (_request, reply) => {
      await reply.head(200, [json, ['Transfer-Encoding', 'chunked']]);
      await reply.chunk('{}');
      await reply.raw(toHead('0', [['X-Debug', secret]]));
    },
    '{}',
  ],
  'behind an encoding that it is not in': [
    succeeding([begun, secret, ended], [json, ['Content-Encoding', 'gzip']]),
    begun,
  ],
};

const withheldHeads: Readonly<Record<string, Handler>> = {
  'in a header': succeeding(['{}'], [json, ['X-Debug', `key=${secret}`]]),
  'in base64 in a header': succeeding(['{}'], [json, ['X-Debug', `Basic ${inBase64(2, 'base64')}`]]),
  'in the text of the status': (_request, reply) =>
    reply.raw(`HTTP/1.1 200 Hello ${secret}\r\nContent-Length: 2\r\n\r\n{}`),
};

test('a success is cut where the credential begins in its body, and withheld if a header contains it', async (t) => {
  const { upstream, gateway, askOnce } = await startSetup(t);
  for (const [where, [handler, passes]] of Object.entries(cutOff)) {
    upstream.respondWith(handler);
    const answer = await askOnce();
    assert.equal(answer.status, 200, where);
    assert.equal(answer.complete, false, where);
    assert.equal(answer.body.toString(), passes, where);
    assertNothingOfIt(answer.rawBytes, where);
  }
  for (const [where, handler] of Object.entries(withheldHeads)) {
    upstream.respondWith(handler);
    const answer = await askOnce();
    assertError(answer, 'upstream_protocol_error', { of: where, message: /in the head of its answer/ });
    assertNothingOfIt(answer.rawBytes, where);
  }
  await gateway.stop();
  assertNothingOfIt(gateway.stdout(), 'standard output');
  const logged = gateway.log().filter((line) => line.msg === 'request');
  assert.equal(logged.length, Object.keys(cutOff).length + Object.keys(withheldHeads).length);
  for (const line of logged) {
    assert.equal(line.error, 'upstream_protocol_error');
    assert.match(String(line.cause), /contains the credential of the upstream/);
  }
});

test('responses withheld or truncated for the credential are marked in the record', async (t) => {
  const pair = await startPair(t, succeeding([begun, secret, ended]), { upstream: { api_key: secret } });
  await ask(pair);
  pair.upstream.respondWith(failing(message));
  await ask(pair);
  pair.upstream.respondWith(succeeding(['{}']));
  await ask(pair);
  await pair.rig.exchange(3);
  assert.deepEqual(
    pair.rig.settled.map(({ repeatedCredential, outcome }) => [repeatedCredential, outcome]),
    [
      [true, 'cut'],
      [true, 'error'],
      [false, 'ok'],
    ],
  );
});

test('successes are not searched if the operator limits the search to errors', async (t) => {
  const pair = await startPair(t, undefined, { upstream: { api_key: secret, screen: 'errors' } });
  for (const [handler] of Object.values(cutOff).slice(0, 4)) {
    pair.upstream.respondWith(handler);
    const answer = await ask(pair);
    assert.equal(answer.complete, true);
    assert.equal(answer.body.toString(), begun + secret + ended);
  }
  pair.upstream.respondWith(failing(message));
  assertError(await ask(pair), 'upstream_protocol_error', { message: /repeats a credential/ });
});

test('short credentials and placeholders are searched in errors, not in successes', async (t) => {
  for (const credential of ['sk-0123456789abcdef', 'sk-no-key-required-here']) {
    const pair = await startPair(t, undefined, { upstream: { api_key: credential } });
    pair.upstream.respondWith(succeeding([begun, credential, ended], [json, ['X-Debug', credential]]));
    assert.equal((await ask(pair)).body.toString(), begun + credential + ended);
    pair.upstream.respondWith(failing(credential));
    assertError(await ask(pair), 'upstream_protocol_error');
  }
});

test('a compressed success passes unchanged, although it contains the credential', async (t) => {
  const whole = gzipSync(begun + secret + ended);
  const pair = await startPair(t, undefined, { upstream: { api_key: secret } });
  pair.upstream.respondWith(succeeding([whole], [json, ['Content-Encoding', 'gzip']]));
  assert.ok((await ask(pair)).body.equals(whole));
});

/** A completion by way of chat, whole or event by event; what is said is in escapes that the translation undoes. */
const chatting =
  (isStream: boolean): Handler =>
  (_request, reply) => {
    const content = JSON.stringify(secret).replace('+', String.raw`\u002b`);
    const kind = isStream ? 'delta' : 'message';
    const answer = `{"id":"c","created":1,"model":"c","choices":[{"index":0,"${kind}":{"role":"assistant","content":${content}},"finish_reason":"stop"}]}`;
    const type = isStream ? 'text/event-stream' : 'application/json';
    return reply.bytes(200, [['Content-Type', type]], isStream ? `data: ${answer}\n\ndata: [DONE]\n\n` : answer);
  };

test('a translated response is truncated at the credential, plain or streamed, and its head is searched', async (t) => {
  const pair = await startPair(t, undefined, { upstream: { api_key: secret }, target: { bridge: 'chat' } });
  for (const stream of [false, true]) {
    pair.upstream.respondWith(chatting(stream));
    const answer = await pair.rig.post('/v1/completions', { model: 'm', prompt: 'p', stream });
    assert.equal(answer.status, 200);
    assert.equal(answer.header('x-postern-translated'), 'chat');
    assert.equal(answer.complete, false);
    assert.match(answer.body.toString(), /"text":\s*"$/);
    assertNothingOfIt(answer.rawBytes, stream ? 'a stream' : 'a whole answer');
  }
  pair.upstream.respondWith(succeeding(['{"choices":[]}'], [json, ['X-Debug', secret]]));
  const inHead = await pair.rig.post('/v1/completions', { model: 'm', prompt: 'p' });
  assert.equal(inHead.status, 502);
  assertNothingOfIt(inHead.rawBytes, 'a head');
});

test('a response of the built-in upstream is searched for the credential as well', async (t) => {
  const rig = await startRig(t, {
    upstreams: [{ id: 'here', family: 'local', headers: { 'x-key': secret } }],
    models: [{ id: 'local/echo', targets: [{ upstream: 'here' }] }],
  });
  const answer = await rig.post('/v1/completions', { model: 'local/echo', prompt: `say ${secret} again` });
  assert.equal(answer.complete, false);
  assertNothingOfIt(answer.rawBytes, 'an echo');
});

test('an error with status 200 is searched as well', async (t) => {
  const pair = await startPair(t, (_request, reply) => reply.bytes(200, [json], message), {
    upstream: { api_key: secret },
  });
  assertError(await ask(pair), 'upstream_protocol_error', { message: /repeats a credential/ });
});
