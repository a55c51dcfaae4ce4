import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RequestHead, readRequestHead } from './request-head.ts';

const limits = { fields: 4, fieldBytes: 40 };

function read(text: string): ReturnType<typeof readRequestHead> {
  const bytes = Buffer.from(`${text}\r\n\r\n`, 'latin1');
  return readRequestHead(bytes, bytes.length, limits);
}

function headOf(text: string): RequestHead {
  const head = read(text);
  assert.ok('method' in head, `${text}: ${'message' in head ? head.message : ''}`);
  return head;
}

function faultOf(text: string): string {
  const head = read(text);
  assert.ok('kind' in head, `taken: ${JSON.stringify(text)}`);
  return `${head.kind}: ${head.message}`;
}

test('parses method, target and fields of a head unchanged', () => {
  const head = headOf('POST /v1/x?a=%20 HTTP/1.1\r\nHOST: h:80\r\nX-A:1\r\nx-a: \t2 3\t\r\nX-Empty:');
  assert.deepEqual([head.method, head.target, head.minor], ['POST', '/v1/x?a=%20', 1]);
  assert.deepEqual(head.fields.list, ['HOST', 'h:80', 'X-A', '1', 'x-a', '2 3', 'X-Empty', '']);
  assert.equal(head.fields.get('x-a'), '1, 2 3');
  assert.equal(head.fields.get('x-empty'), '');
  assert.equal(head.fields.get('x-b'), undefined);
  assert.deepEqual([head.fields.has('host'), head.fields.has('hos')], [true, false]);
});

test('each byte above ASCII in a header value becomes one character', () => {
  assert.equal(headOf('GET / HTTP/1.0\r\nX: \xfc\xff').fields.get('x'), '\xfc\xff');
});

test('header names that differ in any one character are read as different fields', () => {
  const { fields } = headOf('GET / HTTP/1.0\r\nX-[a: 1'.replace('[', '^'));
  assert.equal(fields.get('x-^a'), '1');
  // A circumflex is no letter: 0x20 apart from it stands a tilde.
  assert.equal(fields.get('x-~a'), undefined);
});

test('reads the body length from Content-Length and Transfer-Encoding', () => {
  assert.equal(headOf('GET / HTTP/1.0').bodyBytes, 0);
  assert.equal(headOf('GET / HTTP/1.0\r\nContent-Length: 12').bodyBytes, 12);
  assert.equal(headOf('GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked').bodyBytes, 'chunked');
  assert.equal(headOf('GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\t chunked  ').bodyBytes, 'chunked');
});

test('decides keep-alive by HTTP version, Connection and Upgrade', () => {
  const wishes: [string, boolean][] = [
    ['HTTP/1.1', true],
    ['HTTP/1.0', false],
    ['HTTP/1.1\r\nConnection: close', false],
    ['HTTP/1.1\r\nConnection: x, CLOSE', false],
    ['HTTP/1.1\r\nConnection: keep-alive, close', false],
    ['HTTP/1.0\r\nConnection: Keep-Alive', true],
    ['HTTP/1.1\r\nUpgrade: h2c', false],
    ['HTTP/1.1\r\nUpgrade: h2c\r\nConnection: keep-alive', false],
    ['HTTP/1.0\r\nUpgrade: h2c\r\nConnection: keep-alive', false],
    ['HTTP/1.0\r\nConnection: keep-alive\r\nUpgrade: h2c', false],
    ['HTTP/1.0\r\nConnection: close\r\nConnection: keep-alive', false],
    ['HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close', false],
    ['HTTP/1.1\r\nConnection: close\r\nConnection: keep-alive', false],
  ];
  for (const [line, keepAlive] of wishes) assert.equal(headOf(`GET / ${line}\r\nHost: h`).keepAlive, keepAlive, line);
});

test('only an HTTP/1.1 client waits for 100 Continue', () => {
  assert.equal(headOf('POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue').expectsContinue, true);
  assert.equal(headOf('POST / HTTP/1.0\r\nHost: h\r\nExpect: 100-continue').expectsContinue, false);
  assert.match(faultOf('POST / HTTP/1.1\r\nHost: h\r\nExpect: 200-ok'), /expectation/);
});

const refused: readonly [string, RegExp][] = [
  ['', /no request/],
  ['GET', /no request/],
  ['GET  / HTTP/1.1\r\nHost: h', /target/],
  ['GET / HTTP/1.1\rX: y\r\nHost: h', /HTTP\/1\.1 and HTTP\/1\.0/],
  ['GET / HTTP/1.0\r', /HTTP\/1\.1 and HTTP\/1\.0/],
  ['GET / HTTP/1.1 \r\nHost: h', /HTTP\/1\.1 and HTTP\/1\.0/],
  ['GET / HTTP/2.0\r\nHost: h', /HTTP\/1\.1 and HTTP\/1\.0/],
  ['GET / HTTP/1.2\r\nHost: h', /HTTP\/1\.1 and HTTP\/1\.0/],
  ['GET / HTTP/1.10\r\nHost: h', /HTTP\/1\.1 and HTTP\/1\.0/],
  ['GET / HTTP/1.1\rX: 1\r\nHost: h', /HTTP\/1\.1 and HTTP\/1\.0/],
  ['GET / http/1.1\r\nHost: h', /HTTP\/1\.1 and HTTP\/1\.0/],
  ['GET http://h/ HTTP/1.1\r\nHost: h', /target/],
  ['OPTIONS * HTTP/1.1\r\nHost: h', /target/],
  ['PRI * HTTP/2.0', /target/],
  ['CONNECT h:80 HTTP/1.1\r\nHost: h', /target/],
  ['CONNECT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1', /CONNECT/],
  ['GET /\xfc HTTP/1.1\r\nHost: h', /target/],
  ['GET /\t HTTP/1.1\r\nHost: h', /target/],
  ['G(T / HTTP/1.1\r\nHost: h', /no request/],
  [' GET / HTTP/1.1\r\nHost: h', /no request/],
  ['GET / HTTP/1.1', /Host header is missing/],
  ['GET / HTTP/1.1\r\nHost: a\r\nHost: a', /Host header stands twice/],
  ['GET / HTTP/1.1\r\nHost: a b', /plain host name/],
  ['GET / HTTP/1.1\r\nHost: a@b', /plain host name/],
  ['GET / HTTP/1.1\r\nHost:', /plain host name/],
  ['GET / HTTP/1.1\r\nHost : h', /blank stands before the colon/],
  ['GET / HTTP/1.1\r\nHost: h\r\n X: y', /second line/],
  ['GET / HTTP/1.1\r\nHost: h\r\n\tX: y', /second line/],
  ['GET / HTTP/1.1\r\nHost: h\r\n: y', /no name/],
  ['GET / HTTP/1.1\r\nHost: h\r\nX', /no colon/],
  ['GET / HTTP/1.1\r\nHost: h\r\nX: a\rb', /CR or an LF/],
  ['GET / HTTP/1.1\r\nHost: h\r\nX: a\nb', /CR or an LF/],
  ['GET / HTTP/1.1\r\nHost: h\r\nX: a\0b', /control character/],
  ['GET / HTTP/1.1\r\nHost: h\r\nX: a\x7f', /control character/],
  ['GET / HTTP/1.1\r\nHost: h\r\nX\xfc: a', /not allowed/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Length: +1', /plain decimal/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 01', /plain decimal/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1', /plain decimal/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1', /plain decimal/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999', /plain decimal/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Length:', /plain decimal/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1', /stands twice/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked', /exclude each other/],
  ['GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked', /stands twice/],
  ['GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked', /only Transfer-Encoding/],
  ['GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked;a', /only Transfer-Encoding/],
  ['GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\t', /only Transfer-Encoding/],
  ['GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked  \t ', /only Transfer-Encoding/],
  ['GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity', /only Transfer-Encoding/],
  ['GET / HTTP/1.0\r\nTransfer-Encoding: chunked', /HTTP\/1\.0 knows no/],
  ['GET / HTTP/1.1\r\nHost: h\r\nConnection: Content-Length', /must not name content-length/],
  ['GET / HTTP/1.1\r\nHost: h\r\nAuthorization: a\r\nAuthorization: a', /Authorization header stands twice/],
  ['GET / HTTP/1.1\r\nHost: h\r\nContent-Type: a\r\nContent-Type: a', /Content-Type header stands twice/],
  ['GET / HTTP/1.1\r\nHost: h\r\na: 1\r\nb: 1\r\nc: 1\r\nd: 1', /too-large: .*more than 4/],
  [`GET / HTTP/1.1\r\nHost: h\r\nlong: ${'x'.repeat(40)}`, /too-large: .*long is longer than 40/],
];

test('an ambiguous head is refused with the reason', () => {
  for (const [text, message] of refused) assert.match(faultOf(text), message, JSON.stringify(text));
});
