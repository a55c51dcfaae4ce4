/** Lists the encodings in which an upstream may repeat a secret, and decides which secrets are worth searching for. */

import { Buffer } from 'node:buffer';

/** Shortest secret or spelling that is searched for: a shorter one occurs in harmless answers too often. */
export const shortestSecretBytes = 8;
/** Shortest secret that is searched for in successful answers, which may hold any text, so that a chance match must be excluded. */
const shortestInSuccessesBytes = 20;
/** Number of bytes that are searched for where a secret is a whole document. */
const longestSpelling = 256;

/** Spellings to search for in successful answers; none for secrets that could occur there by chance. */
export function spellingsInSuccesses(secret: string): string[] {
  return whyNotInSuccesses(secret) === undefined
    ? fitting([...plainSpellings(secret), ...inUnicodeEscapes(secret), ...inBase64(secret)])
    : [];
}

/** Spellings to search for in errors, before and after unescaping. */
export function spellingsInErrors(secret: string): string[] {
  const spellings = plainSpellings(secret);
  return fitting([...spellings, ...spellings.flatMap(plainSpellings), ...inBase64(secret), ...inEachCharacter(secret)]);
}

/** Why a secret is not searched for in successful answers, in words; undefined where it is. */
export function whyNotInSuccesses(secret: string): string | undefined {
  const bytes = Buffer.byteLength(secret);
  if (bytes < shortestInSuccessesBytes) return `${bytes} bytes, fewer than ${shortestInSuccessesBytes}`;
  return isPlaceholder(secret) ? 'a placeholder' : undefined;
}

function fitting(spellings: readonly string[]): string[] {
  const cut = spellings.map((spelling) => spelling.slice(0, longestSpelling));
  return cut.filter((spelling) => Buffer.byteLength(spelling) >= shortestSecretBytes);
}

/** The secret unchanged, in JSON with and without escaped slashes, and in a URL. */
export function plainSpellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, withSlashesEscaped(json), encodeURIComponent(secret.toWellFormed())];
}

const withSlashesEscaped = (text: string): string => text.replaceAll('/', '\\/');

const bitsPerCharacter = 6;

/** The secret in base64 at all three alignments, without the edge characters, which depend on the neighbouring bytes. */
function inBase64(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const own: [number, number] = [
      Math.ceil((before * 8) / bitsPerCharacter),
      Math.floor((bytes.length * 8) / bitsPerCharacter),
    ];
    const standard = bytes.toString('base64').slice(...own);
    return [standard, withSlashesEscaped(standard), bytes.toString('base64url').slice(...own)];
  });
}

/** The secret in JSON whose writer escapes every character, all but letters and digits, or those that are special in HTML. */
function inUnicodeEscapes(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [/[^\\]|\\./g, /[^A-Za-z0-9\\]|\\./g, /[^\w.~\\-]|\\./g].flatMap((which) =>
    [(hex: string) => hex, (hex: string) => hex.toUpperCase()].map((written) =>
      json.replace(which, (said) => {
        const code = said
          .charCodeAt(said.length - 1)
          .toString(16)
          .padStart(4, '0');
        return `\\u${written(code)}`;
      }),
    ),
  );
}

function inEachCharacter(secret: string): string[] {
  const each = (write: (hex: string, byte: number) => string): string =>
    Array.from(Buffer.from(secret), (byte) => write(byte.toString(16).padStart(2, '0'), byte)).join('');
  const inHex = [
    each((hex) => hex),
    each((hex) => `%${hex}`),
    each((hex) => `\\x${hex}`),
    each((hex) => `\\u00${hex}`),
    each((hex) => `&#x${hex};`),
  ];
  const inUpperCase = [
    each((hex) => hex.toUpperCase()),
    each((hex) => `%${hex.toUpperCase()}`),
    each((hex) => `\\u00${hex.toUpperCase()}`),
    each((hex) => `&#x${hex.toUpperCase()};`),
  ];
  return [...inHex, ...inUpperCase, each((_hex, byte) => `&#${byte};`)];
}

/** Words that people write where a key is required but not checked. */
const placeholderWords = new Set(
  (
    'a an and any anything api apikey auth bearer change changeme credential default demo dev dummy empty enter example fake ' +
    'fill for foo goes bar baz here ignore ignored in insert is it key keys local localhost me mock my needed no none not nothing null ' +
    'of openai or password placeholder put real replace required sample secret server set sk some something test testing the ' +
    'this to todo token undefined unused use used value vllm with xxx you your'
  ).split(' '),
);
const countedUp = '0123456789012345678901234567890123456789';
const alphabet = 'abcdefghijklmnopqrstuvwxyz';

/** Whether a secret is a placeholder: only placeholder words, ascending letters and digits, or one repeated character. */
function isPlaceholder(secret: string): boolean {
  const words = secret.toLowerCase().match(/[a-z]+|[0-9]+/g) ?? [];
  return words.every(
    (word) =>
      placeholderWords.has(word) || countedUp.includes(word) || alphabet.includes(word) || /^(.)\1*$/.test(word),
  );
}
