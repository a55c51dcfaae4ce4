/** Implements the endpoints for keys, projects and their spending. */

import type * as z from 'zod';
import type { BudgetPeriod, Holder } from '../../../core/caps.ts';
import { type KeyTerms, keyStateOf } from '../../../core/key.ts';
import type { ConfiguredElement } from '../../../core/resource-editor.ts';
import { isMapping } from '../../../lib/is-mapping.ts';
import { createSecret, digestOf, hintOf } from '../../../lib/secrets/key-secret.ts';
import { actorOf } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { implement, Reply } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import {
  absentProblem,
  changedProblem,
  expectedVersion,
  faultsProblem,
  findResource,
  removeResource,
  replyWritten,
  toTag,
  writeResource,
} from '../../resource-write.ts';
import { nextOf, toInstant, toShown } from '../../shapes/common.ts';
import { readTraffic, toTraffic } from '../../traffic.ts';
import type { keyDetail, keyQuery, project } from '../contract/keys.ts';
import * as contract from '../contract/keys.ts';
import { inOrder } from '../key-traffic.ts';
import { type AnyKey, findKey, findStoredKey, isStored, listKeys, toDocument, toKey, unknownKey } from '../key-view.ts';
import { readBurnDown, readSpend, toBudgetStates } from '../spending.ts';

const keysAtOnce = 20;

/** Headers of an answer with a secret, which must not be cached. */
const unkept = { 'cache-control': 'no-store' };

export const listAllKeys = implement(contract.listKeys, async ({ query, context }) => {
  const { before, limit, sort, direction, ...filter } = query;
  const nowMs = context.clock.nowMs();
  const all = await inOrder(await listKeys(context), { sort, direction }, context);
  const found = all.slice(startAfter(all, before)).filter((key) => fits(key, filter, nowMs));
  const page = found.slice(0, limit);
  const traffic = await readTraffic(context, 'key');
  const items: z.input<typeof contract.listedKey>[] = [];
  const toListed = async (key: AnyKey) => ({
    ...(await toKey(key, context)),
    lastUsedAt: await readLastUsedAt(key, context),
    traffic: toTraffic(traffic.get(key.id)),
  });
  // A few at once, as each reads its budgets and its last row.
  for (let from = 0; from < page.length; from += keysAtOnce) {
    items.push(...(await Promise.all(page.slice(from, from + keysAtOnce).map(toListed))));
  }
  return { items, next: nextOf(found, limit) };
});

/** The position behind the last key of the previous page. Without `sort` positions are stable, because no key is ever deleted. */
function startAfter(keys: readonly AnyKey[], id: string | undefined): number {
  if (id === undefined) return 0;
  const index = keys.findIndex((key) => key.id === id);
  if (index !== -1) return index + 1;
  throw new Problem('invalid_fields', {
    detail: 'The previous page no longer exists; start again with the first page.',
    fields: [{ path: 'before', message: 'is no `next` of a page of keys' }],
  });
}

function fits(
  key: AnyKey,
  { q, project, state, managedBy }: Pick<z.output<typeof keyQuery>, 'q' | 'project' | 'state' | 'managedBy'>,
  nowMs: number,
): boolean {
  if (project !== undefined && key.project !== project) return false;
  if (state !== undefined && keyStateOf(key, nowMs) !== state) return false;
  if (managedBy !== undefined && key.managedBy !== managedBy) return false;
  if (q === undefined) return true;
  const own = isStored(key) ? [key.name, key.hint] : [];
  const texts = [key.id, ...own, ...Object.entries(key.metadata).flat()];
  const wanted = q.trim().toLowerCase();
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

export const createKey = implement(contract.createKey, async ({ body, caller, context }) => {
  const { store, keyTerms, clock } = context;
  const { terms, faults } = keyTerms.parseNew(body, { nowMs: clock.nowMs(), projects: await projectIds(context) });
  if (faults !== undefined) throw faultsProblem(faults);
  const secret = createSecret();
  const key = await store.keys.create({ ...terms, digest: digestOf(secret), hint: hintOf(secret) }, actorOf(caller));
  const headers = { ...unkept, etag: toTag(key.version), location: `/api/keys/${key.id}` };
  return new Reply({ ...(await toDetail(key, context)), secret }, { headers });
});

export const getKey = implement(contract.getKey, async ({ params: { id }, context }) =>
  replyWithDetail(await findKey(id, context), context),
);

export const changeKey = implement(contract.changeKey, async ({ params: { id }, body, caller, context, headers }) => {
  const { store, keyTerms, clock } = context;
  const before = await findStoredKey(id, context);
  const expected = expectedVersion(headers);
  const stale = (version: number) => changedProblem({ kind: 'key', id, version }, expected, context);
  if (expected !== undefined && expected !== before.version) throw await stale(before.version);
  const ground = { nowMs: clock.nowMs(), projects: await projectIds(context) };
  const { terms, faults } = keyTerms.parseChange(body, before, ground);
  if (faults !== undefined) throw faultsProblem(faults);
  const actor = actorOf(caller);
  const after =
    expected === undefined
      ? await store.keys.change(id, terms, actor)
      : await store.keys.changeVersion(id, expected, terms, actor);
  if (after === undefined) throw unknownKey();
  if (after === 'conflict') throw await stale((await findStoredKey(id, context)).version);
  return replyWithDetail(after, context);
});

export const rotateKey = implement(contract.rotateKey, async ({ params: { id }, body, caller, context }) => {
  const { store, keyTerms, clock } = context;
  const overlap = keyTerms.parseOverlap(body.overlap.trim());
  if (typeof overlap !== 'number') throw faultsProblem([{ path: 'overlap', message: overlap.fault }]);
  await findStoredKey(id, context);
  const secret = createSecret();
  const fresh = { digest: digestOf(secret), hint: hintOf(secret) };
  const key = await store.keys.rotate(id, fresh, clock.nowMs() + overlap, actorOf(caller));
  if (key === undefined) {
    throw new Problem('has_ended', { detail: 'This key was revoked permanently; create another one.' });
  }
  return new Reply({ ...(await toDetail(key, context)), secret }, { headers: { ...unkept, etag: toTag(key.version) } });
});

/** Restores a key's former settings. This counts as any other change: settings that are no longer allowed are refused. */
export const restoreKey = implement(contract.restoreKey, async ({ params: { id }, body, caller, context }) => {
  const { store, keyTerms, clock } = context;
  const now = await findStoredKey(id, context);
  const before = await findFormerKey(id, body.entry, context);
  const { name: _, models: __, ...optional } = contract.keyDocument.shape;
  const nothing = Object.fromEntries(Object.keys(optional).map((name) => [name, null]));
  const ground = { nowMs: clock.nowMs(), projects: await projectIds(context) };
  const former = withoutUndefined(toDocument(before, context));
  const { terms, faults } = keyTerms.parseChange({ ...nothing, ...former }, now, ground);
  if (faults !== undefined) throw faultsProblem(faults);
  const after = await store.keys.change(id, terms, actorOf(caller));
  if (after === undefined) throw unknownKey();
  return replyWithDetail(after, context);
});

const withoutUndefined = (document: object) =>
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined));

const entriesPerPage = 200;

/** The settings of a key before a change, as the audit log has them. */
async function findFormerKey(
  id: string,
  entryId: string,
  { store }: AdminContext,
): Promise<KeyTerms & { name: string }> {
  for (let before: string | undefined; ; ) {
    const entries = await store.audit.page({ subject: id, action: 'key.', before, limit: entriesPerPage });
    const found = entries.find((entry) => entry.id === entryId);
    const terms = found?.before;
    if (isMapping(terms) && Array.isArray(terms.models) && isMapping(terms.caps)) {
      // As written by the store; an expiry that a former version did not know may be absent.
      return { name: '', metadata: {}, ...terms } as unknown as KeyTerms & { name: string };
    }
    if (found !== undefined || entries.length < entriesPerPage) {
      throw new Problem('not_found', { detail: 'The audit log has no such change of this key.' });
    }
    before = entries.at(-1)?.id;
  }
}

export const revokeKey = implement(contract.revokeKey, async ({ params: { id }, caller, context }) => {
  await findStoredKey(id, context);
  if (!(await context.store.keys.revoke(id, actorOf(caller)))) throw unknownKey();
  return replyWithDetail(await findKey(id, context), context);
});

async function replyWithDetail(key: AnyKey, context: AdminContext) {
  const headers = isStored(key) ? { etag: toTag(key.version) } : {};
  return new Reply(await toDetail(key, context), { headers });
}

async function toDetail(key: AnyKey, context: AdminContext): Promise<z.input<typeof keyDetail>> {
  return {
    ...(await toKey(key, context)),
    lastUsedAt: await readLastUsedAt(key, context),
    warnings: [...context.keyTerms.warnings(key, context.configuration.snapshot())],
  };
}

async function readLastUsedAt({ id }: AnyKey, { store }: AdminContext): Promise<string | null> {
  const { rows } = await store.ledger.page({ key: id }, { limit: 1 });
  const [newest] = rows;
  return newest === undefined ? null : toInstant(newest.startedAtMs);
}

/** The IDs of all projects, including those that were just stored and are not in force yet. */
async function projectIds({ resources }: AdminContext): Promise<ReadonlySet<string>> {
  return new Set((await resources.list('project')).map((project) => project.id));
}

export const listProjects = implement(contract.listProjects, async ({ context }) => {
  const elements = await context.resources.list('project');
  const counts = await countKeys(context);
  return { items: await Promise.all(elements.map((one) => toProject(one, counts, context))), next: null };
});

export const getProject = implement(contract.getProject, async ({ params: { id }, context }) => {
  const element = await findResource('project', id, context);
  const headers = element.version === undefined ? {} : { etag: toTag(element.version) };
  return new Reply(await toProject(element, await countKeys(context), context), { headers });
});

export const putProject = implement(contract.putProject, async (call) => {
  const { params, body, context } = call;
  const put = await writeResource('project', params.id, body, call);
  const element = await findResource('project', params.id, context);
  return replyWritten({
    ...put,
    ...(await toProject(element, await countKeys(context), context)),
    version: put.version,
  });
});

export const deleteProject = implement(contract.deleteProject, async (call) => {
  const { id } = call.params;
  const keys = (await countKeys(call.context)).get(id) ?? 0;
  if (keys > 0) {
    const some = keys === 1 ? 'One key belongs' : `${keys} keys belong`;
    throw new Problem('in_use', { detail: `${some} to the project ${id}; move or revoke them first.` });
  }
  return removeResource('project', id, call);
});

/** The number of unrevoked keys in each project. */
async function countKeys({ store, configuration }: AdminContext): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const key of [...configuration.snapshot().keys.values(), ...(await store.keys.list())]) {
    if (key.project === undefined || key.revokedAtMs !== undefined) continue;
    counts.set(key.project, (counts.get(key.project) ?? 0) + 1);
  }
  return counts;
}

async function toProject(
  element: ConfiguredElement,
  counts: ReadonlyMap<string, number>,
  context: AdminContext,
): Promise<z.input<typeof project>> {
  const { id, document } = element;
  const caps = context.configuration.snapshot().projects.get(id)?.caps;
  const budgets = caps === undefined ? [] : await toBudgetStates({ kind: 'project', id, caps }, context);
  return { ...toShown(element), document: { ...document }, keys: counts.get(id) ?? 0, budgets };
}

const findKeyHolder = async (id: string, context: AdminContext): Promise<Holder> => ({
  kind: 'key',
  id,
  caps: (await findKey(id, context)).caps,
});

function findProjectHolder(id: string, { configuration }: AdminContext): Holder {
  const project = configuration.snapshot().projects.get(id);
  if (project === undefined) throw absentProblem('project', id);
  return { kind: 'project', id, caps: project.caps };
}

function showBurnDown({ kind, id, caps }: Holder, period: BudgetPeriod | undefined, context: AdminContext) {
  const { budgets } = caps;
  const budget = period === undefined ? budgets[0] : budgets.find((one) => one.period === period);
  if (budget !== undefined) return readBurnDown({ kind, id, caps }, budget, context);
  const which = period === undefined ? 'budget' : `budget by ${period}`;
  throw new Problem('not_found', { detail: `This ${kind} has no ${which}; set one first.` });
}

export const showKeyUsage = implement(contract.showKeyUsage, async ({ params: { id }, query: { days }, context }) =>
  readSpend(await findKeyHolder(id, context), days, context),
);

export const showKeyBurnDown = implement(
  contract.showKeyBurnDown,
  async ({ params: { id }, query: { period }, context }) =>
    showBurnDown(await findKeyHolder(id, context), period, context),
);

export const showProjectUsage = implement(contract.showProjectUsage, ({ params: { id }, query: { days }, context }) =>
  readSpend(findProjectHolder(id, context), days, context),
);

export const showProjectBurnDown = implement(
  contract.showProjectBurnDown,
  async ({ params: { id }, query: { period }, context }) =>
    showBurnDown(findProjectHolder(id, context), period, context),
);
