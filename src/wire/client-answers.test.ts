import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNowhere, question } from '../../test/support/wire/wire-answers.ts';
import type { ClientRequest } from './client-call.ts';

interface Outcome {
  readonly events: readonly string[];
  /** It can serve another call. */
  readonly isKept: boolean;
}

/** Sends these segments, and then the end of the connection where the row wants one. */
function answer(segments: readonly Buffer[], { ends = false, request = question } = {}): Outcome {
  const { socket, connection, recorder, ask } = openNowhere(request);
  ask();
  for (const segment of segments) socket.emit('data', segment);
  if (ends) socket.emit('end');
  const isKept = connection.isIdle;
  connection.destroy(new Error('over'));
  return { events: recorder.events.slice(2), isKept };
}

/** In one piece, in two at every position, and byte by byte. */
function* splits(text: string): Generator<Buffer[]> {
  const bytes = Buffer.from(text, 'latin1');
  yield [bytes];
  for (let at = 1; at < bytes.length; at += 1) yield [bytes.subarray(0, at), bytes.subarray(at)];
  yield Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}

interface Row {
  readonly sent: string;
  readonly events: readonly string[];
  readonly isKept?: boolean;
  readonly ends?: boolean;
  readonly request?: ClientRequest;
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody';
const okEvents = ['first byte', 'head 200 OK content-length|4', 'body body', 'end '];
const head: ClientRequest = { method: 'HEAD', path: '/x', headers: [] };

const shapes: Readonly<Record<string, Row>> = {
  'a response with Content-Length': { sent: ok, events: okEvents },
  'a response without a body': {
    sent: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    events: ['first byte', 'head 200 OK Content-Length|0', 'end '],
  },
  'a response without a reason phrase': {
    sent: 'HTTP/1.1 404\r\ncontent-length: 0\r\n\r\n',
    events: ['first byte', 'head 404  content-length|0', 'end '],
  },
  'non-ASCII bytes in the reason phrase and in a header value': {
    sent: 'HTTP/1.1 200 Gr\xf6\xdfe\r\nx: \xe9\r\ncontent-length: 0\r\n\r\n',
    events: ['first byte', 'head 200 Gr\xf6\xdfe x|\xe9|content-length|0', 'end '],
  },
  'empty header values, and tabs and blanks around values': {
    sent: 'HTTP/1.1 200 OK\r\na:\r\nb:\t 1 \t\r\ncontent-length:0\r\n\r\n',
    events: ['first byte', 'head 200 OK a||b|1|content-length|0', 'end '],
  },
  'a 204 response with Content-Length': {
    sent: 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n',
    events: ['first byte', 'head 204 No Content content-length|5', 'end '],
  },
  'a 304 response with Content-Length': {
    sent: 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n',
    events: ['first byte', 'head 304 Not Modified content-length|5', 'end '],
  },
  'the response to a HEAD request': {
    sent: 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n',
    events: ['first byte', 'head 200 OK content-length|5', 'end '],
    request: head,
  },
  'a chunked response': {
    sent: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n00A;x=1\r\n0123456789\r\n0\r\n\r\n',
    events: ['first byte', 'head 200 OK transfer-encoding|chunked', 'body abc0123456789', 'end '],
  },
  'a chunked response with trailers': {
    sent: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n',
    events: ['first byte', 'head 200 OK transfer-encoding|chunked', 'body a', 'end X-T|1|X-U|2'],
  },
  'a response that ends with the connection': {
    sent: 'HTTP/1.1 200 OK\r\nx: 1\r\n\r\nto the end',
    events: ['first byte', 'head 200 OK x|1', 'body to the end', 'end '],
    ends: true,
    isKept: false,
  },
  'an HTTP/1.0 response': {
    sent: 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok',
    events: ['first byte', 'head 200 OK content-length|2', 'body ok', 'end '],
    isKept: false,
  },
  'an HTTP/1.0 response that keeps the connection open': {
    sent: 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok',
    events: ['first byte', 'head 200 OK connection|keep-alive|content-length|2', 'body ok', 'end '],
  },
  'a response that announces the end of the connection': {
    sent: 'HTTP/1.1 200 OK\r\nConnection: x, Close\r\ncontent-length: 2\r\n\r\nok',
    events: ['first byte', 'head 200 OK Connection|x, Close|content-length|2', 'body ok', 'end '],
    isKept: false,
  },
  'a response after informational (1xx) heads': {
    sent: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: </x>\r\ncontent-length: 3\r\n\r\nHTTP/1.1 199\r\n\r\n${ok}`,
    events: okEvents,
  },
  'a response after an empty line': { sent: `\r\n${ok}`, events: okEvents },
  'a response followed by another one': { sent: `${ok}${ok}`, events: okEvents, isKept: false },
  'a response followed by a line end': { sent: `${ok}\r\n`, events: okEvents, isKept: false },
  'a chunked response followed by more bytes': {
    sent: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nx',
    events: ['first byte', 'head 200 OK transfer-encoding|chunked', 'end '],
    isKept: false,
  },
};

for (const [what, { sent, events, isKept = true, ends = false, request = question }] of Object.entries(shapes)) {
  test(`${what}: any division into TCP segments gives the same result`, () => {
    for (const segments of splits(sent)) {
      const result = answer(segments, { ends, request });
      const where = segments.map(({ length }) => length).join(' + ');
      assert.deepEqual(result.events, events, where);
      assert.equal(result.isKept, isKept, where);
    }
  });
}

const okWith = (...lines: readonly string[]): string => ['HTTP/1.1 200 OK', ...lines, '', 'body'].join('\r\n');
const inChunks = (chunks: string): string => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`;

const faults: readonly string[] = [
  'no HTTP at all',
  '{"error":"no head"}',
  'HTTP/2 200 OK\r\n\r\n',
  'HTTP/1.2 200 OK\r\ncontent-length: 0\r\n\r\n',
  'http/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1  200 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 099 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200 O\x00K\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\ncontent-length: 0\n\n',
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  'HTTP/1.1 100 Continue\r\nno colon\r\n\r\n',
  okWith('content-length: 4', 'content-length: 4'),
  okWith('content-length: 4, 4'),
  okWith('content-length: +4'),
  okWith('content-length: 4 4'),
  okWith('content-length:'),
  okWith('content-length: 4', 'transfer-encoding: chunked'),
  okWith('transfer-encoding: gzip, chunked'),
  okWith('transfer-encoding: chunked', 'transfer-encoding: chunked'),
  okWith('transfer-encoding: identity'),
  okWith('transfer-encoding: chunked\t'),
  okWith('x : 1', 'content-length: 4'),
  okWith('x: 1', ' 2', 'content-length: 4'),
  okWith('x: a\rb', 'content-length: 4'),
  okWith('x: a\nb: c', 'content-length: 4'),
  okWith('x: a\x0bb', 'content-length: 4'),
  okWith(': 1', 'content-length: 4'),
  'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  inChunks('z\r\n'),
  inChunks('-1\r\n'),
  inChunks('+1\r\n'),
  inChunks(' 1\r\na\r\n'),
  inChunks('1 \r\na\r\n'),
  inChunks('0x1\r\na\r\n'),
  inChunks('1\na\r\n'),
  inChunks('1\r\nab\r\n'),
  inChunks('123456789\r\n'),
  inChunks('1;\x00\r\na\r\n'),
  inChunks('0\r\nbad line\r\n\r\n'),
  inChunks('0\r\ncontent-length: 4\r\n\r\n'),
  inChunks('0\r\nx: 1\n\n'),
];

test('an ambiguous response is refused, across any TCP segments', () => {
  for (const sent of faults) {
    for (const segments of splits(sent)) {
      const { events, isKept } = answer(segments);
      const where = `${JSON.stringify(sent)}: ${segments.map(({ length }) => length).join(' + ')}`;
      assert.equal(events.at(-1), 'error BadAnswerError', where);
      assert.equal(isKept, false, where);
    }
  }
});

test('chunk extensions about as long as the data are accepted, and much longer ones are refused', () => {
  const chunk = `10;${'e'.repeat(15)}\r\n0123456789abcdef\r\n`;
  assert.equal(answer([Buffer.from(inChunks(`${chunk.repeat(2_000)}0\r\n\r\n`))]).events.at(-1), 'end ');
  const wasteful = `1;${'e'.repeat(15)}\r\n0\r\n`;
  assert.equal(answer([Buffer.from(inChunks(wasteful.repeat(2_000)))]).events.at(-1), 'error BadAnswerError');
});

test('a response head over 64 KiB is refused, also an informational (1xx) one', () => {
  const filler = `x: ${'f'.repeat(1_000)}\r\n`.repeat(66);
  for (const status of ['200 OK', '103 Early Hints']) {
    assert.equal(answer([Buffer.from(`HTTP/1.1 ${status}\r\n${filler}\r\n`)]).events.at(-1), 'error BadAnswerError');
  }
  const hints = Buffer.from(`HTTP/1.1 103 Early Hints\r\nx: ${'f'.repeat(1_000)}\r\n\r\n`.repeat(200));
  assert.deepEqual(answer([hints, Buffer.from(ok)]).events, okEvents, 'however many there are');
});

test('a truncated response is refused, wherever it ends', () => {
  const whole = [ok, inChunks('3\r\nabc\r\n0\r\nx: 1\r\n\r\n'), `HTTP/1.1 100 Continue\r\n\r\n${ok}`];
  for (const text of whole) {
    for (let at = 0; at < text.length; at += 1) {
      const { events } = answer(
        [Buffer.from(text.slice(0, at))].filter(({ length }) => length > 0),
        { ends: true },
      );
      assert.equal(events.at(-1), 'error BrokenConnectionError', `${at} bytes of ${JSON.stringify(text)}`);
    }
  }
});
