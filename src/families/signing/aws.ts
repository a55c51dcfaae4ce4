/** Signs calls with AWS Signature Version 4. The signing library is loaded at the first call. */

import { createHash } from 'node:crypto';
import type { Signer } from '../../core/family.ts';

const shortestSecret = 8;

interface Scope {
  readonly service: string;
  readonly region: string;
}

/** Makes a signer from `ACCESS_KEY_ID:SECRET_ACCESS_KEY`, with `:SESSION_TOKEN` for temporary keys; else returns why the secret is invalid. */
export function awsSigner(secret: string, scope: Scope): Signer | string {
  const parts = secret.split(':');
  const [accessKeyId = '', secretAccessKey = '', sessionToken] = parts;
  if (parts.length < 2 || parts.length > 3 || parts.includes('')) {
    return 'wanted: ACCESS_KEY_ID:SECRET_ACCESS_KEY, and :SESSION_TOKEN behind it where the key is temporary';
  }
  if (accessKeyId.startsWith('ASIA') && sessionToken === undefined) {
    return 'the access key is a temporary one, and needs its session token: ACCESS_KEY_ID:SECRET_ACCESS_KEY:SESSION_TOKEN';
  }
  const key = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  /** The library's cache of signing keys, which change every day. */
  const cache = new Map<string, ArrayBuffer>();

  const signed: Signer = async ({ url, headers, body }, { nowMs }) => {
    const { AwsV4Signer } = await import('aws4fetch');
    const signer = new AwsV4Signer({
      ...key,
      ...scope,
      method: 'POST',
      url,
      headers: [...toBeSigned(headers), ['x-amz-content-sha256', createHash('sha256').update(body).digest('hex')]],
      datetime: new Date(nowMs()).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
      cache,
      // Without `allHeaders` the signature lacks content-type, which AWS requires.
      allHeaders: true,
    });
    const made = (await signer.sign()).headers;
    return madeHeaders.flatMap((name) => {
      const value = made.get(name);
      return value === null ? [] : [name, value];
    });
  };
  // The ID names the operator's account. A short part occurs in harmless answers too.
  const secrets = parts.filter((part) => part.length >= shortestSecret);
  return Object.assign(signed, { secrets: () => secrets });
}

const madeHeaders = ['authorization', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'];

/** The headers to sign: those that AWS requires and no others, as a proxy may change them. */
function toBeSigned(raw: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    if (name === 'content-type' || name.startsWith('x-amz-')) pairs.push([name, raw[i + 1] ?? '']);
  }
  return pairs;
}
