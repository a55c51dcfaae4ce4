/** Recognises secrets of well-known services by their format, and masks them in text. Every pattern runs in linear time. */

import { hash } from 'node:crypto';

/** Matches the beginning of a word; in JSON it may follow the letter of an escape, as in `\nsk-`. */
export const wordStart = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))`;

/** Matches prefixes that only secrets have. */
export const knownPrefix = String.raw`(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|hf_|gsk_|xai-|nvapi-|jina_|pcsk_|pplx-|csk-|r8_|fw_|tgp_v1_|pa-|AIza|ya29\.)`;
export const awsKeyId = 'A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}';

/** Length below which a text is not examined: no known secret is shorter. */
const shortest = 20;

/** Matches secrets. Where the first group matches, it certainly is one; else it is examined further, as model names may begin alike. */
const shape = new RegExp(
  String.raw`${wordStart}(?:((?:${awsKeyId}|gh[oprsu]_[A-Za-z0-9]{30,}|glpat-[\w-]{20,}|ya29\.[\w-]{20,})(?![A-Za-z0-9]))|(?:[rs]k[-_]|${knownPrefix})[\w-]{20,})`,
  'g',
);

/** Matches long words. A word of a model's name has letters or digits, or is shorter if it has both. */
const longWord = /[A-Za-z0-9]{10,}/g;
const isRandom = (word: string): boolean => /[0-9]/.test(word) && /[A-Za-z]/.test(word);

export function findSecretShape(text: string): string | undefined {
  if (text.length < shortest) return undefined;
  for (const [found, certain] of text.matchAll(shape)) if (isSecret(found, certain)) return found;
  return undefined;
}

/** Replaces each secret in a text by a mask: the same for equal secrets, different for others. */
export function withMasks(text: string): string {
  if (text.length < shortest) return text;
  return text.replace(shape, (found: string, certain: string | undefined) =>
    isSecret(found, certain) ? maskOf(found) : found,
  );
}

const isSecret = (found: string, certain: string | undefined): boolean =>
  certain !== undefined || (found.match(longWord)?.some(isRandom) ?? false);

/** A mask for a secret, valid as an ID: eight digits of the digest distinguish secrets without revealing them. */
export const maskOf = (secret: string): string => `masked-${hash('sha256', secret, 'hex').slice(0, 8)}`;

/** Replaces masks in a text by their secrets, where known. */
export function withoutMasks(text: string, secrets: ReadonlyMap<string, string>): string {
  return text.replace(/masked-[0-9a-f]{8}(?![A-Za-z0-9])/g, (mask) => secrets.get(mask) ?? mask);
}
