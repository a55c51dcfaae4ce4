/** `postern resources`: shows, applies and deletes the part of the configuration that is in the store. */

import { resolve } from 'node:path';
import { stringify } from 'yaml';
import type { LoadedConfiguration } from '../../config/load.ts';
import { readText } from '../../config/read/side-files.ts';
import { type Difference, inWords, newFaults } from '../../config/store/resource-changes.ts';
import { keysIn } from '../../config/store/resource-editor.ts';
import { readResourceFile } from '../../config/store/resource-file.ts';
import { judgeKeys } from '../../config/store/resource-keys.ts';
import { resourceLists } from '../../config/store/resource-schemas.ts';
import { hideSecrets } from '../../config/store/sealed-fields.ts';
import { type Resource, type ResourceKind, resourceKinds } from '../../core/store/resources.ts';
import { UserFault } from '../../core/user-fault.ts';
import { nearHint } from '../../lib/nearest-name.ts';
import { createReader, type OpenResources, openResources } from '../../serve/configuration.ts';
import { actionsOf, actor } from '../actions.ts';
import type { CommandContext } from '../command.ts';
import { readOverlap } from '../keys/key-options.ts';
import { FaultsFound, printJson, printTable, toPrintable } from '../output.ts';
import { toInstantText } from '../times.ts';
import { existing, planChanges, type Step } from './plan.ts';

const largestFileBytes = 4 * 1024 * 1024;

export async function apply(context: CommandContext) {
  const { positionals, values, env, cwd, stderr } = context;
  const prune = readPruneMetadata(values.prune);
  const overlapMs = readOverlap(values.overlap);
  const name = positionals[1] ?? '';
  const path = resolve(cwd, name);
  const content = await readText(path, largestFileBytes);
  if ('reason' in content) throw new UserFault(`${name} cannot be used: ${content.reason}`);
  const file = readResourceFile(name, content.text, env, { mayBeEmpty: prune !== undefined });
  const faults = file.faults();
  if (faults.length > 0) throw new FaultsFound(faults, undefined);
  const keys = await judgeKeys(file, path);

  return async (ground: OpenResources) => {
    const { steps, warnings } = await planChanges({ file, keys, prune, overlapMs }, ground, context);
    for (const warning of warnings) stderr(`postern: ${warning}`);
    await (values['dry-run'] === true ? print(steps, context) : carryOut(steps, context));
  };
}

/** Metadata that an element must have to be deleted when it is not in the file; undefined: nothing is deleted. */
function readPruneMetadata(written: CommandContext['values'][string]): ReadonlyMap<string, string> | undefined {
  if (written === undefined) return undefined;
  const prune = new Map<string, string>();
  for (const one of [written].flat()) {
    const [, name, text] = /^([A-Za-z0-9._-]{1,64})=(.+)$/su.exec(String(one)) ?? [];
    if (name === undefined || text === undefined) {
      throw new UserFault(
        `--prune: ${JSON.stringify(one)} is not written as name=text, as in metadata: --prune team=search`,
      );
    }
    if (prune.has(name)) throw new UserFault(`--prune ${name}: is given twice`);
    prune.set(name, text);
  }
  return prune;
}

function print(steps: readonly Step[], context: CommandContext): void {
  const { stdout } = context;
  const described = steps.map((step) => describeStep(step, step.version));
  if (printJson(context, described)) return;
  for (const step of steps) {
    const { outcome, version } = step;
    if (outcome === 'unchanged') stdout(`${nameOf(step)} is unchanged (version ${version})`);
    else stdout(`${nameOf(step)} would be ${outcome}`);
    for (const difference of step.differences) stdout(`  ${toPrintable(inWords(difference))}`);
  }
  stdout(`${summaryOf(steps)}; nothing was written`);
}

async function carryOut(steps: readonly Step[], { values, stdout }: CommandContext): Promise<void> {
  const done = [];
  for (const step of steps) {
    const version = await step.carryOut();
    done.push(describeStep(step, version));
    if (values.json === true) continue;
    stdout(`${nameOf(step)} is ${step.outcome}${version === undefined ? '' : ` (version ${version})`}`);
  }
  printJson({ values, stdout }, done);
}

const nameOf = ({ kind, id }: Step): string => `${kind} ${toPrintable(id)}`;

function describeStep({ kind, id, outcome, differences }: Step, version: number | undefined) {
  const changed = differences.length > 0 && { differences: differences.map(withNulls) };
  return { kind, id, outcome, ...(version !== undefined && { version }), ...changed };
}

/** A difference for scripts, with null in place of undefined. */
const withNulls = ({ path, before = null, after = null }: Difference) => ({ path, before, after });

function summaryOf(steps: readonly Step[]): string {
  const counts = Map.groupBy(steps, ({ outcome }) => outcome);
  return [...counts].map(([outcome, { length }]) => `${length} ${outcome}`).join(', ') || 'nothing to do';
}

export const resources = actionsOf('resources', openResources, {
  list: { usage: 'list [--json]', prepare: list },
  show: { usage: 'show KIND ID [--json]', prepare: show },
  apply: {
    usage: 'apply FILE [--dry-run] [--prune NAME=TEXT]... [--overlap 24h] [--json]',
    prepare: apply,
    makesStore: ({ 'dry-run': isDry }) => isDry !== true,
  },
  delete: { usage: 'delete KIND ID', prepare: remove },
});

function list({ values, stdout }: CommandContext) {
  return async ({ resources: found }: OpenResources) => {
    const described = found.map(describe);
    if (printJson({ values, stdout }, described)) return;
    if (found.length === 0) stdout('The store holds no resource; "postern resources apply FILE" puts some in.');
    const rows = described.map(({ kind, id, version, updated_at }) => [kind, id, String(version), updated_at]);
    if (found.length > 0) printTable(['KIND', 'ID', 'VERSION', 'CHANGED'], rows, stdout);
  };
}

function show({ positionals, values, stdout }: CommandContext) {
  const kind = toKind(positionals[1]);
  const id = positionals[2] ?? '';
  return async (ground: OpenResources) => {
    const found = findOne(kind, id, ground);
    if (!printJson({ values, stdout }, describe(found)))
      stdout(stringify({ [resourceLists[kind]]: [hideSecrets(kind, found.document)] }).trimEnd());
  };
}

/** A stored element for scripts, without secrets. */
function describe({ kind, id, version, createdAtMs, updatedAtMs, document }: Resource) {
  const times = { created_at: toInstantText(createdAtMs), updated_at: toInstantText(updatedAtMs) };
  return { kind, id, version, ...times, document: hideSecrets(kind, document) };
}

function remove(context: CommandContext) {
  const { positionals, stdout, stderr } = context;
  const kind = toKind(positionals[1]);
  const id = positionals[2] ?? '';
  return async (ground: OpenResources) => {
    const found = findOne(kind, id, ground);
    const next = await createReader(context, ground.whole)(ground.resources.filter((one) => one !== found));
    const faults = newFaults(ground.whole, next);
    if (faults.length > 0) {
      stderr(`postern: ${kind} ${toPrintable(id)} is still needed, and stays:`);
      throw new FaultsFound(faults, next.file);
    }
    if (kind === 'project') await refuseWithKeys(id, ground);
    const outcome = await ground.store.resources.remove(kind, id, { expected: found.version, actor });
    if (outcome === 'conflict') throw new UserFault(`someone else changed ${kind} ${id} meanwhile; look at it again`);
    stdout(`${kind} ${toPrintable(id)} is deleted; a running gateway goes on without it within two seconds.`);
  };
}

/** Refuses to delete a project that still has keys, because its limits and budgets would no longer apply to them. */
async function refuseWithKeys(id: string, { store }: OpenResources): Promise<void> {
  const members = await keysIn(id, store);
  if (members === undefined) return;
  throw new UserFault(
    `project ${id} has keys: ${members}; revoke them, or move them with "postern keys update ID --project P"`,
  );
}

function findOne(kind: ResourceKind, id: string, ground: OpenResources): Resource {
  const found = existing({ kind, id }, ground.resources);
  if (found !== undefined) return found;
  if (ground.whole.ok && isOfFile(kind, id, ground.whole)) {
    throw new UserFault(`${kind} ${id} is declared in the configuration file; look at it, and change it, there`);
  }
  const ids = ground.resources.flatMap((one) => (one.kind === kind ? [one.id] : []));
  const hint = nearHint(id, ids, '; "postern resources list" shows what there is');
  throw new UserFault(`there is no ${kind} ${JSON.stringify(id)} in the store${hint}`);
}

function isOfFile(kind: ResourceKind, id: string, { snapshot }: LoadedConfiguration): boolean {
  if (kind === 'upstream') return snapshot.upstreams.has(id);
  if (kind === 'project') return snapshot.projects.has(id);
  return snapshot.models.all.some((model) => model.id === id);
}

/** The kind of element that an argument names; the name of the file's list is accepted too. */
function toKind(written = ''): ResourceKind {
  const kind = resourceKinds.find((one) => one === written || resourceLists[one] === written);
  if (kind !== undefined) return kind;
  if (written === 'key' || written === 'keys') {
    throw new UserFault('keys are shown and revoked by "postern keys show ID" and "postern keys revoke ID"');
  }
  const hint = nearHint(written, resourceKinds, ` (there are ${resourceKinds.join(', ')})`);
  throw new UserFault(`there is no kind of resource "${written}"${hint}`);
}
