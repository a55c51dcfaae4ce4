/** `postern secrets`: shows which key encrypts the stored secrets, and re-encrypts them under another. */

import { toPathText } from '../../config/read/faults.ts';
import { lackOf } from '../../config/store/resource-changes.ts';
import {
  howToSeal,
  openDocument,
  type ResourceDocument,
  sealDocument,
  sealsOf,
} from '../../config/store/sealed-fields.ts';
import { readKeyRing } from '../../config/store/secret-key.ts';
import { reportMaxAgeMs } from '../../core/store/health.ts';
import type { Resource } from '../../core/store/resources.ts';
import { UserFault } from '../../core/user-fault.ts';
import { type KeyRing, SecretKeyError } from '../../lib/secrets/sealed.ts';
import { type OpenResources, openResources } from '../../serve/configuration.ts';
import { actionsOf, actor } from '../actions.ts';
import type { CommandContext } from '../command.ts';
import { printJson, printTable, toPrintable } from '../output.ts';

/** Limit of attempts where others write the same element at the same time. */
const mostAttempts = 5;

export const secrets = actionsOf('secrets', openResources, {
  status: { usage: 'status [--json]', prepare: status },
  rotate: { usage: 'rotate [--json]', prepare: rotate },
});

function status(context: CommandContext) {
  const { stdout } = context;
  return async (ground: OpenResources) => {
    const { resources } = ground;
    const ring = await readRing(context, ground);
    const counts = new Map<string | undefined, number>();
    for (const { kind, document } of resources) {
      for (const keyId of sealsOf(kind, document)) counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
    }
    const ids = new Set([...(ring?.keyIds ?? []), ...counts.keys()]);
    const rows = [...ids].map((keyId) => ({
      key: keyId ?? null,
      role: roleOf(keyId, ring),
      secrets: counts.get(keyId) ?? 0,
    }));
    if (printJson(context, rows)) return;
    if (rows.length === 0) stdout(`The store holds no secret, and there is no key: ${howToSeal}.`);
    const cells = rows.map(({ key, role, secrets: count }) => [key ?? '-', inWords[role], String(count)]);
    if (rows.length > 0) printTable(['KEY', 'WHAT IT DOES', 'SECRETS'], cells, stdout);
  };
}

type Role = 'seals' | 'opens' | 'missing' | 'unsealed';

function roleOf(keyId: string | undefined, ring: KeyRing | undefined): Role {
  if (keyId === undefined) return 'unsealed';
  if (keyId === ring?.sealingKeyId) return 'seals';
  return ring?.keyIds.includes(keyId) === true ? 'opens' : 'missing';
}

const inWords: Readonly<Record<Role, string>> = {
  seals: 'seals and opens',
  opens: 'opens',
  missing: 'is not in POSTERN_SECRET_KEY',
  unsealed: 'not sealed; "postern secrets rotate" seals them',
};

function rotate(context: CommandContext) {
  const { stdout } = context;
  return async (ground: OpenResources) => {
    const { store, resources } = ground;
    const ring = await readRing(context, ground);
    if (ring === undefined) throw new UserFault(`there is no key to seal with: ${howToSeal}`);
    // All are decrypted before the first is written: after a failure nothing has changed.
    for (const resource of resources) sealAnew(resource, ring);
    const lack = lackOf(ring.sealingKeyId, await store.health.nodes(reportMaxAgeMs));
    if (lack !== undefined && resources.some((resource) => sealAnew(resource, ring) !== undefined)) {
      throw new UserFault(`what is in the store ${lack}`);
    }
    let changed = 0;
    for (const resource of resources) if (await renew(resource, ring, store)) changed += 1;
    if (printJson(context, { key: ring.sealingKeyId, changed })) return;
    stdout(`${changed} of ${resources.length} resources were sealed anew; all are under the key ${ring.sealingKeyId}.`);
  };
}

async function renew(first: Resource, ring: KeyRing, { resources }: OpenResources['store']): Promise<boolean> {
  const { kind, id } = first;
  let resource: Resource | undefined = first;
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const document = sealAnew(resource, ring);
    if (document === undefined) return false;
    const put = await resources.put(kind, id, document, { expected: resource.version, actor });
    if (put !== 'conflict') return true;
    resource = await resources.get(kind, id);
    if (resource === undefined) return false;
  }
  throw new UserFault(`${kind} ${id} is changed by others all the time; run it again`);
}

/** The document encrypted under the first key; undefined where all of its secrets already are. */
function sealAnew(resource: Resource, ring: KeyRing): ResourceDocument | undefined {
  const { kind, id, document } = resource;
  if (sealsOf(kind, document).every((keyId) => keyId === ring.sealingKeyId)) return undefined;
  const opened = openDocument(resource, document, ring, (path, message) => {
    throw new UserFault(`${kind} ${toPrintable(id)}: ${toPathText(path)} ${message}`);
  });
  const sealing = sealDocument(resource, opened, ring, undefined);
  if ('document' in sealing) return JSON.parse(JSON.stringify(sealing.document));
  throw new UserFault(`${kind} ${toPrintable(id)}: ${sealing.faults.map(({ message }) => message).join('; ')}`);
}

/** The keys for stored secrets; undefined where there is none. */
export async function readRing(
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
  { whole }: Pick<OpenResources, 'whole'>,
): Promise<KeyRing | undefined> {
  try {
    return await readKeyRing({ env, cwd, store: whole.ok ? whole.snapshot.store : whole.store });
  } catch (error) {
    throw error instanceof SecretKeyError ? new UserFault(error.message) : error;
  }
}
