/** Validates the keys of a resource file by their schema, against each other, and against existing keys. */

import { dirname, resolve } from 'node:path';
import type { KeyRecord, KeyTerms } from '../../core/key.ts';
import type { KeyStore, SecretHolder, StoredKey } from '../../core/store/keys.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { hintOf } from '../../lib/secrets/key-secret.ts';
import { toCaps } from '../elements/caps.ts';
import { createFirsts, Location, type Reporting } from '../elements/context.ts';
import { displayName, mapping } from '../elements/fields.ts';
import { judge } from '../elements/judge.ts';
import { credentialFault, credentialsOf, digestIn } from '../elements/key/compile.ts';
import { checkTerms } from '../elements/key/judge.ts';
import { keySchema, toTerms } from '../elements/key/terms.ts';
import { unknownProject } from '../elements/key/warnings.ts';
import { readSecret } from '../elements/secret-files.ts';
import type { LoadedConfiguration } from '../load.ts';
import { type FaultList, type Path, toPathText } from '../read/faults.ts';
import { readText } from '../read/side-files.ts';
import type { ResourceFile, WrittenElement } from './resource-file.ts';

export interface WantedKey {
  readonly id: string;
  readonly at: Path;
  readonly name: string;
  readonly terms: KeyTerms;
  /** The new secret's digest; undefined where the secret stays unchanged. */
  readonly secret: { readonly digest: string; readonly hint: string } | undefined;
}

const wantedKeySchema = mapping({ name: displayName().optional(), ...keySchema.shape });

const largestSecretFileBytes = 64 * 1024;

/** Validates the keys. `path`: that of the file, to which the paths of secret files are relative. */
export async function judgeKeys(file: ResourceFile, path: string): Promise<readonly WantedKey[]> {
  const { list: faults } = file;
  const keys: WantedKey[] = [];
  const firstOf = createFirsts<Location<Reporting>>();
  for (const written of file.keys) {
    const { document, isSecretRead } = await withSecret(written, dirname(path), faults);
    const { at } = written;
    const isSubstituted = (one: Path): boolean =>
      (isSecretRead && toPathText(one) === toPathText([...at, 'secret'])) || file.isSubstituted(one);
    const context = { faults, isSubstituted, locator: file.locator, warnings: [] };
    const value = judge(wantedKeySchema, document, at, context);
    if (value === undefined) continue;
    const location: Location<Reporting> = new Location(context, at);
    checkTerms(value, location);
    const digest = digestIn(value, location, firstOf);
    const hint = value.secret === undefined ? `sha256:${digest?.slice(0, 8)}…` : hintOf(value.secret);
    const terms = toTerms(value, toCaps(value, location));
    const secret = digest === undefined ? undefined : { digest, hint };
    keys.push({ id: value.id, at, name: value.name?.trim() ?? value.id, terms, secret });
  }
  return keys;
}

async function withSecret({ document, at }: WrittenElement, directory: string, faults: FaultList) {
  const { secret_file: named } = document;
  if (typeof named !== 'string' || named === '') return { document, isSecretRead: false };
  const path = [...at, 'secret_file'];
  if (document.secret !== undefined) faults.add(path, 'stands beside secret; keep one of the two');
  const content = readSecret(await readText(resolve(directory, named), largestSecretFileBytes));
  if ('text' in content) return { document: { ...document, secret: content.text }, isSecretRead: true };
  faults.add(path, `the file cannot be used: ${content.reason}`);
  faults.hush([...at, 'secret']);
  return { document, isSecretRead: false };
}

export interface KeyToPut extends WantedKey {
  readonly before: StoredKey | undefined;
  readonly isSecretNew: boolean;
}

/** Finds the stored key for each key of the file; conflicts with the configuration and the store become faults. */
export async function locateKeys(
  keys: readonly WantedKey[],
  faults: FaultList,
  { snapshot, keyPositions }: LoadedConfiguration,
  store: Pick<KeyStore, 'holder'>,
  storedKeys: readonly StoredKey[],
): Promise<readonly KeyToPut[]> {
  const stored = new Map(storedKeys.map((key) => [key.id, key]));
  const projects = new Set(snapshot.projects.keys());
  const credentials = credentialsOf(snapshot.upstreams);
  const keysToPut: KeyToPut[] = [];
  for (const key of keys) {
    const { id, at, terms, secret } = key;
    const before = stored.get(id);
    const position = keyPositions.get(id);
    if (position !== undefined) {
      faults.add(
        [...at, 'id'],
        `${JSON.stringify(id)} is declared by the configuration file too (line ${position.line}); keep it here or there`,
      );
    }
    const unknown = terms.project === undefined ? undefined : unknownProject(terms.project, projects);
    if (unknown !== undefined) faults.add([...at, 'project'], unknown);
    const upstream = secret && credentials.get(secret.digest);
    if (upstream !== undefined) faults.add([...at, 'secret'], credentialFault(upstream));
    const holder = secret && (await store.holder(secret.digest));
    const fault = secretFault(id, secret && snapshot.keys.get(secret.digest), holder);
    if (fault !== undefined) faults.add([...at, 'secret'], fault);
    const isSecretNew = secret !== undefined && holder === undefined;
    if (secret === undefined && before === undefined) {
      faults.add([...at, 'secret'], 'is missing; wanted: secret, secret_file or secret_sha256');
    }
    if (isSecretNew && before?.revokedAtMs !== undefined) {
      faults.add([...at, 'id'], `${JSON.stringify(id)} was revoked, for good; give the new key an ID of its own`);
    }
    keysToPut.push({ ...key, before, isSecretNew });
  }
  return keysToPut;
}

function secretFault(
  id: string,
  ofFile: Pick<KeyRecord, 'id'> | undefined,
  holder: SecretHolder | undefined,
): string | undefined {
  const other = ofFile?.id ?? (holder?.id === id ? undefined : holder?.id);
  if (other !== undefined) return `is that of the key ${other}; each key needs its own`;
  if (holder === undefined || holder.isCurrent) return undefined;
  return 'is the one that the key had before it was given another; write that one, or one that it never had';
}

export function carries(metadata: unknown, wanted: ReadonlyMap<string, string>): boolean {
  return isMapping(metadata) && [...wanted].every(([name, text]) => metadata[name] === text);
}
