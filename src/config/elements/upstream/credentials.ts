/** Reads the credentials of an upstream from the configuration or from files, and prepares them for sending. */

import { createHash } from 'node:crypto';
import type { Auth, Family, Signer } from '../../../core/family.ts';
import type { Credential } from '../../../core/snapshot.ts';
import { createFirsts, type Location, readSideFile } from '../context.ts';
import { isCredential, wantedCredential } from '../fields.ts';
import type { UpstreamEntry } from './schema.ts';

export interface Key {
  readonly secret: string;
  readonly weight: number;
  /** Where the credential is written; for one in a file, where the file's name is. */
  readonly location: Location;
}

type Form = Family['credential'];

/** The keys in the order of the file, without faulty ones. */
export function readKeys(entry: UpstreamEntry, form: Form, location: Location): Key[] {
  const own = hasKey(entry);
  const { credentials = [] } = entry;
  if (own && entry.credentials !== undefined) {
    location.at('credentials').fault('stands beside api_key or api_key_file; keep one of them');
  }
  if (credentials.length > 0 && credentials.every(({ weight }) => weight === 0)) {
    location
      .at('credentials')
      .fault('every weight is 0, so none of the keys would be used; give one of them a weight of 1 or more');
  }
  const ownKey = own ? readKey(entry, form, location) : undefined;
  const keys: Key[] = ownKey === undefined ? [] : [{ ...ownKey, weight: 1 }];
  const firstOf = createFirsts<Location>();
  for (const [index, credential] of credentials.entries()) {
    const at = location.at('credentials', index);
    if (!hasKey(credential)) {
      at.fault('has no key; add api_key or api_key_file');
      continue;
    }
    const key = readKey(credential, form, at);
    if (key === undefined) continue;
    const first = firstOf(key.secret, at);
    if (first !== undefined) {
      key.location.fault(`is the same key as that of ${first.inWords()}; keep one, with the weight of both`);
    }
    keys.push({ ...key, weight: credential.weight });
  }
  return keys;
}

type KeySource = Pick<UpstreamEntry, 'api_key' | 'api_key_file'>;

const hasKey = (source: KeySource): boolean => source.api_key !== undefined || source.api_key_file !== undefined;

function readKey(
  { api_key: key, api_key_file: file }: KeySource,
  form: Form,
  location: Location,
): Omit<Key, 'weight'> | undefined {
  const [own, ofFile] = [location.at('api_key'), location.at('api_key_file')];
  if (key !== undefined && file !== undefined) ofFile.fault('stands beside api_key; keep one of the two');
  if (file === undefined) {
    if (key === undefined) return undefined;
    if (form === 'document' || isCredential(key)) return { secret: key, location: own };
    own.fault(`wanted: ${wantedCredential}; came: other text`);
    return undefined;
  }
  const secret = readSideFile(file, ofFile)?.trim();
  if (secret === undefined) return undefined;
  if (isCredential(secret) || (form === 'document' && secret !== '')) {
    return { secret, location: key === undefined ? ofFile : own };
  }
  ofFile.fault(secret === '' ? 'the file is empty' : 'the file holds something other than one key');
  return undefined;
}

/**
 * The credentials: one for each key, or one without a key where there is none. With a signer the key itself is not sent:
 * it signs each call, unless the operator sets the header.
 */
export function toCredentials(
  upstreamId: string,
  keys: readonly Key[],
  auth: Auth | undefined,
  staticHeaders: ReadonlyMap<string, string>,
  toSigner: ((key: Key) => Signer | undefined) | undefined,
): [Credential, ...Credential[]] {
  const fixed = [...staticHeaders].flat();
  const signerFor = staticHeaders.has('authorization') ? undefined : toSigner;
  const standIn = signerFor === undefined && auth !== undefined ? staticHeaders.get(auth.header) : undefined;

  function credentialOf(id: string, secret: string, weight: number, headers: readonly string[], signer?: Signer) {
    const fingerprint = createHash('sha256').update(`${upstreamId}\0${secret}`).digest('hex').slice(0, 16);
    return Object.freeze({ id, weight, headers: Object.freeze(headers), fingerprint, ...(signer && { signer }) });
  }

  const [first, ...others] = keys.flatMap((key, index): Credential[] => {
    const id = keys.length === 1 ? 'key' : `key ${index + 1}`;
    if (signerFor !== undefined) return [credentialOf(id, key.secret, key.weight, fixed, signerFor(key))];
    if (auth === undefined || standIn !== undefined) return [];
    return [credentialOf(id, key.secret, key.weight, [...fixed, auth.header, auth.prefix + key.secret])];
  });
  return first === undefined ? [credentialOf('key', standIn ?? '', 1, fixed)] : [first, ...others];
}
