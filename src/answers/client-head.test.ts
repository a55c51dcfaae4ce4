import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clientLines, wholeLines } from './client-head.ts';

const own: fc.Arbitrary<string> = fc.constantFrom(
  'X-A',
  'x-request-id',
  'Connection',
  'x-ratelimit-limit',
  'Set-Cookie',
  'link',
  'Trailer',
);
const value: fc.Arbitrary<string> = fc.constantFrom('', '1', 'keep-alive', 'x-a', 'tag, other', 'é');
const headers = fc
  .tuple(fc.array(fc.tuple(own, value), { maxLength: 6 }), fc.nat({ max: 6 }))
  .map(([list, at]) => list.toSpliced(at, 0, ['Content-Length', '7']).flat());
const rules = fc.record({
  framing: fc.constant('length' as const),
  hasOwnRates: fc.boolean(),
  listed: fc.constantFrom(undefined, { has: (name: string) => name === 'x-a' }),
});

test('response heads that differ only in Content-Length get the same lines from the memo as without it', () => {
  const asked = fc.array(fc.tuple(fc.nat(), rules), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(headers, asked, (raw, answers) => {
      const headMemo = { made: undefined };
      for (const [length, one] of answers) {
        const answered = raw.with(raw.indexOf('Content-Length') + 1, String(length));
        assert.equal(wholeLines({ headers: answered, headMemo }, length, one), clientLines(answered, one));
        assert.equal(wholeLines({ headers: raw, headMemo: undefined }, length, one), clientLines(answered, one));
      }
    }),
  );
});
