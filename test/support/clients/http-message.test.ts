import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createMessageReader,
  type Framing,
  type HeaderField,
  parseFraming,
  toHead,
  WireError,
} from './http-message.ts';

interface Message {
  readonly startLine: string;
  readonly headers: readonly HeaderField[];
  readonly body: string;
  readonly trailers: readonly HeaderField[];
}

/** Reads the segments, each as one arrival, and gives the messages and whether the end of the stream leaves none open. */
function read(
  segments: readonly (Buffer | string)[],
  frame: (headers: readonly HeaderField[]) => Framing = (headers) => parseFraming(headers) ?? { kind: 'none' },
): { messages: Message[]; endsCleanly: boolean } {
  const messages: Message[] = [];
  let startLine = '';
  let headers: readonly HeaderField[] = [];
  let body = Buffer.alloc(0);
  const reader = createMessageReader({
    onHead(head) {
      startLine = head.startLine;
      headers = head.headers;
      body = Buffer.alloc(0);
      return frame(head.headers);
    },
    onBody(bytes) {
      body = Buffer.concat([body, bytes]);
    },
    onComplete(trailers) {
      messages.push({ startLine, headers, body: body.toString('latin1'), trailers });
    },
  });
  for (const segment of segments) reader.push(Buffer.from(segment));
  return { messages, endsCleanly: reader.end() };
}

const chunked = 'POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n';

test('a chunked body is parsed the same at any split', () => {
  const bytes = Buffer.from(
    `${chunked}5\r\nhel\r\n\r\nA;note="x"\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 2\r\n\r\nok`,
  );
  const expected = [
    {
      startLine: 'POST /a HTTP/1.1',
      headers: [['Transfer-Encoding', 'chunked']],
      body: 'hel\r\n0123456789',
      trailers: [['X-Sum', '1']],
    },
    { startLine: 'POST /b HTTP/1.1', headers: [['Content-Length', '2']], body: 'ok', trailers: [] },
  ];
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const { messages, endsCleanly } = read([bytes.subarray(0, cut), bytes.subarray(cut)]);
    assert.deepEqual(messages, expected, `cut at ${cut}`);
    assert.equal(endsCleanly, true);
  }
  const byteByByte = read(Array.from(bytes, (byte) => Buffer.from([byte])));
  assert.deepEqual(byteByByte.messages, expected);
});

test('a message is complete exactly at its last byte', () => {
  for (const whole of [
    `${chunked}3\r\nabc\r\n0\r\n\r\n`,
    `${chunked}3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n`,
    'POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc',
  ]) {
    for (let length = 1; length < whole.length; length += 1) {
      const { messages, endsCleanly } = read([whole.slice(0, length)]);
      assert.deepEqual({ length, count: messages.length, endsCleanly }, { length, count: 0, endsCleanly: false });
    }
    assert.equal(read([whole]).messages.length, 1);
  }
});

test('a body without framing lasts until the stream ends', () => {
  const { messages, endsCleanly } = read(['HTTP/1.1 200 OK\r\n\r\nab', 'cd'], () => ({ kind: 'until-close' }));
  assert.equal(messages[0]?.body, 'abcd');
  assert.equal(endsCleanly, true);
});

test('fields keep order and case, and their values lose only surrounding white space', () => {
  const { messages } = read(['GET / HTTP/1.1\r\nb:2\r\nA: \t1 1 \r\nb:\r\n\r\n']);
  assert.deepEqual(messages[0]?.headers, [
    ['b', '2'],
    ['A', '1 1'],
    ['b', ''],
  ]);
});

test('malformed bytes are refused', () => {
  for (const bytes of [
    `${chunked}g\r\n`,
    `${chunked}\r\n`,
    `${chunked}-1\r\n`,
    `${chunked} 3\r\nabc\r\n`,
    `${chunked}3\r\nabcd\r\n0\r\n\r\n`,
    `${chunked}3\nabc\r\n`,
    'GET / HTTP/1.1\r\nA : 1\r\n\r\n',
    'GET / HTTP/1.1\r\nA: 1\r\n folded\r\n\r\n',
    'GET / HTTP/1.1\r\nA: 1\nB: 2\r\n\r\n',
    'GET / HTTP/1.1\r\nno colon\r\n\r\n',
    '\r\nGET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.1\r\nA: \0\r\n\r\n',
  ]) {
    assert.throws(() => read([bytes]), WireError, JSON.stringify(bytes));
  }
});

test('ambiguous framing fields are refused', () => {
  for (const headers of [
    [
      ['Content-Length', '3'],
      ['Transfer-Encoding', 'chunked'],
    ],
    [
      ['Content-Length', '3'],
      ['content-length', '3'],
    ],
    [['Content-Length', '03']],
    [['Content-Length', '+3']],
    [['Content-Length', '']],
    [['Transfer-Encoding', 'gzip, chunked']],
    [['Transfer-Encoding', ',chunked']],
  ] satisfies HeaderField[][]) {
    assert.throws(() => parseFraming(headers), WireError, JSON.stringify(headers));
  }
  assert.deepEqual(parseFraming([['Transfer-Encoding', 'Chunked']]), { kind: 'chunked' });
  assert.deepEqual(parseFraming([['Content-Length', '0']]), { kind: 'length', bytes: 0 });
});

test('a head is written byte for byte', () => {
  assert.deepEqual(
    toHead('HTTP/1.1 200 OK', [['X-A', '\xff']]),
    Buffer.from('HTTP/1.1 200 OK\r\nX-A: \xff\r\n\r\n', 'latin1'),
  );
});
