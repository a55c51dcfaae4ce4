/** `postern resources apply`: what a file holds put into the store, and on request what it no longer names taken out. */

import { resolve } from 'node:path';
import { readText } from '../../config/read/side-files.ts';
import { type Difference, inWords } from '../../config/store/resource-changes.ts';
import { readResourceFile } from '../../config/store/resource-file.ts';
import { judgeKeys } from '../../config/store/resource-keys.ts';
import { UserFault } from '../../core/user-fault.ts';
import type { OpenResources } from '../../serve/configuration.ts';
import { FaultsFound } from '../actions.ts';
import type { CommandContext } from '../command.ts';
import { readOverlap } from '../keys/key-options.ts';
import { toPrintable } from '../printable.ts';
import { planChanges } from './plan.ts';
import type { Step } from './step.ts';

const largestFileBytes = 4 * 1024 * 1024;

export const applyOptions = {
  'dry-run': { type: 'boolean' },
  prune: { type: 'string', multiple: true },
  overlap: { type: 'string' },
} as const;

export async function apply(context: CommandContext) {
  const { positionals, values, env, cwd, stderr } = context;
  const notes = readNotes(values.prune);
  const overlapMs = readOverlap(values.overlap);
  const name = positionals[1] ?? '';
  const path = resolve(cwd, name);
  const content = await readText(path, largestFileBytes);
  if ('reason' in content) throw new UserFault(`${name} cannot be used: ${content.reason}`);
  const file = readResourceFile(name, content.text, env, { mayBeEmpty: notes !== undefined });
  if (file.faults.length > 0) throw new FaultsFound(file.faults, undefined);
  const keys = await judgeKeys(file, path);

  return async (ground: OpenResources) => {
    const { steps, warnings } = await planChanges({ file, keys, notes, overlapMs }, ground, context);
    for (const warning of warnings) stderr(`postern: ${warning}`);
    await (values['dry-run'] === true ? tell(steps, context) : carryOut(steps, context));
  };
}

/** What is to be in the metadata of all that is looked at for pruning; undefined: nothing is pruned. */
function readNotes(written: CommandContext['values'][string]): ReadonlyMap<string, string> | undefined {
  if (written === undefined) return undefined;
  const notes = new Map<string, string>();
  for (const one of [written].flat()) {
    const [, name, text] = /^([A-Za-z0-9._-]{1,64})=(.+)$/su.exec(String(one)) ?? [];
    if (name === undefined || text === undefined) {
      throw new UserFault(
        `--prune: ${JSON.stringify(one)} is not written as name=text, as in metadata: --prune team=search`,
      );
    }
    if (notes.has(name)) throw new UserFault(`--prune ${name}: is given twice`);
    notes.set(name, text);
  }
  return notes;
}

function tell(steps: readonly Step[], { values, stdout }: CommandContext): void {
  if (values.json === true) {
    stdout(
      JSON.stringify(
        steps.map((step) => describe(step, step.version)),
        null,
        2,
      ),
    );
    return;
  }
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
    done.push(describe(step, version));
    if (values.json === true) continue;
    stdout(`${nameOf(step)} is ${step.outcome}${version === undefined ? '' : ` (version ${version})`}`);
  }
  if (values.json === true) stdout(JSON.stringify(done, null, 2));
}

const nameOf = ({ kind, id }: Step): string => `${kind} ${toPrintable(id)}`;

function describe({ kind, id, outcome, differences }: Step, version: number | undefined) {
  return {
    kind,
    id,
    outcome,
    ...(version !== undefined && { version }),
    ...(differences.length > 0 && { differences: differences.map(withNulls) }),
  };
}

/** For scripts nothing is null. */
const withNulls = ({ path, before = null, after = null }: Difference) => ({ path, before, after });

function summaryOf(steps: readonly Step[]): string {
  const counts = Map.groupBy(steps, ({ outcome }) => outcome);
  return [...counts].map(([outcome, { length }]) => `${length} ${outcome}`).join(', ') || 'nothing to do';
}
