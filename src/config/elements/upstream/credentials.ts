/** Credentials of an upstream, read from the configuration or from files, ready to send. */

import { createHash } from 'node:crypto';
import type { Auth, Family, Signer } from '../../../core/family.ts';
import type { Credential } from '../../../core/snapshot.ts';
import type { Path } from '../../read/faults.ts';
import { type CompileContext, locationOf, readSideFile } from '../context.ts';
import { isCredential, wantedCredential } from '../fields.ts';
import type { UpstreamEntry } from './schema.ts';

export interface Key {
  readonly secret: string;
  readonly weight: number;
  /** Where it stands, or the name of its file. */
  readonly path: Path;
}

/** What the family says of the credential. */
type Form = Family['credential'];

/** In the order of the file; those at fault are left out. */
export function readKeys(entry: UpstreamEntry, form: Form, path: Path, context: CompileContext): Key[] {
  const own = hasKey(entry);
  const { credentials = [] } = entry;
  if (own && entry.credentials !== undefined) {
    context.faults.add([...path, 'credentials'], 'stands beside api_key or api_key_file; keep one of them');
  }
  if (credentials.length > 0 && credentials.every(({ weight }) => weight === 0)) {
    context.faults.add(
      [...path, 'credentials'],
      'every weight is 0, so none of the keys would be used; give one of them a weight of 1 or more',
    );
  }
  const ownSecret = own ? readSecret(entry, form, path, context) : undefined;
  const keys: Key[] = ownSecret === undefined ? [] : [{ secret: ownSecret, weight: 1, path: pathOf(entry, path) }];
  const places = new Map<string, Path>();
  for (const [index, credential] of credentials.entries()) {
    const at = [...path, 'credentials', index];
    if (!hasKey(credential)) {
      context.faults.add(at, 'has no key; add api_key or api_key_file');
      continue;
    }
    const secret = readSecret(credential, form, at, context);
    if (secret === undefined) continue;
    const keyPath = pathOf(credential, at);
    const first = places.get(secret);
    if (first === undefined) places.set(secret, at);
    else {
      context.faults.add(
        keyPath,
        `is the same key as that of ${locationOf(first, context)}; keep one, with the weight of both`,
      );
    }
    keys.push({ secret, weight: credential.weight, path: keyPath });
  }
  return keys;
}

type KeySource = Pick<UpstreamEntry, 'api_key' | 'api_key_file'>;

const hasKey = (source: KeySource): boolean => source.api_key !== undefined || source.api_key_file !== undefined;

function pathOf({ api_key: key }: KeySource, path: Path): Path {
  return [...path, key === undefined ? 'api_key_file' : 'api_key'];
}

function readSecret(
  { api_key: key, api_key_file: file }: KeySource,
  form: Form,
  path: Path,
  context: CompileContext,
): string | undefined {
  const { faults } = context;
  if (key !== undefined && file !== undefined) {
    faults.add([...path, 'api_key_file'], 'stands beside api_key; keep one of the two');
  }
  if (file === undefined) {
    if (key === undefined || form === 'document' || isCredential(key)) return key;
    faults.add([...path, 'api_key'], `wanted: ${wantedCredential}; came: other text`);
    return undefined;
  }
  const text = readSideFile(file, [...path, 'api_key_file'], context)?.trim();
  if (text === undefined || isCredential(text)) return text;
  if (form === 'document' && text !== '') return text;
  faults.add(
    [...path, 'api_key_file'],
    text === '' ? 'the file is empty' : 'the file holds something other than one key',
  );
  return undefined;
}

/** One for each key that is sent; one without a key where none is. */
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

/** Nothing of the key itself is sent: each call is signed with it. */
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
