import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeadCollector } from './head-collector.ts';

/** What is collected of pieces: the head and what came behind it, a fault, or nothing yet. */
function collect(pieces: readonly Buffer[], limitBytes = 100): string {
  const collector = new HeadCollector(limitBytes);
  for (const piece of pieces) {
    const read = collector.push(piece);
    if (typeof read === 'object') return `${read.kind}: ${read.message}`;
    if (read) return collector.bytes.toString('latin1', 0, collector.endsAt);
  }
  return 'more';
}

function everySplit(text: string): Buffer[][] {
  const bytes = Buffer.from(text, 'latin1');
  const splits = [[bytes], [...bytes].map((byte) => Buffer.from([byte]))];
  for (let at = 1; at < bytes.length; at += 1) splits.push([bytes.subarray(0, at), bytes.subarray(at)]);
  return splits;
}

test('a request head is found whatever the boundaries of reads, without leading empty lines', () => {
  const head = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';
  for (const before of ['', '\r\n', '\r\n\r\n']) {
    for (const pieces of everySplit(before + head)) assert.equal(collect(pieces), head, `${pieces}`);
  }
});

test('bytes after a request head are left unread', () => {
  const collector = new HeadCollector(100);
  assert.equal(collector.push(Buffer.from('GET / HTTP/1.1\r\n\r')), false);
  assert.equal(collector.push(Buffer.from('\nbody')), true);
  assert.equal(collector.bytes.toString('latin1', collector.endsAt), 'body');
  collector.reset();
  assert.equal(collector.isEmpty, true);
});

test('a request head of exactly the limit is accepted, and one byte more is refused, whole or in pieces', () => {
  const head = `GET /${'x'.repeat(100 - 'GET / HTTP/1.1\r\n\r\n'.length)} HTTP/1.1\r\n\r\n`;
  assert.equal(head.length, 100);
  for (const pieces of everySplit(head)) assert.equal(collect(pieces), head);
  for (const pieces of everySplit(head.replace('GET', 'POST'))) assert.match(collect(pieces), /too-large: .*100 bytes/);
});

test('bytes that cannot begin a request head are refused at once', () => {
  for (const text of [
    '\x16\x03\x01',
    'GET / HTTP/1.1\nHost',
    'GET /\0',
    'GET / HTTP/1.1\rHost',
    '{"a":1}',
    '\r\r',
    '\n',
  ]) {
    for (const pieces of everySplit(text)) assert.match(collect(pieces), /^malformed/, JSON.stringify(text));
  }
});

test('the rest of bytes that may begin a request head is waited for', () => {
  for (const text of ['\r', '\r\n', 'GET / HTTP/1.1\r', 'GET / HTTP/1.1\r\nHost: \xfc\t']) {
    for (const pieces of everySplit(text)) assert.equal(collect(pieces), 'more', JSON.stringify(text));
  }
});
