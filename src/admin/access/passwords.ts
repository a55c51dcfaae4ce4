/** Checks passwords against rules, and hashes them with scrypt: each with its own salt, off the event loop, one at a time. */

import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { invalidField, Problem } from '../problem.ts';

export interface ScryptCost {
  /** The scrypt parameter N, a power of two; hashing takes 128 x blockSize x N bytes of memory. */
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

/** The cost of new hashes: 128 MiB of memory, and some 300 ms of a core. */
export const standardCost: ScryptCost = { cost: 2 ** 17, blockSize: 8, parallelization: 1 };

const saltBytes = 16;
const hashBytes = 32;
/** Limit of passwords that wait to be hashed; with more, people would give up waiting. */
const mostWaiting = 16;
/** Limit of the memory that a stored hash may ask for, in case somebody manipulated the database. */
const mostBytes = 512 * 1024 * 1024;

export function createPasswords(standard: ScryptCost = standardCost) {
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();

  /** Hashes one password at a time: parallel sign-ins must not take the memory that requests need. */
  async function derive(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
    if (waiting >= mostWaiting) {
      const detail = 'Too many sign-ins at the same time; try again in a few seconds.';
      throw new Problem('too_many_attempts', { detail, headers: { 'retry-after': '5' } });
    }
    waiting += 1;
    const mine = turn.then(() => run(password, salt, cost));
    turn = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      waiting -= 1;
    }
  }

  return {
    async hash(password: string) {
      const salt = randomBytes(saltBytes);
      return toText(standard, salt, await derive(password, salt, standard));
    },

    /** Verifies a password; takes equally long where the account has no password or is unknown. */
    async verify(password: string, stored: string | undefined) {
      const parsed = stored === undefined ? undefined : parse(stored);
      const { cost, salt, hash } = parsed ?? { cost: standard, salt: randomBytes(saltBytes), hash: undefined };
      const derived = await derive(password, salt, cost);
      return hash !== undefined && timingSafeEqual(derived, hash);
    },
  };
}

const deriveKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

function run(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
  // Normalised, so that different keyboards give the same password. The memory is doubled, as the platform counts slightly more than the formula.
  return deriveKey(password.normalize('NFKC'), salt, hashBytes, { ...cost, maxmem: 2 * memoryOf(cost) });
}

const memoryOf = ({ cost, blockSize }: ScryptCost): number => 128 * cost * blockSize;

/** The stored text of a hash: `scrypt$N$r$p$salt$hash`, salt and hash as base64url. */
function toText({ cost, blockSize, parallelization }: ScryptCost, salt: Buffer, hash: Buffer): string {
  return ['scrypt', cost, blockSize, parallelization, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Parses a stored hash; undefined where it is invalid, in which case no password matches. */
function parse(stored: string): { cost: ScryptCost; salt: Buffer; hash: Buffer } | undefined {
  const [, cost, blockSize, parallelization, salt, hash] =
    /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,2})\$([\w-]+)\$([\w-]{43})$/.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  const parameters = { cost: Number(cost), blockSize: Number(blockSize), parallelization: Number(parallelization) };
  if (memoryOf(parameters) > mostBytes) return undefined;
  return { cost: parameters, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') };
}

const fewest = 12;
const most = 200;

/** Words that people often choose for a long password; compared without case and without a suffix. */
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

/** What is wrong with a password, for the person who chooses it; undefined for an acceptable one. */
export function faultOfPassword(password: string, email: string): string | undefined {
  const length = [...password].length;
  if (length < fewest) return `Use at least ${fewest} characters; a few words in a row are easy to remember.`;
  if (length > most) return `Use at most ${most} characters.`;
  const folded = password.normalize('NFKC').toLowerCase();
  const address = email.toLowerCase();
  const [mailbox = ''] = address.split('@', 1);
  if (folded === address || withoutTail(folded) === mailbox) return 'Use something other than your e-mail address.';
  if (isRun(folded)) return 'Do not repeat one character, and do not use a sequence such as 12345678.';
  if (isRepeated(folded, wellKnown)) return 'This password is common and easily guessed; use a few words of your own.';
  return undefined;
}

/** Throws a Problem that names the field where the password is not acceptable. */
export function checkPassword(password: string, email: string, path: string): void {
  const message = faultOfPassword(password, email);
  if (message !== undefined) throw invalidField(path, message);
}

/** Removes digits and signs appended to a word. */
const withoutTail = (text: string): string => text.replace(/[^\p{L}@]+$/u, '');

/** Whether the text is a run such as `aaaaaaaaaaaa`, `abababababab` or `123456789012`. */
function isRun(text: string): boolean {
  if (/^(.{1,2})\1+.?$/su.test(text)) return true;
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0));
  return [1, -1].some((step) => steps.filter((one) => one === step || Math.abs(one) === 9).length === steps.length);
}

/** Whether the text is one of the words, or repeats one, with or without digits and signs around it. */
function isRepeated(text: string, words: readonly string[]): boolean {
  return words.some((word) => {
    const rest = text.replaceAll(word, '');
    return rest !== text && !/\p{L}/u.test(rest);
  });
}
