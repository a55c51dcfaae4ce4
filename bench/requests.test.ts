import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Requests, toParts, toWrkScript } from './requests.ts';

const requests: Requests = {
  port: 80,
  path: '/v1/rerank',
  bodyType: 'application/json',
  body: Buffer.from('{"query":"1000000000 \\n"}'),
  counterAt: 10,
  firstCounter: 1_000_000_000,
  keys: ['one', 'two'],
};

test('a request is a prefix, a number of fixed length, and the rest', () => {
  const { openings, rest } = toParts(requests);
  assert.deepEqual(
    openings.map((opening) => /Authorization: Bearer (\w+)\r\n/.exec(opening)?.[1]),
    ['one', 'two'],
  );
  const [head = '', body = ''] = `${openings[1]}1000000007${rest}`.split('\r\n\r\n');
  assert.equal(body, '{"query":"1000000007 \\n"}');
  assert.match(
    head,
    new RegExp(`^POST /v1/rerank HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: ${body.length}\r\n`),
  );
});

test('a request body without space for the number is refused', () => {
  assert.throws(() => toParts({ ...requests, counterAt: -1 }), /no place/);
  assert.throws(() => toParts({ ...requests, counterAt: requests.body.length - 9 }), /no place/);
});

test('the wrk script escapes line ends, quotes and backslashes for Lua', () => {
  const { rest } = toParts(requests);
  const script = toWrkScript({ openings: ['a\r\n"b\\', 'c'], rest }, '/tmp/rest', 5);
  assert.ok(script.startsWith('local openings = {\n  "a\\r\\n\\"b\\\\",\n  "c",\n}\n'), script);
});
