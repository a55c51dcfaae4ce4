/** Encrypts texts with AES-256-GCM, under a key stored elsewhere, so that each can be decrypted only for its own location. */

import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encryption keys: one of them encrypts, all of them decrypt. */
export interface KeyRing {
  readonly sealingKeyId: string;
  /** The IDs of all keys, the encrypting one first. */
  readonly keyIds: readonly string[];
  /** Encrypts. `location` is authenticated but not stored: decryption needs the same one, so an encrypted text cannot be moved. */
  seal(plain: string, location: string): string;
  unseal(text: string, location: string): Unsealed;
}

type Unsealed =
  | { readonly kind: 'opened'; readonly plain: string }
  | { readonly kind: 'unknown-key'; readonly keyId: string }
  /** The text is of another installation or `location`, or was changed. */
  | { readonly kind: 'damaged' };

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const form = /^sealed:v1:([0-9a-f]{8}):([A-Za-z0-9_-]{16}):([A-Za-z0-9_-]{22,})$/;

/** Thrown where the keys are invalid; the message says how to make one, and never repeats the input. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError';
}

/** Parses keys of 32 bytes in hex or base64, separated by commas; the first encrypts. Throws a SecretKeyError. */
export function parseKeyRing(text: string): KeyRing {
  return createKeyRing(parseKeys(text));
}

export function parseKeys(text: string): Buffer[] {
  return text.split(',').map((written, index) => {
    const key = toKey(written.trim());
    if (key !== undefined) return key;
    throw new SecretKeyError(
      `key ${index + 1} is not 32 bytes in hex (64 characters) or base64; "openssl rand -hex 32" makes a good one`,
    );
  });
}

function toKey(written: string): Buffer | undefined {
  if (/^[0-9A-Fa-f]{64}$/.test(written)) return Buffer.from(written, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(written)) return undefined;
  const key = Buffer.from(written, 'base64');
  return key.length === keyBytes ? key : undefined;
}

export function createKeyRing(ordered: readonly Buffer[]): KeyRing {
  const keys = new Map(ordered.map((key) => [createHash('sha256').update(key).digest('hex').slice(0, 8), key]));
  const keyIds = [...keys.keys()];
  const [first] = keys;
  if (first === undefined) throw new SecretKeyError('there is no key');
  const [sealingKeyId, sealingKey] = first;
  return {
    sealingKeyId,
    keyIds,
    seal(plain, location) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, sealingKey, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(location));
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `sealed:v1:${sealingKeyId}:${nonce.toString('base64url')}:${sealed.toString('base64url')}`;
    },
    unseal(text, location) {
      const [, keyId = '', nonce = '', written = ''] = form.exec(text) ?? [];
      if (keyId === '') return { kind: 'damaged' };
      const key = keys.get(keyId);
      if (key === undefined) return { kind: 'unknown-key', keyId };
      const sealed = Buffer.from(written, 'base64url');
      if (sealed.length < tagBytes) return { kind: 'damaged' };
      const decipher = createDecipheriv(algorithm, key, Buffer.from(nonce, 'base64url'), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(location));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      try {
        const plain = Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]);
        return { kind: 'opened', plain: plain.toString('utf8') };
      } catch {
        // The only cause is a wrong authentication tag.
        return { kind: 'damaged' };
      }
    },
  };
}

/** The ID of the key that decrypts it; undefined for a text that is not encrypted. */
export function sealedUnder(text: string): string | undefined {
  return form.exec(text)?.[1];
}
