/** `postern resources`: what is configured in the store, shown, put in and taken out. */

import { stringify } from 'yaml';
import type { FaultyConfiguration, LoadedConfiguration } from '../../config/load.ts';
import { newFaults } from '../../config/store/resource-changes.ts';
import { keysIn } from '../../config/store/resource-desk.ts';
import { resourceLists } from '../../config/store/resource-schemas.ts';
import { hideSecrets } from '../../config/store/sealed-fields.ts';
import { type Resource, type ResourceKind, resourceKinds } from '../../core/store/resources.ts';
import { UserFault } from '../../core/user-fault.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import { createReader, type OpenResources, openResources } from '../../serve/configuration.ts';
import { type Action, actAs, FaultsFound } from '../actions.ts';
import { type Command, type CommandContext, configOptions } from '../command.ts';
import { toInstantText } from '../keys/key-words.ts';
import { toPrintable } from '../printable.ts';
import { toTable } from '../table.ts';
import { words } from '../words.ts';
import { apply, applyOptions } from './apply.ts';
import { actor } from './step.ts';

const actions: Readonly<Record<string, Action<OpenResources>>> = {
  list: { usage: 'list [--json]', options: ['json'], operandCount: 0, needsStore: true, prepare: list },
  show: { usage: 'show KIND ID [--json]', options: ['json'], operandCount: 2, needsStore: true, prepare: show },
  apply: {
    usage: 'apply FILE [--dry-run] [--prune NAME=TEXT] [--overlap 24h] [--json]',
    options: [...Object.keys(applyOptions), 'json'],
    operandCount: 1,
    needsStore: ({ 'dry-run': isDry }) => isDry === true,
    prepare: apply,
  },
  delete: { usage: 'delete KIND ID', options: [], operandCount: 2, needsStore: true, prepare: remove },
};

export const resources: Command = {
  ...words.resources,
  actions,
  options: { ...configOptions, ...applyOptions, json: { type: 'boolean' } },
  run: (context) => actAs('resources', actions, context, openResources),
};

function list({ values, stdout }: CommandContext) {
  return async ({ resources: found }: OpenResources) => {
    if (values.json === true) {
      stdout(JSON.stringify(found.map(describe), null, 2));
      return;
    }
    if (found.length === 0) stdout('The store holds no resource; "postern resources apply FILE" puts some in.');
    const rows = found
      .map(describe)
      .map(({ kind, id, version, updated_at }) => [kind, id, String(version), updated_at]);
    const head = ['KIND', 'ID', 'VERSION', 'CHANGED'];
    if (found.length > 0)
      for (const line of toTable(
        head,
        rows.map((row) => row.map(toPrintable)),
      ))
        stdout(line);
  };
}

function show({ positionals, values, stdout }: CommandContext) {
  const kind = toKind(positionals[1]);
  const id = positionals[2] ?? '';
  return async (ground: OpenResources) => {
    const found = findOne(kind, id, ground);
    if (values.json === true) stdout(JSON.stringify(describe(found), null, 2));
    else stdout(stringify({ [resourceLists[kind]]: [hideSecrets(kind, found.document)] }).trimEnd());
  };
}

/** As scripts read it, without secrets. */
function describe({ kind, id, version, createdAtMs, updatedAtMs, document }: Resource) {
  return {
    kind,
    id,
    version,
    created_at: toInstantText(createdAtMs),
    updated_at: toInstantText(updatedAtMs),
    document: hideSecrets(kind, document),
  };
}

function existing({ kind, id }: Pick<Resource, 'kind' | 'id'>, ground: OpenResources): Resource | undefined {
  return ground.resources.find((one) => one.kind === kind && one.id === id);
}

function remove(context: CommandContext) {
  const { positionals, stdout, stderr } = context;
  const kind = toKind(positionals[1]);
  const id = positionals[2] ?? '';
  return async (ground: OpenResources) => {
    const found = findOne(kind, id, ground);
    const next = await createReader(context, ground.whole)(ground.resources.filter((one) => one !== found));
    try {
      refuseNewFaults(ground, next);
    } catch (error) {
      if (error instanceof FaultsFound) stderr(`postern: ${kind} ${toPrintable(id)} is still needed, and stays:`);
      throw error;
    }
    if (kind === 'project') await refuseWithKeys(id, ground);
    const outcome = await ground.store.resources.remove(kind, id, { expected: found.version, actor });
    if (outcome === 'conflict') throw new UserFault(`someone else changed ${kind} ${id} meanwhile; look at it again`);
    stdout(`${kind} ${toPrintable(id)} is deleted; a running gateway goes on without it within two seconds.`);
  };
}

/** Without their project, its limits and budgets would hold for them no more. */
async function refuseWithKeys(id: string, { store }: OpenResources): Promise<void> {
  const members = await keysIn(id, store);
  if (members === undefined) return;
  throw new UserFault(
    `project ${id} has keys: ${members}; revoke them, or move them with "postern keys update ID --project P"`,
  );
}

function refuseNewFaults({ whole }: OpenResources, next: LoadedConfiguration | FaultyConfiguration): void {
  const found = newFaults(whole, next);
  if (found.length > 0) throw new FaultsFound(found, next.file);
}

function findOne(kind: ResourceKind, id: string, ground: OpenResources): Resource {
  const found = existing({ kind, id }, ground);
  if (found !== undefined) return found;
  if (ground.whole.ok && isOfFile(kind, id, ground.whole)) {
    throw new UserFault(`${kind} ${id} is declared in the configuration file; look at it, and change it, there`);
  }
  const near = nearestName(
    id,
    ground.resources.flatMap((one) => (one.kind === kind ? [one.id] : [])),
  );
  throw new UserFault(
    `there is no ${kind} ${JSON.stringify(id)} in the store${near === undefined ? '; "postern resources list" shows what there is' : `; did you mean ${near}?`}`,
  );
}

function isOfFile(kind: ResourceKind, id: string, { snapshot }: LoadedConfiguration): boolean {
  if (kind === 'upstream') return snapshot.upstreams.has(id);
  if (kind === 'project') return snapshot.projects.has(id);
  return snapshot.models.all.some((model) => model.id === id);
}

/** Also as the name of its list. */
function toKind(written = ''): ResourceKind {
  const kind = resourceKinds.find((one) => one === written || resourceLists[one] === written);
  if (kind !== undefined) return kind;
  if (written === 'key' || written === 'keys') {
    throw new UserFault('keys are shown and revoked by "postern keys show ID" and "postern keys revoke ID"');
  }
  const near = nearestName(written, resourceKinds);
  throw new UserFault(
    `there is no kind of resource "${written}"${near === undefined ? ` (there are ${resourceKinds.join(', ')})` : `; did you mean ${near}?`}`,
  );
}
