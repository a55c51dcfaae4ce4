import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NeedleSearch } from './needle-search.ts';
import { spellingsInErrors, spellingsInSuccesses, whyNotInSuccesses } from './secret-spellings.ts';

const secret = 'sk-"Qz7x"/Vw3k\\Jp9m+Ht2c==Rb6nXy8dFg4s';
const printable = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) });

test('searches successful responses for a secret in plain, JSON-escaped and URL-encoded form', () => {
  const spellings = spellingsInSuccesses('sk-"a/b+c==0123456789abx');
  for (const spelling of [
    'sk-"a/b+c==0123456789abx',
    'sk-\\"a/b+c==0123456789abx',
    'sk-\\"a\\/b+c==0123456789abx',
    'sk-%22a%2Fb%2Bc%3D%3D0123456789abx',
  ]) {
    assert.ok(spellings.includes(spelling), spelling);
  }
});

test('finds a secret in successful responses whichever of its characters are JSON-escaped', () => {
  const search = new NeedleSearch(spellingsInSuccesses(secret));
  const escaped = (which: RegExp, upper: boolean) =>
    secret.replace(which, (sign) => {
      const hex = sign.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${upper ? hex.toUpperCase() : hex}`;
    });
  for (const which of [/./g, /[^A-Za-z0-9]/g, /[^\w.~-]/g]) {
    for (const upper of [true, false]) {
      const text = `{"a":"${escaped(which, upper)}"}`;
      assert.equal(JSON.parse(text).a, secret);
      assert.notEqual(search.find(Buffer.from(text)), -1, text);
    }
  }
});

test('finds a secret in base64 at any offset, in both alphabets', () => {
  const search = new NeedleSearch(spellingsInSuccesses(secret));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 9 }), fc.uint8Array({ maxLength: 9 }), (before, after) => {
      const bytes = Buffer.concat([before, Buffer.from(secret), after]);
      for (const alphabet of ['base64', 'base64url'] as const) {
        assert.notEqual(search.find(Buffer.from(bytes.toString(alphabet))), -1);
      }
      assert.notEqual(search.find(Buffer.from(bytes.toString('base64').replaceAll('/', '\\/'))), -1);
    }),
  );
});

test('finds a secret in error responses in hex, fully escaped, and escaped twice', () => {
  const search = new NeedleSearch(spellingsInErrors(secret));
  const bytes = Buffer.from(secret);
  const each = (write: (byte: number) => string): string => Array.from(bytes, write).join('');
  const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
  for (const spelling of [
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    each((byte) => `%${hex(byte)}`),
    each((byte) => `&#${byte};`),
    each((byte) => `&#x${hex(byte)};`),
    each((byte) => `\\u00${hex(byte)}`),
    JSON.stringify(JSON.stringify(secret)),
    encodeURIComponent(encodeURIComponent(secret)),
    encodeURIComponent(JSON.stringify(secret)),
  ]) {
    assert.notEqual(search.find(Buffer.from(`before ${spelling} behind`)), -1, spelling);
  }
});

test('searches successful responses only for secrets of 20 bytes or more that are no placeholders', () => {
  for (const [text, why] of [
    ['sk-0123456789abcdef', /^19 bytes, fewer than 20$/],
    ['sk-no-key-required-here', /^a placeholder$/],
    ['your-openai-api-key-here', /^a placeholder$/],
    ['YOUR_API_KEY_GOES_HERE', /^a placeholder$/],
    ['xxxxxxxxxxxxxxxxxxxxxxxx', /^a placeholder$/],
    ['sk-00000000000000000000', /^a placeholder$/],
    ['sk-12345678901234567890', /^a placeholder$/],
    ['sk-proj-Qz7xVw3kJp9mHt2c', undefined],
    ['0f8fad5b-d9cb-469f-a165-70867728950e', undefined],
  ] as const) {
    const said = whyNotInSuccesses(text);
    if (why === undefined) assert.equal(said, undefined, text);
    else assert.match(said ?? '', why, text);
    assert.equal(spellingsInSuccesses(text).length > 0, why === undefined, text);
  }
});

test('searches for no form of a secret under 8 bytes, as it might occur in harmless responses', () => {
  fc.assert(
    fc.property(printable, (text) => {
      for (const spelling of [...spellingsInErrors(text), ...spellingsInSuccesses(text)]) {
        assert.ok(Buffer.byteLength(spelling) >= 8);
      }
    }),
  );
});
