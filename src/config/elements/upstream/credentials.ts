/** Credentials of an upstream, read from the configuration or from files, ready to send. */

import { createHash } from 'node:crypto';
import type { Auth, Family, Signer } from '../../../core/family.ts';
import type { Credential } from '../../../core/snapshot.ts';
import { createFirsts, type Location, readSideFile } from '../context.ts';
import { isCredential, wantedCredential } from '../fields.ts';
import type { UpstreamEntry } from './schema.ts';

export interface Key {
  readonly secret: string;
  readonly weight: number;
  /** Its position, or the name of its file. */
  readonly location: Location;
}

/** The form of the family's credential. */
type Form = Family['credential'];

/** In the order of the file; faulty ones are left out. */
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

/** One for each key; one without a key where there is none. */
export function toCredentials(
  upstreamId: string,
  keys: readonly Key[],
  auth: Auth | undefined,
  staticHeaders: ReadonlyMap<string, string>,
  toSigner: ((key: Key) => Signer | undefined) | undefined,
): [Credential, ...Credential[]] {
  if (toSigner !== undefined && !staticHeaders.has('authorization'))
    return toSigningCredentials(upstreamId, keys, staticHeaders, toSigner);
  const standIn = auth && staticHeaders.get(auth.header);
  const [first, ...others] = auth === undefined || standIn !== undefined ? [] : keys;
  if (auth === undefined || first === undefined) {
    return [toCredential('key', 1, [...staticHeaders].flat(), upstreamId, standIn ?? '')];
  }
  const credentialOf = ({ secret, weight }: Key, id: string): Credential =>
    toCredential(id, weight, [...staticHeaders, [auth.header, auth.prefix + secret]].flat(), upstreamId, secret);
  return [
    credentialOf(first, others.length === 0 ? 'key' : 'key 1'),
    ...others.map((key, index) => credentialOf(key, `key ${index + 2}`)),
  ];
}

/** The key itself is not sent: each call is signed with it. */
function toSigningCredentials(
  upstreamId: string,
  keys: readonly Key[],
  staticHeaders: ReadonlyMap<string, string>,
  toSigner: (key: Key) => Signer | undefined,
): [Credential, ...Credential[]] {
  const headers = [...staticHeaders].flat();
  const [first, ...others] = keys.map((key, index): Credential => {
    const id = keys.length === 1 ? 'key' : `key ${index + 1}`;
    const signer = toSigner(key);
    const credential = toCredential(id, key.weight, headers, upstreamId, key.secret);
    return signer === undefined ? credential : Object.freeze({ ...credential, signer });
  });
  return first === undefined ? [toCredential('key', 1, headers, upstreamId, '')] : [first, ...others];
}

function toCredential(
  id: string,
  weight: number,
  headers: readonly string[],
  upstreamId: string,
  secret: string,
): Credential {
  const fingerprint = createHash('sha256').update(`${upstreamId}\0${secret}`).digest('hex').slice(0, 16);
  return Object.freeze({ id, weight, headers: Object.freeze([...headers]), fingerprint });
}
