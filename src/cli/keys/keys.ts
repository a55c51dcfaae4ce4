/** `postern keys`: creates, shows, changes, rotates and revokes virtual keys in the store. */

import { modelWarnings, nameWarnings } from '../../config/elements/key/warnings.ts';
import { misplacedWarnings } from '../../config/elements/misplaced-secrets.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { StoredKey } from '../../core/store/keys.ts';
import type { Store } from '../../core/store/store.ts';
import { UserFault } from '../../core/user-fault.ts';
import { systemClock } from '../../lib/clock.ts';
import { createSecret, digestOf, hintOf } from '../../lib/secrets/key-secret.ts';
import { type OpenConfiguration, openLeniently } from '../../serve/configuration.ts';
import { actionsOf, actor } from '../actions.ts';
import type { CommandContext } from '../command.ts';
import { printJson, printSecret, printTable, toPrintable } from '../output.ts';
import { toInstantText } from '../times.ts';
import {
  checkContradictions,
  checkProject,
  readKeyChange,
  readNewKey,
  readOverlap,
  takingUsage,
  termsUsage,
} from './key-options.ts';
import { describeFileKey, describeKey, listHead, toLines, toListRow } from './key-words.ts';

export const keys = actionsOf('keys', openLeniently, {
  create: { usage: `create ${termsUsage} [--json]`, prepare: create, makesStore: () => true },
  list: { usage: 'list [--json]', prepare: list },
  show: { usage: 'show ID [--json]', prepare: show },
  update: { usage: `update ID ${termsUsage} ${takingUsage} [--json]`, prepare: update },
  rotate: { usage: 'rotate ID [--overlap 24h] [--json]', prepare: rotate },
  revoke: { usage: 'revoke ID', prepare: revoke },
});

function create({ values, stdout, stderr }: CommandContext) {
  const parts = readNewKey(values, systemClock.nowMs());
  return async ({ store, loaded: { snapshot }, resources }: OpenConfiguration) => {
    checkProject(parts.project, snapshot, resources);
    const secret = createSecret();
    const key = await store.keys.create({ ...parts, digest: digestOf(secret), hint: hintOf(secret) }, actor);
    const sameName = nameWarnings(key, await store.keys.list());
    for (const warning of [...warningsOf(parts, snapshot), ...sameName]) stderr(`postern: ${warning}`);
    if (printJson({ values, stdout }, { ...describeKey(key, systemClock.nowMs()), secret })) return;
    stdout(`Key ${key.id} is created. Its secret is shown only now; keep it safe:`);
    printSecret(secret, stdout);
  };
}

const warningsOf = (terms: { readonly models?: readonly string[] }, { models }: Snapshot): string[] => [
  ...misplacedWarnings(terms),
  ...modelWarnings(terms.models ?? [], models),
];

function list({ values, stdout }: CommandContext) {
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const nowMs = systemClock.nowMs();
    const rows = (await store.keys.list()).map((key) => describeKey(key, nowMs));
    if (printJson({ values, stdout }, rows)) return;
    if (rows.length === 0) stdout('The store holds no key; "postern keys create" makes one.');
    else printTable(listHead, rows.map(toListRow), stdout);
    if (snapshot.keys.size > 0) {
      const ids = Array.from(snapshot.keys.values(), ({ id }) => id);
      stdout(`The configuration file declares ${ids.length} more: ${ids.map(toPrintable).join(', ')}`);
    }
  };
}

function show({ positionals, values, stdout }: CommandContext) {
  const id = positionals[1] ?? '';
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const nowMs = systemClock.nowMs();
    const stored = await store.keys.get(id);
    const declared = fileKeyOf(id, snapshot);
    const key = stored === undefined ? declared && describeFileKey(declared, nowMs) : describeKey(stored, nowMs);
    if (key === undefined) throw unknownKey();
    if (printJson({ values, stdout }, key)) return;
    printTable(['FIELD', 'VALUE'], toLines(key), stdout);
  };
}

function update({ positionals, values, stdout, stderr }: CommandContext) {
  const id = positionals[1] ?? '';
  checkContradictions(values);
  return async ({ store, loaded: { snapshot }, resources }: OpenConfiguration) => {
    const before = await findStored(id, store, snapshot, 'change it there');
    const change = readKeyChange(values, before, systemClock.nowMs());
    checkProject(change.project, snapshot, resources);
    const key = await store.keys.change(id, change, actor);
    if (key === undefined) throw unknownKey();
    const sameName = change.name === undefined ? [] : nameWarnings(key, await store.keys.list());
    for (const warning of [...warningsOf(change, snapshot), ...sameName]) stderr(`postern: ${warning}`);
    if (printJson({ values, stdout }, describeKey(key, systemClock.nowMs()))) return;
    if (key.revokedAtMs !== undefined) stdout(`Key ${id} is changed; it stays revoked.`);
    else stdout(`Key ${id} is changed; running gateways apply it within two seconds.`);
  };
}

function rotate({ positionals, values, stdout, stderr }: CommandContext) {
  const id = positionals[1] ?? '';
  const overlapMs = readOverlap(values.overlap);
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const before = await findStored(id, store, snapshot, 'change its secret there');
    const nowMs = systemClock.nowMs();
    if (before.revokedAtMs !== undefined) throw new UserFault(`key ${id} is revoked; create another one`);
    const secret = createSecret();
    const fresh = { digest: digestOf(secret), hint: hintOf(secret) };
    const key = await store.keys.rotate(id, fresh, nowMs + overlapMs, actor);
    if (key === undefined) throw new UserFault(`key ${id} was revoked in the meantime; create another one`);
    if (before.oldSecretUntilMs !== undefined && before.oldSecretUntilMs > nowMs) {
      stderr('postern: the older secret ends now, as a key has at most one previous secret');
    }
    if (printJson({ values, stdout }, { ...describeKey(key, nowMs), secret })) return;
    stdout(`Key ${id} has a new secret. It is shown only now; keep it safe:`);
    printSecret(secret, stdout);
    const until = overlapMs === 0 ? 'ends now' : `stays valid until ${toInstantText(nowMs + overlapMs)}`;
    stdout(`The previous secret ${until}.`);
  };
}

function revoke({ positionals, stdout }: CommandContext) {
  const id = positionals[1] ?? '';
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    if (!(await store.keys.revoke(id, actor))) {
      await findStored(id, store, snapshot, 'remove it there');
      throw unknownKey();
    }
    stdout(`Key ${id} is revoked; a running gateway refuses it within two seconds.`);
  };
}

async function findStored(id: string, store: Store, snapshot: Snapshot, inFile: string): Promise<StoredKey> {
  const key = await store.keys.get(id);
  if (key !== undefined) return key;
  if (fileKeyOf(id, snapshot) !== undefined) {
    throw new UserFault(`key ${id} is declared in the configuration file; ${inFile}`);
  }
  throw unknownKey();
}

const fileKeyOf = (id: string, { keys: declared }: Snapshot) => [...declared.values()].find((key) => key.id === id);

/** The fault for an unknown key. It never repeats the argument, which may be a secret. */
function unknownKey(): UserFault {
  return new UserFault('there is no key with this ID; "postern keys list" shows all keys');
}
