/** Compiles the `keys` section for admission: keys by digest, without their secrets. */

import type { KeyRecord } from '../../../core/key.ts';
import type { ModelIndex, Upstream } from '../../../core/snapshot.ts';
import { createNearestName, type NearestName } from '../../../lib/nearest-name.ts';
import { digestOf } from '../../../lib/secrets/key-secret.ts';
import { type Path, toPathText } from '../../read/faults.ts';
import { toCaps } from '../caps.ts';
import { type CompileContext, createClaims, type Entry, quoted } from '../context.ts';
import type { ConfigurationDocument } from '../document.ts';
import { checkTerms } from './judge.ts';
import { type KeyEntry, toTerms } from './terms.ts';
import { modelWarning, unknownProjectFault } from './warnings.ts';

export function* compileKeys(
  document: ConfigurationDocument,
  models: ModelIndex,
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Generator<undefined, ReadonlyMap<string, KeyRecord>, undefined> {
  const claim = createClaims(context);
  const digests = new Map<string, Path>();
  const keys = new Map<string, KeyRecord>();
  const credentials = credentialsOf(upstreams);
  const names = createNearestName(models.all.map(({ id }) => id));
  for (const { path, value } of document.keys) {
    yield;
    claim(value.id, [...path, 'id']);
    const digest = digestIn({ path, value }, context);
    if (digest === undefined) continue; // at fault, and left out
    const first = digests.get(digest);
    if (first !== undefined)
      context.faults.add([...path, 'secret'], `is the same as that of ${toPathText(first)}; each key needs its own`);
    digests.set(digest, first ?? path);
    const upstream = credentials.get(digest);
    if (upstream !== undefined) {
      context.faults.add([...path, 'secret'], credentialFault(upstream));
    }
    checkTerms(value, path, context);
    warnOfModels({ path, value }, document, models, names, context);
    if (value.expires !== undefined && value.expires <= context.nowMs) {
      context.warnings.push(`${toPathText(path)}: this key has expired`);
    }
    checkProject({ path, value }, document, context);
    keys.set(digest, toRecord({ path, value }, context));
  }
  return keys;
}

export const credentialFault = (upstream: string): string =>
  `is the credential of the upstream ${JSON.stringify(upstream)}; clients would hold it, so give the key a secret of its own`;

/** Which upstream has it, by the digest of each. */
export const credentialsOf = (upstreams: ReadonlyMap<string, Upstream>): ReadonlyMap<string, string> =>
  new Map([...upstreams.values()].flatMap(({ id, secrets }) => secrets.map((secret) => [digestOf(secret), id])));

/** Undefined where nothing says its secret. */
export function digestIn(
  { path, value }: Entry<Pick<KeyEntry, 'secret' | 'secret_sha256'>>,
  { faults }: Pick<CompileContext, 'faults'>,
): string | undefined {
  const { secret, secret_sha256: digest } = value;
  if (secret !== undefined && digest !== undefined) {
    faults.add([...path, 'secret_sha256'], 'stands beside secret or secret_file; keep one of them');
  }
  return secret === undefined ? digest?.toLowerCase() : digestOf(secret);
}

function toRecord({ path, value }: Entry<KeyEntry>, context: CompileContext): KeyRecord {
  const terms = toTerms(value, toCaps(value, path, context));
  return Object.freeze({ id: value.id, managedBy: 'file', ...terms, revokedAtMs: undefined });
}

function checkProject(
  { path, value: { project } }: Entry<KeyEntry>,
  { projectIds, nearestProject }: ConfigurationDocument,
  context: CompileContext,
): void {
  if (project === undefined || projectIds.has(project)) return;
  const at = [...path, 'project'];
  const near = context.isSubstituted(at) ? undefined : nearestProject(project);
  context.faults.add(at, unknownProjectFault(quoted(context, at, project), near));
}

function warnOfModels(
  { path, value }: Entry<KeyEntry>,
  { modelNames }: ConfigurationDocument,
  models: ModelIndex,
  nearest: NearestName,
  context: CompileContext,
): void {
  for (const [index, name] of value.models.entries()) {
    // One in the file that is no model has a fault of its own.
    if (name.includes('*') || (modelNames.has(name) && models.resolve(name) === undefined)) continue;
    const at = [...path, 'models', index];
    const warning = modelWarning(name, quoted(context, at, name), models, nearest);
    if (warning !== undefined) context.warnings.push(`${toPathText(at)}: ${warning}`);
  }
}
