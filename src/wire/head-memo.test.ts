import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HeadMemo, SharedHeads } from './head-memo.ts';
import { type RequestHead, readRequestHead } from './request-head.ts';

const limits = { fields: 20, fieldBytes: 200 };
const bytesOf = (head: string): Buffer => Buffer.from(`${head}\r\n\r\n`, 'latin1');
const headWith = (key: string, length: string): string =>
  `POST /v1/x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${length}\r\nX-Last: 1`;

function comparable(head: ReturnType<typeof readRequestHead>): unknown {
  if ('kind' in head) return [head.kind, head.message];
  const { fields, ...rest } = head;
  return [rest, fields.list.filter((_, index, list) => list[index - (index % 2)]?.toLowerCase() !== 'content-length')];
}

test('the memory of request heads never changes how a head is parsed, in any sequence', () => {
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
      const shared = new SharedHeads();
      const memos = [new HeadMemo(shared), new HeadMemo(shared)];
      for (const [index, one] of heads.entries()) {
        const bytes = bytesOf(one);
        const memo = memos[index % 2] ?? new HeadMemo(shared);
        const read = memo.read(Buffer.concat([bytes, Buffer.from('body')]), bytes.length, limits);
        assert.deepEqual(comparable(read), comparable(readRequestHead(bytes, bytes.length, limits)));
        // Somebody let it in.
        if ('fields' in read) read.fields.made = {};
        if (index % 5 === 4) memo.close();
      }
    }),
  );
});

function read(memo: HeadMemo, head: string): RequestHead {
  const bytes = bytesOf(head);
  const found = memo.read(bytes, bytes.length, limits);
  assert.ok('method' in found);
  return found;
}

test('a repeated request head returns the same field object, even with another Content-Length', () => {
  const memo = new HeadMemo(new SharedHeads());
  const first = read(memo, headWith('key-1', '12'));
  const second = read(memo, headWith('key-1', '7'));
  assert.equal(second.fields, first.fields);
  assert.equal(second.bodyBytes, 7);
  assert.notEqual(read(memo, headWith('key-2', '7')).fields, first.fields);
});

test('the fields of an admitted head are shared with other connections until its first connection closes', () => {
  const shared = new SharedHeads();
  const [first, second, third] = [new HeadMemo(shared), new HeadMemo(shared), new HeadMemo(shared)];
  const brought = read(first, headWith('key-1', '12')).fields;
  brought.made = {};
  // Another one came in between.
  read(first, headWith('key-2', '12')).fields.made = {};
  for (const memo of [second, third]) read(memo, headWith('key-3', '12'));
  assert.equal(read(second, headWith('key-1', '7')).fields, brought);
  assert.notEqual(read(second, headWith('key-4', '7')).fields, brought);
  first.close();
  assert.notEqual(read(third, headWith('key-1', '7')).fields, brought);
});

test('the fields of a head that was not admitted are not shared with other connections', () => {
  const shared = new SharedHeads();
  const [first, second] = [new HeadMemo(shared), new HeadMemo(shared)];
  const brought = read(first, headWith('key-1', '12')).fields;
  for (const memo of [first, second]) read(memo, headWith('key-2', '12'));
  assert.notEqual(read(second, headWith('key-1', '12')).fields, brought);
});

test('the shared memory of request heads is limited to 1024 entries', () => {
  const shared = new SharedHeads();
  const memo = new HeadMemo(shared);
  for (let count = 0; count < 3_000; count += 1) {
    const head = headWith(`key-${count}`, '1');
    for (let time = 0; time < 2; time += 1) read(memo, head).fields.made = {};
  }
  assert.equal(memo.owned.size, 1_024);
});

test('request heads that each hold an ID of their own are not kept', () => {
  const memo = new HeadMemo(new SharedHeads());
  for (let count = 0; count < 3_000; count += 1) read(memo, headWith(`key-${count}`, '1')).fields.made = {};
  assert.equal(memo.owned.size, 1);
});

test('shared heads are found though their Content-Length is at different places', () => {
  const memo = new HeadMemo(new SharedHeads());
  const heads = ['key-1', 'key-11', 'key-111'].map((key) => headWith(key, '1'));
  const admitAll = () =>
    heads.map((head) => {
      const { fields } = read(memo, head);
      fields.made ??= {};
      return fields;
    });
  for (let time = 0; time < 2; time += 1) admitAll();
  const known = admitAll();
  for (const [index, fields] of admitAll().entries()) assert.equal(fields, known[index]);
});
