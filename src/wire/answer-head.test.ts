import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AnswerHead, AnswerMemo, readAnswerHead } from './answer-head.ts';

const limits = { fields: 20, fieldBytes: 200 };
const bytesOf = (head: string): Buffer => Buffer.from(`${head}\r\n\r\n`, 'latin1');

function comparable(head: ReturnType<typeof readAnswerHead>): unknown {
  if ('kind' in head) return head;
  const { fields, memo, ...rest } = head;
  return rest;
}

test('the memory of response heads never changes how a head is read, in any sequence', () => {
  const status = fc.constantFrom('200 OK', '200 Fine', '204 No Content', '304 Not Modified', '100 Continue', '500 No');
  const length = fc.constantFrom('0', '1', '12', '99', '012', '1e3', '', '-1', '1234567890123456', ' 7', '7 ', '5, 5');
  const before = fc.constantFrom(
    '',
    'X-Id: 1\r\n',
    'X-Id: 2\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Content-Length: 5\r\n',
  );
  const behind = fc.constantFrom('', '\r\nConnection: close', '\r\nKeep-Alive: timeout=5', '\r\nX-Last: 12');
  const framed = fc
    .tuple(status, before, length, behind)
    .map(([one, first, digits, last]) => `HTTP/1.1 ${one}\r\n${first}content-length: ${digits}${last}`);
  const other = fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.0 200 OK', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked');
  const answer = fc.tuple(fc.oneof({ weight: 4, arbitrary: framed }, other), fc.nat({ max: 9 }));
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 12 }), (answers) => {
      const memo = new AnswerMemo();
      for (const [head, chance] of answers) {
        const bytes = bytesOf(head);
        const whole = Buffer.concat([bytes, Buffer.from('body')]);
        const isHead = chance === 0;
        // Often it comes again at once.
        for (let count = 0; count <= chance % 2; count += 1) {
          const read = comparable(memo.read(whole, bytes.length, limits, isHead));
          assert.deepEqual(read, comparable(readAnswerHead(bytes, bytes.length, limits, isHead)));
        }
      }
    }),
  );
});

function read(memo: AnswerMemo, id: string, length: number | string): AnswerHead {
  const bytes = bytesOf(`HTTP/1.1 200 OK\r\nX-Id: ${id}\r\nContent-Length: ${length}\r\nX-Last: 1`);
  const head = memo.read(bytes, bytes.length, limits, false);
  assert.ok('headers' in head);
  return head;
}

test('a response head seen before is taken from memory, with its own Content-Length', () => {
  const memo = new AnswerMemo();
  const first = read(memo, 'a', 12);
  assert.equal(read(memo, 'a', 12), first);
  const longer = read(memo, 'a', 345);
  assert.equal(longer.fields, first.fields);
  assert.deepEqual(longer.headers, ['X-Id', 'a', 'Content-Length', '345', 'X-Last', '1']);
  assert.deepEqual(first.headers, ['X-Id', 'a', 'Content-Length', '12', 'X-Last', '1']);
  for (const length of ['012', '12', '012', '13']) assert.equal(read(memo, 'a', length).headers[3], length);
});

test('after a thousand unique response heads, a head that repeats is again taken from memory', () => {
  const memo = new AnswerMemo();
  for (let count = 0; count < 1_000; count += 1) read(memo, `own-${count}`, 1);
  const [first, second] = [read(memo, 'same', 1), read(memo, 'same', 1)];
  assert.notEqual(first, second);
  const others = new Set(Array.from({ length: 600 }, () => read(memo, 'same', 1)));
  assert.ok(others.size < 600);
});
