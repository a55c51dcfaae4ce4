/** Encrypted texts from an attacker's view: decrypted with the key, and forged without it. */

import { createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Its key's ID, its nonce, and its text with the tag. */
export const sealedForm = /sealed:v1:([0-9a-f]{8}):([A-Za-z0-9_-]{16}):([A-Za-z0-9_-]{22,})/g;

/** By hand, so that it does not matter how the gateway does it. */
export function openByHand(key: Buffer, nonce: string, body: string, location: string): string | undefined {
  const bytes = Buffer.from(body, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(location));
  decipher.setAuthTag(bytes.subarray(-16));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString();
  } catch {
    return undefined; // the tag does not fit
  }
}

/** One thing that someone with the database, and without the key, may try. */
export interface Forgery {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of the two documents of two upstreams, those that are put in their place. */
  readonly change?: (one: string, other: string) => readonly [string, string];
  readonly expected: RegExp;
}

export function toForgeries(sealingKey: string): Forgery[] {
  const env = { POSTERN_SECRET_KEY: sealingKey };
  const doesNotOpen = /cannot be decrypted: it was changed, or encrypted for another field/;
  const seals = (document: string): string[] => [...document.matchAll(sealedForm)].map(([text]) => text);
  /** In the first document. */
  const instead = (change: (text: string, all: string[]) => string) => (one: string, other: string) => {
    const [text = '', ...rest] = seals(one);
    return [one.replace(text, () => change(text, rest)), other] as const;
  };
  const flipped = (text: string, at: number): string => {
    const index = at < 0 ? text.length + at : at;
    return text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1);
  };
  return [
    { name: 'swapped between two rows', env, expected: doesNotOpen, change: (one, other) => swapSeals(one, other) },
    {
      name: 'another key',
      env: { POSTERN_SECRET_KEY: randomBytes(32).toString('hex') },
      expected: /is sealed under the key [0-9a-f]{8}, and POSTERN_SECRET_KEY holds/,
    },
    { name: 'no key', env: {}, expected: /is sealed under the key [0-9a-f]{8}, and POSTERN_SECRET_KEY is not set/ },
    { name: 'moved to another field', env, expected: doesNotOpen, change: instead((_, [next = '']) => next) },
    { name: 'one bit of the text', env, expected: doesNotOpen, change: instead((text) => flipped(text, 40)) },
    { name: 'one bit of the tag', env, expected: doesNotOpen, change: instead((text) => flipped(text, -3)) },
    { name: 'one bit of the nonce', env, expected: doesNotOpen, change: instead((text) => flipped(text, 22)) },
    { name: 'a shorter tag', env, expected: doesNotOpen, change: instead((text) => text.slice(0, -6)) },
    {
      name: 'nothing but a tag',
      env,
      expected: doesNotOpen,
      change: instead((text) => `${text.slice(0, 36)}${'A'.repeat(22)}`),
    },
    {
      name: 'under the name of another key',
      env: { POSTERN_SECRET_KEY: `${sealingKey},${'00'.repeat(32)}` },
      expected: doesNotOpen,
      change: instead((text) => text.replace(/^sealed:v1:[0-9a-f]{8}/, `sealed:v1:${keyIdOf('00'.repeat(32))}`)),
    },
  ];

  function swapSeals(one: string, other: string): readonly [string, string] {
    const [mine = '', yours = ''] = [seals(one)[0], seals(other)[0]];
    return [one.replace(mine, () => yours), other.replace(yours, () => mine)];
  }
}

const keyIdOf = (hex: string): string => createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex').slice(0, 8);
