/** Characters for property tests. fast-check's own string units index all of Unicode, at a second and 100 MB per process. */

import fc from 'fast-check';

const surrogates = { first: 0xd800, count: 0x800 };

/** Every code point of Unicode but surrogates. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map((at) => String.fromCodePoint(at < surrogates.first ? at : at + surrogates.count));

/** The same, and as several code points where that is how it is written decomposed. */
export const anyGrapheme = fc.oneof(
  anyCharacter,
  anyCharacter.map((character) => character.normalize('NFD')),
);
