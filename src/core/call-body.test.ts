import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CallBody, inOnePiece, lengthOf, wholeBodyBytes, withSpan } from './call-body.ts';

const joined = (body: CallBody): string => inOnePiece(body).toString();

test('replacing parts of a body, also within replaced parts, changes no other byte', () => {
  const span = fc.record({ at: fc.nat(1_000), length: fc.nat(1_000), text: fc.string({ maxLength: 9 }) });
  const bytes = fc.constantFrom(10, 1_000, wholeBodyBytes, wholeBodyBytes + 1);
  fc.assert(
    fc.property(bytes, fc.array(span, { maxLength: 5 }), (length, spans) => {
      let body: CallBody = Buffer.alloc(length, '0123456789abcdef');
      let wanted = joined(body);
      for (const { at, length: taken, text } of spans) {
        const start = Math.min(at, lengthOf(body));
        const end = Math.min(start + taken, lengthOf(body));
        const ascii = text.replace(/[^\x20-\x7e]/g, '?');
        body = withSpan(body, start, end, ascii);
        wanted = wanted.slice(0, start) + ascii + wanted.slice(end);
      }
      assert.equal(joined(body), wanted);
      assert.equal(lengthOf(body), wanted.length);
    }),
  );
});

test('replacing a part of a long body does not copy the body', () => {
  const body = Buffer.alloc(wholeBodyBytes + 1, 'x');
  const renamed = withSpan(body, 10, 12, 'name');
  assert.ok(!Buffer.isBuffer(renamed));
  assert.deepEqual(
    renamed.map((piece) => Buffer.isBuffer(piece) && piece.buffer === body.buffer),
    [true, false, true],
  );
});
