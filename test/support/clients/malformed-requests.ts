/** Malformed or ambiguous requests, each complete and authorised except for its one fault. */

import { testKey } from '../gateways/rig.ts';

export interface MalformedRequest {
  readonly name: string;
  readonly bytes: Buffer;
  /** The oddity is that the rest never comes: the client ends its side behind the bytes. */
  readonly cut?: true;
}

const body = '{"model":"m","input":"x"}';
const chunkedBody = '19\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n';
const line = 'POST /v1/embeddings HTTP/1.1';
const host = 'Host: 127.0.0.1';
const key = `x-api-key: ${testKey}`;
const length = `Content-Length: ${body.length}`;
const chunked = 'Transfer-Encoding: chunked';

/** Bytes as they are: every character is one byte. */
function bytesOf(lines: readonly string[], rest = body): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${rest}`, 'latin1');
}

const row = (name: string, lines: readonly string[], rest = body): MalformedRequest => ({
  name,
  bytes: bytesOf(lines, rest),
});
const cutRow = (name: string, lines: readonly string[], rest: string): MalformedRequest => ({
  ...row(name, lines, rest),
  cut: true,
});
const textRow = (name: string, text: string): MalformedRequest => ({ name, bytes: Buffer.from(text, 'latin1') });

const shown = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

const hosts = [
  '',
  ' ',
  'a b',
  'a/b',
  'a/?x',
  'a?x',
  'a#x',
  'a@b',
  'user:pass@a',
  'a\\b',
  'a,b',
  'a:b',
  'a:80:80',
  'a:',
  'a:123456',
  ':80',
  '[::1',
  '::1',
  '[::1]x',
  'http://a',
  'a%00b',
  '\xe4',
  '<a>',
  'a;b',
].map((value) => row(`Host: ${shown(value)}`, [line, `Host: ${value}`, key, length]));

const lengths = [
  '',
  '+25',
  '-1',
  '025',
  '2 5',
  '0x19',
  '25,25',
  '25, 25',
  '25;',
  '1e1',
  '25.0',
  'abc',
  '9'.repeat(30),
].map((value) => row(`Content-Length: ${shown(value)}`, [line, host, key, `Content-Length: ${value}`]));

const codings = [
  ',chunked',
  'chunked,',
  'chunked,chunked',
  'chunked, chunked',
  'xchunked',
  'chunkedx',
  '"chunked"',
  'chunked;q=1',
  'gzip, chunked',
  'chunked, gzip',
  'identity',
  'identity, chunked',
  '\x0bchunked',
  'chunked\x0b',
  'chu\tnked',
  '',
  'gzip',
  'trailers',
].map((value) =>
  row(`Transfer-Encoding: ${shown(value)}`, [line, host, key, `Transfer-Encoding: ${value}`], chunkedBody),
);

const requestLines = [
  'post /v1/embeddings HTTP/1.1',
  'Post /v1/embeddings HTTP/1.1',
  'P\xd6ST /v1/embeddings HTTP/1.1',
  ' POST /v1/embeddings HTTP/1.1',
  'POST\t/v1/embeddings\tHTTP/1.1',
  'POST /v1/embeddings HTTP/1.1 ',
  'POST /v1/embeddings HTTP/1.1 x',
  'POST /v1/embeddings http/1.1',
  'POST /v1/embeddings HTTP/1.2',
  'POST /v1/embeddings HTTP/2.0',
  'POST /v1/embeddings HTTP/0.9',
  'POST /v1/embeddings HTTP/1.',
  'POST /v1/embeddings HTTP/11',
  'POST /v1/embeddings HTTP/1.10',
  'POST /v1/embeddings HTTPS/1.1',
  'POST /v1/embeddings ICE/1.0',
  'POST /v1/embeddings',
  'POST',
  'POST v1/embeddings HTTP/1.1',
  'POST http://127.0.0.1/v1/embeddings HTTP/1.1',
  'POST https://example.com:443/v1/embeddings HTTP/1.1',
  'POST //127.0.0.1/v1/embeddings HTTP/1.1',
  'POST 127.0.0.1:80 HTTP/1.1',
  'POST * HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT 127.0.0.1:80 HTTP/1.1',
  'CONNECT /v1/embeddings HTTP/1.1',
  'TRACE /v1/embeddings HTTP/1.1',
  'TRACE /healthz HTTP/1.1',
  'QUERY /v1/embeddings HTTP/1.1',
  'PRI /v1/embeddings HTTP/1.1',
  'SOURCE /v1/embeddings HTTP/1.1',
  'POST ?/v1/embeddings HTTP/1.1',
  'POST #/v1/embeddings HTTP/1.1',
  'POST /v1/embeddings#x HTTP/1.1',
  'POST /v1\\embeddings HTTP/1.1',
  'POST \\v1\\embeddings HTTP/1.1',
  'POST /v1/embeddings\x00 HTTP/1.1',
  'POST /v1/\x01embeddings HTTP/1.1',
  'POST /v1/embeddings?\x1f HTTP/1.1',
  'POST /v1/embeddings?\x7f HTTP/1.1',
  'POST /v1/embeddings?\x00 HTTP/1.1',
  'POST /v1/embeddings?\xe4 HTTP/1.1',
  'POST /v1/embedd\xefngs HTTP/1.1',
  'POST /v1/embeddings?a\tb HTTP/1.1',
  'POST /v1/embeddings?a b HTTP/1.1',
  'POST /v1/embeddings\r HTTP/1.1',
].map((first) => row(shown(first), [first, host, key, length]));

const fields = [
  ' X: 1',
  '\tX: 1',
  'X : 1',
  'X\t: 1',
  'X Y: 1',
  ': 1',
  ':',
  'X',
  'X\x00: 1',
  'X\x7f: 1',
  'X\xe4: 1',
  'X(: 1',
  'X,Y: 1',
  'X/Y: 1',
  'X[]: 1',
  'X{}: 1',
  'X"Y": 1',
  'X@Y: 1',
  'X;Y: 1',
  'X<Y>: 1',
  'X: a\x00b',
  'X: \x00',
  'X: a\x01b',
  'X: a\x08b',
  'X: a\x0bb',
  'X: a\x0cb',
  'X: a\x1bb',
  'X: a\x7fb',
  'X: a\rb',
  'X: a\nb',
  'X: a\r\n b',
  'X: a\r\n\tb',
  'X:\r\n b',
  'Content-Length\x0b: 25',
  'Content-Length : 25',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\x00: chunked',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding:\tchunked',
  'transfer-encoding: identity',
  'Content-Length: 25',
  'Content-Length: 24',
  'content-length: 0',
  'Host: 127.0.0.1',
  'host: example.com',
  'Connection: content-length',
  'Connection: close, Content-Length',
  'Connection: transfer-encoding',
  'Connection: host',
  'Connection: Authorization, keep-alive',
  'Expect: 200-ok',
  'Expect: 100-continue, 100-continue',
  'Expect: 100-continued',
  'Expect: ',
].map((field) => row(`the field ${shown(field)}`, [line, host, key, field, length]));

const lineEnds = [
  textRow('bare LF everywhere', `${line}\n${host}\n${key}\n${length}\n\n${body}`),
  textRow('bare LF behind the request line', `${line}\n${host}\r\n${key}\r\n${length}\r\n\r\n${body}`),
  textRow('bare LF behind a field', `${line}\r\n${host}\n${key}\r\n${length}\r\n\r\n${body}`),
  textRow('bare LF at the end of the head', `${line}\r\n${host}\r\n${key}\r\n${length}\r\n\n${body}`),
  textRow('bare CR everywhere', `${line}\r${host}\r${key}\r${length}\r\r${body}`),
  textRow('bare CR behind a field', `${line}\r\n${host}\r${key}\r\n${length}\r\n\r\n${body}`),
  textRow('two CR behind a field', `${line}\r\n${host}\r\r\n${key}\r\n${length}\r\n\r\n${body}`),
  textRow('LF before CR', `${line}\n\r${host}\n\r${key}\n\r${length}\n\r\n\r${body}`),
  textRow('white space before the first field', `${line}\r\n ${host}\r\n${key}\r\n${length}\r\n\r\n${body}`),
];

const shapes = [
  row('no Host in HTTP/1.1', [line, key, length]),
  row('two Hosts, the first fits', [line, host, key, length, 'Host: evil.example']),
  row('a folded Host', [line, 'Host: a\r\n b', key, length]),
  row('Content-Length, then Transfer-Encoding', [line, host, key, length, chunked], chunkedBody),
  row('Transfer-Encoding, then Content-Length', [line, host, key, chunked, length], chunkedBody),
  row('two Transfer-Encodings', [line, host, key, chunked, chunked], chunkedBody),
  row(
    'two Transfer-Encodings, one of them identity',
    [line, host, key, 'Transfer-Encoding: identity', chunked],
    chunkedBody,
  ),
  row('a folded Transfer-Encoding', [line, host, key, 'Transfer-Encoding:\r\n chunked'], chunkedBody),
  row('Transfer-Encoding with an underscore beside a length', [line, host, key, length, 'Transfer-Encoding: x'], body),
  row('chunked in HTTP/1.0', [line.replace('1.1', '1.0'), host, key, chunked], chunkedBody),
  row(
    'chunked in HTTP/1.0 on a kept connection',
    [line.replace('1.1', '1.0'), host, key, 'Connection: keep-alive', chunked],
    chunkedBody,
  ),
  { ...textRow('HTTP/0.9', 'GET /healthz\r\n'), cut: true as const },
  textRow('HTTP/0.9 with a body', `POST /v1/embeddings\r\n\r\n${body}`),
  textRow('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'),
  textRow('a TLS client hello', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'),
  textRow('an answer instead of a request', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  textRow('a PROXY line', `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${line}\r\n${host}\r\n${key}\r\n${length}\r\n\r\n${body}`),
  textRow('zero bytes', '\0'.repeat(100)),
  textRow('nothing but a body', body),
  row('a head of 100 KB in one field', [line, host, key, length, `X: ${'x'.repeat(100_000)}`]),
  row('a head of 100 KB in one name', [line, host, key, length, `${'x'.repeat(100_000)}: 1`]),
  row('a head of 60 KB in 150 fields', [
    line,
    host,
    key,
    length,
    ...Array.from({ length: 150 }, (_, i) => `X-${i}: ${'x'.repeat(400)}`),
  ]),
  row('300 fields', [line, host, key, length, ...Array.from({ length: 300 }, (_, i) => `X-${i}: 1`)]),
  row('300 fields, and the second Host behind them', [
    line,
    host,
    key,
    length,
    ...Array.from({ length: 300 }, (_, i) => `X-${i}: 1`),
    'Host: b',
  ]),
  row('a target of 100 KB', [`POST /v1/embeddings?${'x'.repeat(100_000)} HTTP/1.1`, host, key, length]),
  row('a model of 20 KB in the path', [
    `POST /v1/engines/${'x'.repeat(20_000)}/embeddings HTTP/1.1`,
    host,
    key,
    length,
  ]),
  row('a key of 10 KB', [line, host, `Authorization: Bearer ${'QUJD'.repeat(2500)}`, length]),
];

const chunks = [
  '0x19\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '-19\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '+19\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  ' 19\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '19 \r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '\r\n19\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  'g\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '1 9\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '19\n{"model":"m","input":"x"}\n0\n\n',
  '19\r\n{"model":"m","input":"x"}0\r\n\r\n',
  '19\r\n{"model":"m","input":"x"}\n0\r\n\r\n',
  '19\r\n{"model":"m","input":"x"}\r0\r\n\r\n',
  '18\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '1a\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  'fffffffffffffffff\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '10000000000000019\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '19;\x00\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  '19;a\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  `19;${'x'.repeat(20_000)}\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n`,
  '19\r\n{"model":"m","input":"x"}\r\n0\r\nX Y: 1\r\n\r\n',
  '19\r\n{"model":"m","input":"x"}\r\n0\r\nX: a\x00\r\n\r\n',
  '19\r\n{"model":"m","input":"x"}\r\n0\r\n folded\r\n\r\n',
  `19\r\n{"model":"m","input":"x"}\r\n0\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
  '19\r\n{"model":"m","input":"x"}\r\n0\n\n',
  '19\r\n{"model":"m","input":"x"}\r\n0\r\nContent-Length: 7\r\n\r\n',
].map((rest) => row(`the chunks ${shown(rest)}`, [line, host, key, chunked], rest));

const broken = [
  cutRow('a body that stops short of its length', [line, host, key, 'Content-Length: 100'], body),
  cutRow('a body that never begins', [line, host, key, 'Content-Length: 100'], ''),
  cutRow('a body whose announced length is over the limit', [line, host, key, 'Content-Length: 99999999999'], body),
  cutRow('a chunk that stops short', [line, host, key, chunked], '100\r\n{"model":"m","input":"x"}'),
  cutRow('chunks without the last one', [line, host, key, chunked], '19\r\n{"model":"m","input":"x"}\r\n'),
  cutRow('a last chunk without its end', [line, host, key, chunked], '19\r\n{"model":"m","input":"x"}\r\n0\r\n'),
  cutRow(
    'a chunk of 8 exabytes',
    [line, host, key, chunked],
    '7fffffffffffffff\r\n{"model":"m","input":"x"}\r\n0\r\n\r\n',
  ),
  { ...textRow('a head without an end', `${line}\r\n${host}\r\n${key}\r\n${length}\r\n`), cut: true as const },
  { ...textRow('half a request line', 'POST /v1/embed'), cut: true as const },
  cutRow('an expectation that is refused, and half a body', [line, host, key, 'Expect: 200-ok', length], '{'),
];

export const malformedRequests: readonly MalformedRequest[] = [
  ...hosts,
  ...lengths,
  ...codings,
  ...requestLines,
  ...fields,
  ...lineEnds,
  ...shapes,
  ...chunks,
  ...broken,
];
