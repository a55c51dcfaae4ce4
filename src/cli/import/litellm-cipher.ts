/** What LiteLLM keeps closed in its database: by AES-256-GCM with the version in front, formerly by NaCl's secretbox. */

import { Buffer } from 'node:buffer';
import { createDecipheriv, hash, hkdfSync } from 'node:crypto';
import { openSecretBox } from '../../lib/secrets/secret-box.ts';

const nonceBytes = 12;
const proofBytes = 16;
const expansion = 'litellm-at-rest-v3';
const versioned = /^v\d+:gcm:/;
/** The 40 bytes before the text of a secretbox, at least; in either alphabet of base64. */
const secretBox = /^(?:[\w-]{54,}|[A-Za-z0-9+/]{54,})={0,2}$/;

export const isClosed = (text: string): boolean =>
  versioned.test(text) || (text.length % 4 === 0 && secretBox.test(text));

/** Undefined where it was closed with another key. */
export function openWith(salt: string, closed: string): string | undefined {
  const [, version, text = closed] = /^(v\d+):gcm:(.*)$/s.exec(closed) ?? [];
  const bytes = Buffer.from(text, 'base64url');
  const plainKey = hash('sha256', salt, 'buffer');
  if (version === undefined) return openSecretBox(bytes, plainKey)?.toString();
  const key = version === 'v2' ? plainKey : Buffer.from(hkdfSync('sha256', salt, '', expansion, plainKey.length));
  return openGcm(bytes, key);
}

function openGcm(bytes: Buffer, key: Buffer): string | undefined {
  if (bytes.length < nonceBytes + proofBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
  decipher.setAuthTag(bytes.subarray(-proofBytes));
  const opened = decipher.update(bytes.subarray(nonceBytes, -proofBytes));
  try {
    return Buffer.concat([opened, decipher.final()]).toString();
  } catch {
    return undefined; // another key, or damaged
  }
}
