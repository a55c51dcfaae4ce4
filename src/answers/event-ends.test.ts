import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventEnds } from './seen-events.ts';

/** The events of a stream in these pieces, and the remainder. */
function eventsOf(...pieces: string[]): string[] {
  const ends = new EventEnds();
  const events: string[] = [];
  let event = '';
  for (const piece of pieces) {
    let from = 0;
    for (const end of ends.in(Buffer.from(piece))) {
      events.push(event + piece.slice(from, end));
      event = '';
      from = end;
    }
    event += piece.slice(from);
  }
  return [...events, event];
}

test('a stream event ends after its empty line, with LF, CRLF or CR as line ending', () => {
  assert.deepEqual(eventsOf('a\nb\n\nc\n\n'), ['a\nb\n\n', 'c\n\n', '']);
  assert.deepEqual(eventsOf('a\r\nb\r\n\r\nc'), ['a\r\nb\r\n\r\n', 'c']);
  assert.deepEqual(eventsOf('a\r\rb'), ['a\r\r', 'b']);
});

test('each of two consecutive empty lines in a stream ends an event', () => {
  assert.deepEqual(eventsOf('a\n\n\nb'), ['a\n\n', '\n', 'b']);
});

test('a line ending that is split across two chunks counts as one line ending, and an event ends again behind it', () => {
  assert.deepEqual(eventsOf('a\r', '\nb\r', '\n\r', '\nc'), ['a\r\nb\r\n\r', '\n', 'c']);
  assert.deepEqual(eventsOf('a\n', '\nb'), ['a\n\n', 'b']);
});
