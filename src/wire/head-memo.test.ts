import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HeadMemo } from './head-memo.ts';
import { readRequestHead } from './request-head.ts';

const limits = { fields: 20, fieldBytes: 200 };
const bytesOf = (head: string): Buffer => Buffer.from(`${head}\r\n\r\n`, 'latin1');
const headWith = (key: string, length: string): string =>
  `POST /v1/x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${length}\r\nX-Last: 1`;

function told(head: ReturnType<typeof readRequestHead>): unknown {
  if ('kind' in head) return [head.kind, head.message];
  const { fields, ...rest } = head;
  return [rest, fields.list.filter((_, index, list) => list[index - (index % 2)]?.toLowerCase() !== 'content-length')];
}

test('whatever heads follow each other, each is read as if it were the first', () => {
  const key = fc.constantFrom('key-1', 'key-2', 'key-11');
  const length = fc.constantFrom('0', '1', '12', '99', '012', '1e3', '', '-1', '1234567890123456', ' 7', '7 ', '5, 5');
  const other = fc.constantFrom(
    'GET /v1/models HTTP/1.1\r\nHost: h',
    'POST /v1/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked',
    'POST /v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue',
    'POST /v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2',
    'POST /v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\nTransfer-Encoding: chunked',
  );
  const head = fc.oneof(
    fc.tuple(key, length).map(([one, digits]) => headWith(one, digits)),
    other,
  );
  fc.assert(
    fc.property(fc.array(head, { maxLength: 12 }), (heads) => {
      const memo = new HeadMemo();
      for (const one of heads) {
        const bytes = bytesOf(one);
        const read = memo.read(Buffer.concat([bytes, Buffer.from('body')]), bytes.length, limits);
        assert.deepEqual(told(read), told(readRequestHead(bytes, bytes.length, limits)));
      }
    }),
  );
});

test('of a head that comes again, with another length too, the fields are the same object', () => {
  const memo = new HeadMemo();
  const read = (head: string) => {
    const bytes = bytesOf(head);
    const found = memo.read(bytes, bytes.length, limits);
    assert.ok('method' in found);
    return found;
  };
  const first = read(headWith('key-1', '12'));
  const second = read(headWith('key-1', '7'));
  assert.equal(second.fields, first.fields);
  assert.equal(second.bodyBytes, 7);
  assert.notEqual(read(headWith('key-2', '7')).fields, first.fields);
});
