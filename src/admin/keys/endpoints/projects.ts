/** Projects: what several keys have in common. */

import type * as z from 'zod';
import type { ConfiguredElement } from '../../../core/resource-desk.ts';
import type { AdminContext } from '../../context.ts';
import { implement, replyWith } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { absentProblem, removeResource, toTag, writeResource } from '../../resource-write.ts';
import { toInstant } from '../../shapes/common.ts';
import type { project } from '../contract/projects.ts';
import * as contract from '../contract/projects.ts';
import { toBudgetStates } from '../spending.ts';

const listProjects = implement(contract.listProjects, async ({ context }) => {
  const elements = await context.desk.list('project');
  const counts = await countKeys(context);
  return { items: await Promise.all(elements.map((one) => toProject(one, counts, context))), next: null };
});

const getProject = implement(contract.getProject, async ({ params: { id }, context }) => {
  const element = await context.desk.get('project', id);
  if (element === undefined) throw absentProblem('project', id);
  const headers = element.version === undefined ? {} : { etag: toTag(element.version) };
  return replyWith(await toProject(element, await countKeys(context), context), { headers });
});

const putProject = implement(contract.putProject, async ({ params: { id }, body, caller, context, headers }) => {
  const { outcome, version, warnings } = await writeResource('project', id, body, { caller, context, headers });
  const element = await context.desk.get('project', id);
  if (element === undefined) throw absentProblem('project', id);
  const status = outcome === 'created' ? 201 : 200;
  const written = { ...(await toProject(element, await countKeys(context), context)), warnings: [...warnings] };
  return replyWith(written, { status, headers: { etag: toTag(version) } });
});

const deleteProject = implement(contract.deleteProject, async ({ params: { id }, caller, context, headers }) => {
  const keys = (await countKeys(context)).get(id) ?? 0;
  if (keys > 0) {
    const some = keys === 1 ? 'One key belongs' : `${keys} keys belong`;
    throw new Problem('in_use', { detail: `${some} to the project ${id}; move or revoke them first.` });
  }
  await removeResource('project', id, { caller, context, headers });
  return undefined;
});

export default [listProjects, getProject, putProject, deleteProject];

/** How many keys that are not revoked belong to each project. */
async function countKeys({ store, configuration }: AdminContext): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const key of [...configuration.snapshot().keys.values(), ...(await store.keys.list())]) {
    if (key.project === undefined || key.revokedAtMs !== undefined) continue;
    counts.set(key.project, (counts.get(key.project) ?? 0) + 1);
  }
  return counts;
}

async function toProject(
  { id, managedBy, place, version, updatedAtMs, inForce, document }: ConfiguredElement,
  counts: ReadonlyMap<string, number>,
  context: AdminContext,
): Promise<z.input<typeof project>> {
  const caps = context.configuration.snapshot().projects.get(id)?.caps;
  return {
    id,
    managedBy,
    place: place ?? null,
    version: version ?? null,
    updatedAt: updatedAtMs === undefined ? null : toInstant(updatedAtMs),
    inForce,
    document: { ...document },
    keys: counts.get(id) ?? 0,
    budgets: caps === undefined ? [] : await toBudgetStates({ kind: 'project', id, caps }, context),
  };
}
