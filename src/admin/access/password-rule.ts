/** What a password has to be: long, and none that whoever guesses tries first. */

import type { FieldFault } from '../../core/field-fault.ts';
import { Problem } from '../problem.ts';

const fewest = 12;
const most = 200;

/** Of those that people choose when twelve characters are asked for; compared without case, and without what is put behind. */
const wellKnown: readonly string[] = [
  'password',
  'passwort',
  'passw0rd',
  'p@ssword',
  'p@ssw0rd',
  'correcthorsebatterystaple',
  'qwertyuiop',
  'qwertzuiop',
  'qwerty',
  'azertyuiop',
  'asdfghjkl',
  '1q2w3e4r5t6y',
  '1qaz2wsx3edc',
  'letmein',
  'welcome',
  'changeme',
  'administrator',
  'admin',
  'iloveyou',
  'postern',
  'abcdefghijkl',
  'trustno',
];

/** Undefined where it will do; else what is wanted, for the person who chooses it. */
export function faultOfPassword(password: string, email: string): string | undefined {
  const length = [...password].length;
  if (length < fewest) return `Use at least ${fewest} characters; a few words in a row are easy to keep in mind.`;
  if (length > most) return `Use at most ${most} characters.`;
  const folded = password.normalize('NFKC').toLowerCase();
  const address = email.toLowerCase();
  const [mailbox = ''] = address.split('@', 1);
  if (folded === address || withoutTail(folded) === mailbox) return 'Use something other than your e-mail address.';
  if (isRun(folded)) return 'Use more than one character over and over, or characters in their order.';
  if (isRepeated(folded, wellKnown)) return 'This is among the first that are guessed; use a few words of your own.';
  return undefined;
}

/** Throws a Problem that names the field. */
export function checkPassword(password: string, email: string, path: string): void {
  const message = faultOfPassword(password, email);
  if (message === undefined) return;
  const fields: FieldFault[] = [{ path, message }];
  throw new Problem('invalid_fields', { detail: message, fields });
}

/** Digits and signs that are put behind a word to make it long enough. */
const withoutTail = (text: string): string => text.replace(/[^\p{L}@]+$/u, '');

/** `aaaaaaaaaaaa`, `abababababab`, `123456789012`. */
function isRun(text: string): boolean {
  if (/^(.{1,2})\1+.?$/su.test(text)) return true;
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0));
  return [1, -1].some((step) => steps.filter((one) => one === step || Math.abs(one) === 9).length === steps.length);
}

/** The word itself, or again and again, with or without something behind it. */
function isRepeated(text: string, words: readonly string[]): boolean {
  return words.some((word) => {
    const rest = text.replaceAll(word, '');
    return rest !== text && !/\p{L}/u.test(rest);
  });
}
