/** The `keys` section as admission uses it: by digest, the secrets themselves forgotten. */

import type { KeyRecord } from '../../../core/key.ts';
import type { ModelIndex } from '../../../core/snapshot.ts';
import { digestOf } from '../../../lib/key-secret.ts';
import { createNearestName, type NearestName } from '../../../lib/nearest-name.ts';
import { type Path, suggestion, toPathText } from '../../read/faults.ts';
import { toCaps } from '../caps.ts';
import { type CompileContext, checkStars, createClaims, quoted } from '../context.ts';
import type { ConfigurationDocument, Entry } from '../document.ts';
import type { KeyEntry } from '../schema.ts';
import { checkAddresses } from '../server/compile.ts';

export function* compileKeys(
  document: ConfigurationDocument,
  models: ModelIndex,
  context: CompileContext,
): Generator<undefined, ReadonlyMap<string, KeyRecord>, undefined> {
  const claim = createClaims(context);
  const digests = new Map<string, Path>();
  const keys = new Map<string, KeyRecord>();
  const names = createNearestName(models.all.map(({ id }) => id));
  for (const { path, value } of document.keys) {
    yield;
    claim(value.id, [...path, 'id']);
    const digest = digestOf(value.secret);
    const first = digests.get(digest);
    if (first !== undefined)
      context.faults.add([...path, 'secret'], `is the same as that of ${toPathText(first)}; each key needs its own`);
    digests.set(digest, first ?? path);
    checkModels({ path, value }, document, models, names, context);
    checkAddresses(value.addresses ?? [], [...path, 'addresses'], context);
    if (value.expires !== undefined && value.expires <= context.nowMs) {
      context.warnings.push(`${toPathText(path)}: this key has expired`);
    }
    checkProject({ path, value }, document, context);
    keys.set(digest, toRecord({ path, value }, context));
  }
  return keys;
}

function toRecord({ path, value: entry }: Entry<KeyEntry>, context: CompileContext): KeyRecord {
  return Object.freeze({
    id: entry.id,
    managedBy: 'file',
    models: Object.freeze([...entry.models]),
    operations: entry.operations && Object.freeze([...new Set(entry.operations)]),
    addresses: entry.addresses && Object.freeze([...entry.addresses]),
    project: entry.project,
    caps: toCaps(entry, path, context),
    metadata: Object.freeze(entry.metadata),
    captureMs: entry.capture,
    shape: entry.shape,
    expiresAtMs: entry.expires,
    revokedAtMs: undefined,
  });
}

function checkProject(
  { path, value: { project } }: Entry<KeyEntry>,
  { projectIds, nearestProject }: ConfigurationDocument,
  context: CompileContext,
): void {
  if (project === undefined || projectIds.has(project)) return;
  const at = [...path, 'project'];
  const near = context.isSubstituted(at) ? undefined : nearestProject(project);
  const hint = suggestion(near) || '; declare it under projects';
  context.faults.add(at, `unknown project ${quoted(context, at, project)}${hint}`);
}

/** A name that matches nothing is legal, as models come and go, and yet most often a slip. */
function checkModels(
  { path, value }: Entry<KeyEntry>,
  { modelNames }: ConfigurationDocument,
  models: ModelIndex,
  nearest: NearestName,
  context: CompileContext,
): void {
  for (const [index, name] of value.models.entries()) {
    const at = [...path, 'models', index];
    checkStars(name, at, context);
    if (name.includes('*')) continue;
    const resolved = models.resolve(name);
    if (resolved?.model.aliases.includes(name)) {
      context.warnings.push(
        `${toPathText(at)} is an alias, and keys are judged by the model's ID: write ${resolved.id}`,
      );
    } else if (resolved === undefined && !modelNames.has(name)) {
      const hint = suggestion(nearest(name));
      context.warnings.push(`${toPathText(at)}: there is no model ${quoted(context, at, name)}${hint}`);
    }
  }
}
