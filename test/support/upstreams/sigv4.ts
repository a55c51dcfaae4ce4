/** AWS Signature Version 4 on the server's side: computes and compares signatures. */

import { createHash, createHmac } from 'node:crypto';

export interface SignedRequest {
  readonly method: string;
  /** As it was sent, without the query. */
  readonly path: string;
  /** In its canonical form. */
  readonly query?: string;
  /** The headers that are signed, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Scope {
  readonly region: string;
  readonly service: string;
}

/** The signature that a request should have. */
export function signatureOf(request: SignedRequest, secret: string, { region, service }: Scope): string {
  const names = Object.keys(request.headers).sort();
  const canonical = [
    request.method,
    [...request.path].map(encoded).join(''),
    request.query ?? '',
    ...names.map((name) => `${name}:${request.headers[name]?.trim().replaceAll(/ +/g, ' ')}`),
    '',
    names.join(';'),
    sha256(request.body),
  ].join('\n');
  const time = request.headers['x-amz-date'] ?? '';
  const day = time.slice(0, 8);
  const toSign = ['AWS4-HMAC-SHA256', time, `${day}/${region}/${service}/aws4_request`, sha256(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>(
    (made, part) => createHmac('sha256', made).update(part).digest(),
    Buffer.from(`AWS4${secret}`),
  );
  return createHmac('sha256', key).update(toSign).digest('hex');
}

/** A path comes encoded and is encoded once more, `%3A` as `%253A`; only S3 is spared that. */
function encoded(character: string): string {
  if (/[A-Za-z0-9/._~-]/.test(character)) return character;
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

export interface Account {
  readonly id: string;
  readonly secret: string;
  readonly sessionToken?: string;
}

/** Why a service refuses the call; undefined where it is signed as it must be. */
export function faultOfSignature(
  { method, path, headers, body }: SignedRequest,
  account: Account,
  scope: Scope,
  nowMs = Date.now(),
): string | undefined {
  const [, id, day, region, service, names = '', signature] = authorization.exec(headers.authorization ?? '') ?? [];
  if (signature === undefined) return 'no signature';
  if (id !== account.id) return 'an unknown access key';
  if (region !== scope.region || service !== scope.service) return `a scope of ${region} and ${service}`;
  if (headers['x-amz-security-token'] !== account.sessionToken) return 'another session token';
  const [, year, month, date, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(headers['x-amz-date'] ?? '') ?? [];
  if (year === undefined || day !== `${year}${month}${date}`) return 'no date, or another one';
  const sentAtMs = Date.parse(`${year}-${month}-${date}T${hour}:${minute}:${second}Z`);
  if (Math.abs(nowMs - sentAtMs) > 300_000) return 'a date that is five minutes off';
  const signed = names.split(';');
  const needed = Object.keys(headers).filter((name) => /^(?:host|content-type|x-amz-.*)$/.test(name));
  const missing = needed.filter((name) => !signed.includes(name));
  if (missing.length > 0) return `${missing.join(', ')} not signed`;
  if (headers['x-amz-content-sha256'] !== sha256(body)) return 'the digest of another body';
  const taken = Object.fromEntries(signed.map((name) => [name, headers[name] ?? '']));
  const wanted = signatureOf({ method, path, headers: taken, body }, account.secret, scope);
  return wanted === signature ? undefined : 'another signature';
}
