/** Compiles the `keys` section for checking clients: keys by the digests of their secrets, without the secrets. */

import type { KeyRecord } from '../../../core/key.ts';
import type { ModelIndex, Upstream } from '../../../core/snapshot.ts';
import { createNearestName, type NearestName } from '../../../lib/nearest-name.ts';
import { digestOf } from '../../../lib/secrets/key-secret.ts';
import { toPathText } from '../../read/faults.ts';
import { toCaps } from '../caps.ts';
import { type CompileContext, createClaims, createFirsts, Location, type Reporting } from '../context.ts';
import type { ConfigurationDocument } from '../document.ts';
import { none, ReusableStep } from '../reuse.ts';
import { checkTerms } from './judge.ts';
import { type KeyEntry, toTerms } from './terms.ts';
import { modelWarning, unknownProjectFault } from './warnings.ts';

export function* compileKeys(
  document: ConfigurationDocument,
  models: ModelIndex,
  upstreams: ReadonlyMap<string, Upstream>,
  context: CompileContext,
): Generator<undefined, ReadonlyMap<string, KeyRecord>, undefined> {
  const claim = createClaims();
  const firstOf = createFirsts<Location>();
  const keys = new Map<string, KeyRecord>();
  const credentials = credentialsOf(upstreams);
  const names = createNearestName(models.all.map(({ id }) => id));
  for (const entry of document.keys) {
    if (compilingTerms.isPauseDue()) yield;
    const { path, value } = entry;
    const location = new Location(context, path);
    claim(value.id, location, 'id');
    const digest = digestIn(value, location, firstOf);
    if (digest === undefined) continue; // at fault, and left out
    const upstream = credentials.get(digest);
    if (upstream !== undefined) location.at('secret').fault(credentialFault(upstream));
    const terms = compilingTerms.of(entry, none, context, () => {
      checkTerms(value, location);
      return toTerms(value, toCaps(value, location));
    });
    warnOfModels(value, document, models, names, location.at('models'));
    if (value.expires !== undefined && value.expires <= context.nowMs) location.warn(': this key has expired');
    checkProject(value.project, document, location.at('project'));
    keys.set(digest, Object.freeze({ id: value.id, managedBy: 'file', ...terms, revokedAtMs: undefined }));
  }
  return keys;
}

const compilingTerms = new ReusableStep<ReturnType<typeof toTerms>>();

export const credentialFault = (upstream: string): string =>
  `is the credential of the upstream ${JSON.stringify(upstream)}; clients would hold it, so give the key a secret of its own`;

export const credentialsOf = (upstreams: ReadonlyMap<string, Upstream>): ReadonlyMap<string, string> =>
  new Map([...upstreams.values()].flatMap(({ id, secrets }) => secrets.map((secret) => [digestOf(secret), id])));

/** The digest of a key's secret; undefined where it has none. A secret that an earlier key has too is reported. */
export function digestIn<C extends Reporting>(
  { secret, secret_sha256: written }: Pick<KeyEntry, 'secret' | 'secret_sha256'>,
  location: Location<C>,
  firstOf: ReturnType<typeof createFirsts<Location<C>>>,
): string | undefined {
  if (secret !== undefined && written !== undefined) {
    location.at('secret_sha256').fault('stands beside secret or secret_file; keep one of them');
  }
  const digest = secret === undefined ? written?.toLowerCase() : digestOf(secret);
  const first = digest === undefined ? undefined : firstOf(digest, location);
  if (first !== undefined) {
    location.at('secret').fault(`is the same as that of ${toPathText(first.path)}; each key needs its own`);
  }
  return digest;
}

function checkProject(
  project: string | undefined,
  { projectIds, nearestProject }: ConfigurationDocument,
  location: Location,
): void {
  if (project === undefined || projectIds.has(project)) return;
  const near = location.context.isSubstituted(location.path) ? undefined : nearestProject(project);
  location.fault(unknownProjectFault(location.quoted(project), near));
}

function warnOfModels(
  value: KeyEntry,
  { modelNames }: ConfigurationDocument,
  models: ModelIndex,
  nearest: NearestName,
  location: Location,
): void {
  for (const [index, name] of value.models.entries()) {
    // An unknown model in the file has its own fault.
    if (name.includes('*') || (modelNames.has(name) && models.resolve(name) === undefined)) continue;
    const at = location.at(index);
    const warning = modelWarning(name, at.quoted(name), models, nearest);
    if (warning !== undefined) at.warn(`: ${warning}`);
  }
}
