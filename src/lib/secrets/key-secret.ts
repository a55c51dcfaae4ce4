/** Makes and checks secrets of virtual keys and API tokens: generation, checksum, and digest. */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** A secret's prefix, which shows people and secret scanners its purpose. */
export type SecretPrefix = 'pst_' | 'psa_';

const chanceBytes = 32;
/** Number of random characters: 62^43 is just over 2^256, and 62^6 over 2^32, so both parts fit at a fixed width. */
const chanceCharacters = 43;
const checksumCharacters = 6;
const hintCharacters = 8;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = new RegExp(`^[0-9A-Za-z]{${chanceCharacters + checksumCharacters}}$`);

export const createSecret = (): string => createSecretWith('pst_');

/** Makes a secret: the prefix, 256 random bits, and a checksum by which secret scanners reject look-alikes. */
export function createSecretWith(prefix: SecretPrefix): string {
  const chance = BigInt(`0x${randomBytes(chanceBytes).toString('hex')}`);
  const body = prefix + toBase62(chance, chanceCharacters);
  return body + checksumOf(body);
}

/** Whether the text is a well-formed virtual key's secret without typing errors; not whether it is known. */
export const hasValidChecksum = (secret: string): boolean => isSecretWith('pst_', secret);

export function isSecretWith(prefix: SecretPrefix, secret: string): boolean {
  if (!secret.startsWith(prefix) || !form.test(secret.slice(prefix.length))) return false;
  return checksumOf(secret.slice(0, -checksumCharacters)) === secret.slice(-checksumCharacters);
}

/** The SHA-256 digest of a secret's UTF-8 bytes in lower-case hex, which is stored and looked up in place of the secret. */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Whether two secrets are equal, in a time that does not depend on where they differ: their digests are compared. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}

/** The first characters of a secret: enough to recognise a key in a list, and useless to a thief. */
export function hintOf(secret: string): string {
  return `${secret.slice(0, hintCharacters)}…`;
}

function checksumOf(body: string): string {
  return toBase62(BigInt(crc32(body)), checksumCharacters);
}

function toBase62(number: bigint, width: number): string {
  let rest = number;
  let text = '';
  for (let index = 0; index < width; index++) {
    text = alphabet.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
