/** Implements the endpoints that list, create, change, hide, delete and test models. */

import { randomBytes } from 'node:crypto';
import { acceptAsItIs } from '../../../core/drift.ts';
import { forgetItemsOf } from '../../../core/lists.ts';
import { bodyOf, operationRows } from '../../../core/operations/index.ts';
import type { ElementDocument } from '../../../core/resource-editor.ts';
import type { Model, Snapshot } from '../../../core/snapshot.ts';
import { actorOf } from '../../caller.ts';
import { type Call, implement, Reply } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import {
  absentProblem,
  expectedVersion,
  findResource,
  managedProblem,
  removeResource,
  replyWritten,
  toElementPage,
  toTag,
  writeResource,
} from '../../resource-write.ts';
import { readStates } from '../../series/states.ts';
import { indexOf, readTargetReports } from '../../target-index.ts';
import { readTraffic, toComparison, toTraffic } from '../../traffic.ts';
import * as contract from '../contract/models.ts';
import { type ModelSketch, toListView, toModelSketch, toModelView } from '../model-view.ts';

/** Limit of attempts where other people change the model's other fields at the same time. */
const mostAttempts = 5;
const longestExcerpt = 600;
const longestTryMs = 60_000;

export const listModels = implement(contract.listModels, async ({ query, context }) => {
  const [elements, index, reports, { shown }, traffic] = await Promise.all([
    context.resources.list('model'),
    indexOf(context.configuration.snapshot()),
    readTargetReports(context),
    readStates(context),
    readTraffic(context, 'model'),
  ]);
  return toElementPage(elements, query, {
    fits: (element) => fits(toModelSketch(element, index), query),
    toView: (element) => ({
      ...toModelView(element, index, reports, shown),
      traffic: toTraffic(traffic.get(element.id)),
    }),
    compare: toComparison(query, traffic),
  });
});

type Filter = Call<typeof contract.listModels>['query'];

function fits(model: ModelSketch, { q, operation, upstream, visible, managedBy }: Filter): boolean {
  if (operation !== undefined && !model.operations.includes(operation)) return false;
  if (upstream !== undefined && !model.targets.some((target) => target.upstream === upstream)) return false;
  if (visible !== undefined && model.visible !== visible) return false;
  if (managedBy !== undefined && model.managedBy !== managedBy) return false;
  if (q === undefined) return true;
  const wanted = q.toLowerCase();
  const names = [model.id, ...model.aliases, ...model.targets.flatMap((target) => [target.upstream, target.model])];
  return names.some((name) => name.toLowerCase().includes(wanted));
}

export const getModel = implement(contract.getModel, async ({ params: { id }, context }) => {
  const element = await findResource('model', id, context);
  const snapshot = context.configuration.snapshot();
  const [index, reports, stored, { shown }] = await Promise.all([
    indexOf(snapshot),
    readTargetReports(context),
    context.store.keys.list(),
    readStates(context),
  ]);
  const view = toModelView(element, index, reports, shown);
  const names = [id, ...view.aliases];
  const keys = [...snapshot.keys.values(), ...stored]
    .filter((key) => key.revokedAtMs === undefined && key.models.some((name) => names.includes(name)))
    .map((key) => key.id);
  const defaultFor = view.operations.filter((operation) => {
    const name = snapshot.defaultModels[operation];
    return name !== undefined && names.includes(name);
  });
  const lists = toListView(index.models.get(id), id, reports.spoken);
  const detail = { ...view, lists, document: element.document, needs: { keys, defaultFor } };
  return new Reply(detail, { headers: { etag: toTag(element.version) } });
});

export const putModel = implement(contract.putModel, async (call) =>
  replyWritten(await writeResource('model', call.params.id, call.body, call)),
);

export const deleteModel = implement(contract.deleteModel, (call) => removeResource('model', call.params.id, call));

export const patchModel = implement(contract.patchModel, async (call) => {
  const expected = expectedVersion(call.headers);
  for (let attempt = 1; ; attempt++) {
    try {
      const put = await setVisible(call, expected);
      return new Reply(put, { headers: { etag: toTag(put.version) } });
    } catch (error) {
      const isBeaten =
        error instanceof Problem && (error.code === 'changed_meanwhile' || error.code === 'already_there');
      if (!isBeaten || expected !== undefined || attempt === mostAttempts) throw error;
    }
  }
});

/** Shows or hides a model. For a built-in model this creates an entry in the store, which replaces it. */
async function setVisible(call: Call<typeof contract.patchModel>, expected: number | undefined) {
  const { id } = call.params;
  const element = await findResource('model', id, call.context);
  if (element.managedBy === 'file' || element.managedBy === 'embedded') throw managedProblem(element);
  const { visible: _before, ...document } = element.document;
  const next: ElementDocument = call.body.visible ? document : { ...document, visible: false };
  return writeResource('model', id, next, call, expected ?? element.version ?? 0);
}

export const testModel = implement(contract.testModel, async ({ params: { id }, body, context, signal }) => {
  const { operation } = body;
  const requestId = `test.${randomBytes(6).toString('hex')}`;
  const startedMs = context.clock.monotonicMs();
  const response = await context.gatewayCalls.send({
    route: operation,
    body: Buffer.from(JSON.stringify(bodyOf(operation, id, operationRows[operation].trial))),
    model: id,
    requestId,
    signal: AbortSignal.any([signal, AbortSignal.timeout(longestTryMs)]),
  });
  const text = await readBeginning(response);
  const attempts = Number(response.headers.get('x-postern-attempts') ?? Number.NaN);
  return {
    ok: response.ok,
    status: response.status,
    durationMs: Math.round(context.clock.monotonicMs() - startedMs),
    excerpt: text,
    upstream: response.headers.get('x-postern-upstream'),
    attempts: Number.isInteger(attempts) ? attempts : null,
    requestId,
  };
});

export const forgetItems = implement(contract.forgetItems, async ({ params: { id }, context, caller }) => {
  const { cache } = await modelIn(id, context.configuration.snapshot());
  if (cache === undefined) throw new Problem('not_found', { detail: `${id} has no cache (models[].cache).` });
  await forgetItemsOf(context.store.settings, id, actorOf(caller));
});

export const acceptModel = implement(contract.acceptModel, async ({ params: { id }, context, caller }) => {
  const model = await modelIn(id, context.configuration.snapshot());
  if (model.canary === undefined) throw new Problem('not_found', { detail: `${id} has no canary (models[].canary).` });
  await acceptAsItIs(context.store.settings, model, actorOf(caller));
});

async function modelIn(id: string, snapshot: Snapshot): Promise<Model> {
  const model = (await indexOf(snapshot)).models.get(id);
  if (model === undefined) throw absentProblem('model', id);
  return model;
}

/** Reads only the part of an answer that is displayed, because an answer may be long. */
async function readBeginning(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestExcerpt) return `${text.slice(0, longestExcerpt)}…`;
  }
  return text;
}
