import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventStream, EventStreamError, type StreamEvent } from './event-stream.ts';

function read(chunks: readonly (Buffer | string)[], limitBytes?: number): StreamEvent[] {
  const stream = new EventStream(limitBytes);
  const events = chunks.flatMap((chunk) => [...stream.push(Buffer.from(chunk))]);
  return [...events, ...stream.end()];
}

const dataOf = (...chunks: (Buffer | string)[]): string[] => read(chunks).map(({ data }) => data);

test('an event ends with an empty line, with any line ending', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    assert.deepEqual(dataOf(`data: a${end}${end}data: b${end}${end}`), ['a', 'b']);
    assert.deepEqual(dataOf(`data: a${end}data: b${end}${end}`), ['a\nb']);
  }
  assert.deepEqual(dataOf('data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r'), ['a\nb\nc', 'd']);
});

test('a bare carriage return ends a line at once, and a following line feed belongs to it', () => {
  const stream = new EventStream();
  assert.deepEqual([...stream.push(Buffer.from('data: a\r'))], []);
  assert.deepEqual([...stream.push(Buffer.from('\n'))], []);
  assert.deepEqual([...stream.push(Buffer.from('\r'))], [{ name: '', data: 'a' }]);
  assert.deepEqual([...stream.push(Buffer.from('\ndata: b\r\r'))], [{ name: '', data: 'b' }]);
  assert.deepEqual([...stream.end()], []);
});

test('comments, other fields and empty lines are no events', () => {
  assert.deepEqual(dataOf(': keep-alive\n\n', '\n\n\r\n', 'id: 7\nretry: 10\n\n', 'event: ping\n\n', 'data: a\n\n'), [
    'a',
  ]);
  assert.deepEqual(dataOf('data: a\n: in between\nid: 1\ndata: b\n\n'), ['a\nb']);
  assert.deepEqual(dataOf('data\n\ndata:\n\ndata: \n\n'), []);
});

test('strips one space after the colon', () => {
  assert.deepEqual(dataOf('data:a\n\ndata: b\n\ndata:  c \n\ndata:d: e\n\n'), ['a', 'b', ' c ', 'd: e']);
  assert.deepEqual(dataOf('datum: a\n\n data: b\n\nDATA: c\n\n'), []);
});

test('an event name applies only to the data of its own event', () => {
  assert.deepEqual(read(['event: error\ndata: a\n\ndata: b\n\nevent: x\n\ndata: c\n\n']), [
    { name: 'error', data: 'a' },
    { name: '', data: 'b' },
    { name: '', data: 'c' },
  ]);
});

test('the last event counts without a final empty line', () => {
  assert.deepEqual(dataOf('data: a\n\ndata: [DONE]'), ['a', '[DONE]']);
  assert.deepEqual(dataOf('data: a\n\ndata: b\n'), ['a', 'b']);
  assert.deepEqual(dataOf('data: a\r'), ['a']);
  assert.deepEqual(dataOf(), []);
});

test('strips a leading byte order mark', () => {
  assert.deepEqual(dataOf('\ufeffdata: a\n\n\ufeffdata: b\n\ndata: \ufeffc\n\n'), ['a', '\ufeffc']);
});

test('invalid UTF-8 is an error, after the events before it', () => {
  const stream = new EventStream();
  const events: string[] = [];
  assert.throws(
    () => {
      const bytes = Buffer.concat([Buffer.from('data: é\n\ndata: '), Buffer.from([0xc3, 0x28]), Buffer.from('\n\n')]);
      for (const { data } of stream.push(bytes)) events.push(data);
    },
    (error) => error instanceof EventStreamError && /UTF-8/.test(error.message),
  );
  assert.deepEqual(events, ['é']);
});

test('limits the length of an event in one line or several, not counting comments', () => {
  const long = 'x'.repeat(80);
  assert.deepEqual(dataOf(`data: ${long}\n\n`), [long]);
  assert.throws(() => read([`data: ${long}${long}\n\n`], 100), EventStreamError);
  assert.throws(() => read(['data: ', long, long], 100), EventStreamError);
  assert.throws(
    () =>
      read(
        Array.from({ length: 20 }, () => 'data: xxxx\n'),
        100,
      ),
    EventStreamError,
  );
  assert.throws(() => read([':', ...Array.from({ length: 20 }, () => 'xxxxxxxxxx')], 100), EventStreamError);
  const chatty = Array.from({ length: 50 }, () => `: ${long}\ndata: x\n\n`);
  assert.equal(read(chatty, 100).length, 50);
});

test('the result does not depend on chunk boundaries', () => {
  const piece = fc.constantFrom(
    'data: a',
    'data:',
    'event: error',
    ': c',
    '\r',
    '\n',
    '\r\n',
    '\n\n',
    'é',
    '🚀',
    'x',
    'data: {"a":"ü"}',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(200), { maxLength: 20 }), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''));
      const ends = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b);
      const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      assert.deepEqual(read(chunks), read([bytes]));
    }),
  );
});
