/** Hostile texts that break code which does not treat them as plain text. */

/** What breaks a statement that was put together from text, or a pattern that was taken for one. */
export const hostileTexts: readonly string[] = [
  "'; DROP TABLE keys; --",
  '" OR 1=1 --',
  "' OR ''='",
  '%',
  '_',
  '%_%',
  '\\',
  "\\'",
  '?',
  '?1',
  ':id',
  '$1',
  '@id',
  '#{id}',
  '`keys`',
  '[keys]',
  '/* keys */',
  'a\r\nb\tc',
  '{"$ne": null}',
  '["a","b"]',
  'null',
  'нет 無 🗝️',
  '',
  ' ',
  "x'00'",
  'a\0b',
  '\ud800',
  'k'.repeat(100_000),
];

/** As it is kept where text has to be text: neither NUL nor half a character. */
export const toStored = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();
