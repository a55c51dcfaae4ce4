/** Passwords as scrypt keeps them: salted one by one, with the parameters beside them, worked out off the event loop and one at a time. */

import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { Problem } from '../problem.ts';

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for an account that has no password, and for one that is not there. */
  verify(password: string, stored: string | undefined): Promise<boolean>;
}

export interface ScryptCost {
  /** A power of two; each piece of work takes 128 x blockSize x this many bytes of memory. */
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

/** 128 MiB, and some 300 ms of a core. */
export const standardCost: ScryptCost = { cost: 2 ** 17, blockSize: 8, parallelization: 1 };

const saltBytes = 16;
const hashBytes = 32;
/** Those who wait for their turn; more of them would wait for longer than a person does. */
const mostWaiting = 16;
/** What a stored line may ask for: a database that somebody wrote into takes no more memory than this. */
const mostBytes = 512 * 1024 * 1024;

export function createPasswords(standard: ScryptCost = standardCost): Passwords {
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();

  /** One at a time: many who sign in at once must not take the memory that requests need. */
  async function derive(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
    if (waiting >= mostWaiting) {
      const detail = 'Too many people sign in just now; try again in a few seconds.';
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
    async hash(password) {
      const salt = randomBytes(saltBytes);
      return toText(standard, salt, await derive(password, salt, standard));
    },

    async verify(password, stored) {
      const parsed = stored === undefined ? undefined : parse(stored);
      const { cost, salt, hash } = parsed ?? { cost: standard, salt: randomBytes(saltBytes), hash: undefined };
      const derived = await derive(password, salt, cost);
      return hash !== undefined && timingSafeEqual(derived, hash);
    },
  };
}

function run(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
  // Twice what it takes: the platform counts a little more than the formula does.
  const options: ScryptOptions = { ...cost, maxmem: 2 * memoryOf(cost) };
  return new Promise((resolve, reject) => {
    // The same letters typed on another keyboard are the same password.
    scrypt(password.normalize('NFKC'), salt, hashBytes, options, (error, derived) => {
      if (error === null) resolve(derived);
      else reject(error);
    });
  });
}

const memoryOf = ({ cost, blockSize }: ScryptCost): number => 128 * cost * blockSize;

/** `scrypt$N$r$p$salt$hash`, the last two as base64url. */
function toText({ cost, blockSize, parallelization }: ScryptCost, salt: Buffer, hash: Buffer): string {
  return ['scrypt', cost, blockSize, parallelization, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Undefined for what is no such line, which no password then fits. */
function parse(stored: string): { cost: ScryptCost; salt: Buffer; hash: Buffer } | undefined {
  const [, cost, blockSize, parallelization, salt, hash] =
    /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,2})\$([\w-]+)\$([\w-]{43})$/.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  const parameters = { cost: Number(cost), blockSize: Number(blockSize), parallelization: Number(parallelization) };
  if (memoryOf(parameters) > mostBytes) return undefined;
  return { cost: parameters, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') };
}
