/** Implements the endpoints that list, create, change, delete and test upstreams, and list the families of services. */

import { type Family, isMadeHere, type Offer, offersOf, standardOptions } from '../../../core/family.ts';
import { labels } from '../../../core/label.ts';
import { operations } from '../../../core/operations/index.ts';
import type { Upstream } from '../../../core/snapshot.ts';
import { inBackground } from '../../../lib/time-slices.ts';
import { type ImportedPrices, toImportedPrices } from '../../../prices/imported.ts';
import { listedPrice } from '../../../prices/listed.ts';
import type { AdminContext } from '../../context.ts';
import { implement, Reply } from '../../implement.ts';
import { toListPriceView } from '../../models/model-view.ts';
import { Problem } from '../../problem.ts';
import {
  changedProblem,
  findResource,
  managedProblem,
  neededVersion,
  removeResource,
  replyWritten,
  toElementPage,
  toTag,
  writeResource,
} from '../../resource-write.ts';
import { readStates } from '../../series/states.ts';
import { toShown } from '../../shapes/common.ts';
import { indexOf, readTargetReports } from '../../target-index.ts';
import { readTraffic, toComparison, toTraffic } from '../../traffic.ts';
import * as contract from '../contract/upstreams.ts';
import { judgeUpstream } from '../upstream-judge.ts';
import {
  addressOf,
  type Surroundings,
  toUpstreamSketch,
  toUpstreamView,
  type UpstreamSketch,
} from '../upstream-view.ts';

export const listUpstreams = implement(contract.listUpstreams, async ({ query, context }) => {
  const [elements, surroundings, traffic] = await Promise.all([
    context.resources.list('upstream'),
    lookAround(context),
    readTraffic(context, 'upstream'),
  ]);
  return toElementPage(elements, query, {
    fits: (element) => fits(toUpstreamSketch(element, surroundings), query),
    toView: (element) => ({ ...toUpstreamView(element, surroundings), traffic: toTraffic(traffic.get(element.id)) }),
    compare: toComparison(query, traffic),
  });
});

async function lookAround(context: AdminContext): Promise<Surroundings> {
  const snapshot = context.configuration.snapshot();
  const [index, reports, { shown }] = await Promise.all([
    indexOf(snapshot),
    readTargetReports(context),
    readStates(context),
  ]);
  return { snapshot, index, families: context.families, reports, shown };
}

function fits(
  { id, family, address }: UpstreamSketch,
  filter: { q?: string | undefined; family?: string | undefined },
) {
  if (filter.family !== undefined && family.id !== filter.family) return false;
  if (filter.q === undefined) return true;
  const wanted = filter.q.toLowerCase();
  return [id, family.id, family.title, address ?? ''].some((text) => text.toLowerCase().includes(wanted));
}

export const getUpstream = implement(contract.getUpstream, async ({ params: { id }, context }) => {
  const element = await findResource('upstream', id, context);
  const view = toUpstreamView(element, await lookAround(context));
  return new Reply({ ...view, document: element.document }, { headers: { etag: toTag(element.version) } });
});

export const putUpstream = implement(contract.putUpstream, async (call) => {
  const { params, body, context, headers } = call;
  // Without the version that was seen, the stored credential might be another than the checked one.
  const expected = neededVersion(headers);
  const element = await context.resources.get('upstream', params.id);
  if (element !== undefined && element.managedBy !== 'store') throw managedProblem(element);
  const { version = 0 } = element ?? {};
  if (version !== expected) throw await changedProblem({ kind: 'upstream', id: params.id, version }, expected, context);
  await judgeUpstream(context.resources, params.id, body);
  return replyWritten(await writeResource('upstream', params.id, body, call, expected));
});

export const deleteUpstream = implement(contract.deleteUpstream, (call) =>
  removeResource('upstream', call.params.id, call),
);

export const testDraft = implement(contract.testDraft, async ({ body: { id, document }, context, signal }) => {
  const { upstream } = await judgeUpstream(context.resources, id, document);
  return test(needed(upstream), context, signal);
});

export const testUpstream = implement(contract.testUpstream, async ({ params: { id }, context, signal }) => {
  return test(await compiled(id, context), context, signal);
});

/** Limit of listed models, for the sake of the reader: some services have tens of thousands. */
const mostModels = 5_000;

export const listUpstreamModels = implement(contract.listUpstreamModels, async ({ params, context, signal }) => {
  const { id } = params;
  const upstream = await compiled(id, context);
  const found = await context.probe.models(upstream, signal);
  if (found.kind === 'failed') {
    throw new Problem('upstream_failed', { detail: `${found.problem.message} ${found.problem.advice}` });
  }
  const ownServer = kindOf(upstream.family, false) === 'own-server';
  if (found.kind === 'no-list') {
    const note = 'This service has no list of models; enter the name as the service spells it.';
    return { listed: false, note, ownServer, items: [] };
  }
  const known = (await indexOf(context.configuration.snapshot())).byUpstream.get(id)?.names;
  const imported = await readImportedPrices(context);
  const items = found.models
    .slice(0, mostModels)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((model) => ({
      id: model.id,
      operations: model.operations ?? null,
      models: known?.get(model.id) ?? [],
      price: toListPriceView(listedPrice(upstream.family, upstream.origin, model.id, imported)),
    }));
  const more = found.models.length - items.length;
  return { listed: true, note: more > 0 ? `${more} more are not shown; enter their names.` : null, ownServer, items };
});

async function readImportedPrices({ resources }: AdminContext): Promise<ImportedPrices | undefined> {
  const { as_of: asOf, source, csv } = (await resources.get('setting', 'prices'))?.document ?? {};
  if (typeof asOf !== 'string' || typeof source !== 'string' || typeof csv !== 'string') return undefined;
  return inBackground.timeSliced(toImportedPrices({ asOf, source }, csv, () => undefined));
}

/** The upstream in force, or as it will be after a recent write. */
async function compiled(id: string, { resources, configuration }: AdminContext): Promise<Upstream> {
  const element = await findResource('upstream', id, { resources });
  const running = configuration.snapshot().upstreams.get(id);
  if (element.inForce && running !== undefined) return running;
  const preview = await resources.preview('upstream', id, element.document);
  return needed(preview.outcome === 'fine' ? preview.snapshot?.upstreams.get(id) : undefined);
}

function needed(upstream: Upstream | undefined): Upstream {
  if (upstream !== undefined) return upstream;
  throw new Problem('upstream_failed', {
    detail: 'The configuration has faults, so that nothing can be tested; fix those first.',
  });
}

async function test(upstream: Upstream, { probe }: AdminContext, signal: AbortSignal) {
  const report = await probe.test(upstream, signal);
  const steps = report.steps.map(({ ms, ...step }) => ({
    ...step,
    ms: ms === undefined ? null : Math.round(ms * 10) / 10,
  }));
  return {
    ...toShown(report),
    address: addressOf(upstream),
    steps,
    problem: report.problem ? toShown(report.problem) : null,
  };
}

export const listFamilies = implement(contract.listFamilies, ({ context }) => ({
  items: context.families.map(toFamilyView),
}));

/** Describes a family for people, by its own facts only. */
function toFamilyView(family: Family) {
  const { id, title, baseUrl, options = {}, chat, modelList, starter, builtIn = [] } = family;
  const standard = standardOptions(family);
  const offers = offersOf(family, standard);
  const auth = typeof family.auth === 'function' ? family.auth(standard) : family.auth;
  return {
    id,
    title,
    kind: kindOf(family, isMadeHere(offers)),
    baseUrl: baseUrl ?? null,
    needsAddress: baseUrl === undefined && !isMadeHere(offers),
    credential: credentialOf(family, auth !== undefined),
    header: auth?.header ?? null,
    options: Object.entries(options).map(
      ([name, { description, values = null, pattern, form = null, default: standard = null, required = false }]) => ({
        ...{ name, description, required, values, form, default: standard },
        pattern: pattern?.source ?? null,
      }),
    ),
    offers: labels.flatMap((label) =>
      operations.flatMap((operation) => {
        const offer = offers[label]?.[operation];
        if (offer === undefined) return [];
        return [{ label, operation, path: offer.path, way: wayOf(offer), facts: offer.facts ?? null }];
      }),
    ),
    listsModels: modelList !== undefined,
    bridges: chat !== undefined,
    takesLegacyEngines: offers.engines !== undefined,
    builtIn,
    starter: starter ?? null,
  };
}

function kindOf({ baseUrl, addressFor }: Family, isBuiltIn: boolean): 'built-in' | 'own-server' | 'service' | 'cloud' {
  if (isBuiltIn) return 'built-in';
  if (baseUrl === undefined || addressFor !== undefined || baseUrl.includes('{')) return 'cloud';
  return URL.parse(baseUrl)?.hostname === '127.0.0.1' ? 'own-server' : 'service';
}

function credentialOf({ signer, credential }: Family, hasHeader: boolean): 'none' | 'key' | 'document' | 'signed' {
  if (credential === 'document') return 'document';
  if (signer !== undefined) return 'signed';
  return hasHeader ? 'key' : 'none';
}

function wayOf({ make, translation }: Offer): 'passes' | 'adapts' | 'translated' | 'made here' {
  if (make !== undefined) return 'made here';
  if (translation === undefined) return 'passes';
  return translation.isNeeded === undefined ? 'translated' : 'adapts';
}
