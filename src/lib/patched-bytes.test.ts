import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StoredBytes } from './file-bytes.ts';
import { PatchedBytes } from './patched-bytes.ts';

/** Returns only a few bytes per read. */
function stored(bytes: Buffer, mostAtOnce: number): StoredBytes {
  return {
    length: bytes.length,
    subarray: (start, end) => stored(bytes.subarray(start, end), mostAtOnce),
    read: async (at, most) => bytes.subarray(at, at + Math.min(most, mostAtOnce)),
  };
}

async function wholeOf(bytes: StoredBytes, step: number): Promise<string> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const piece = await bytes.read(at, step);
    assert.ok(piece.length > 0 && piece.length <= step);
    pieces.push(piece);
    at += piece.length;
  }
  return Buffer.concat(pieces).toString();
}

test('patched reads contain the replacements at any offset and chunk size', async () => {
  const spans = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(spans, fc.string({ maxLength: 9 }), fc.integer({ min: 1, max: 40 }), async (gaps, text, step) => {
      const starts: number[] = [];
      const ends: number[] = [];
      let at = 0;
      let expected = '';
      const source = Array.from({ length: 600 }, (_, no) => String.fromCharCode(97 + (no % 26))).join('');
      for (const [gap, length] of gaps) {
        expected += source.slice(at, at + gap + 1) + text;
        starts.push(at + gap + 1);
        at += gap + 1 + length;
        ends.push(at);
      }
      expected += source.slice(at);
      const patched = new PatchedBytes(stored(Buffer.from(source), 7), { starts, ends, text: Buffer.from(text) });
      const bytes = Buffer.from(expected);
      assert.equal(patched.length, bytes.length);
      assert.equal(await wholeOf(patched, step), expected);
      const part = patched.subarray(3, 50).subarray(step, 45);
      assert.equal(await wholeOf(part, 5), bytes.subarray(3 + step, 48).toString());
    }),
  );
});
