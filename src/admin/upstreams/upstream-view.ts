/** Shows an upstream in the admin API: its document, the effective settings, and its targets' health over all nodes. */

import type { Family } from '../../core/family.ts';
import type { Lane } from '../../core/lane.ts';
import type { ConfiguredElement, ElementDocument } from '../../core/resource-editor.ts';
import type { Snapshot, Upstream } from '../../core/snapshot.ts';
import type { TargetState } from '../../core/target-state.ts';
import type { ShownIndex } from '../series/states.ts';
import { toShown } from '../shapes/common.ts';
import { type NodeStates, type SnapshotIndex, sum, summaryOf, type TargetReports } from '../target-index.ts';

export interface Surroundings {
  readonly snapshot: Snapshot;
  readonly index: SnapshotIndex;
  readonly families: readonly Family[];
  readonly reports: TargetReports;
  readonly shown: ShownIndex;
}

const shownKeys = 5;

/** The facts by which a list of upstreams is searched; those of the document until the upstream is in force. */
export function toUpstreamSketch(element: ConfiguredElement, { snapshot, families }: Surroundings) {
  const { id, inForce } = element;
  const holds = inForce ? snapshot.upstreams.get(id) : undefined;
  const familyId = holds?.family.id ?? textIn(element.document.family) ?? '';
  const family = families.find((one) => one.id === familyId);
  return {
    id,
    family: { id: familyId, title: family?.title ?? familyId, listsModels: family?.modelList !== undefined },
    address: addressOf(holds) ?? textIn(element.document.base_url),
  };
}

export type UpstreamSketch = ReturnType<typeof toUpstreamSketch>;

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export function toUpstreamView(element: ConfiguredElement, surroundings: Surroundings) {
  const { id, document, inForce } = element;
  const { snapshot, index, reports, shown } = surroundings;
  const compiled = snapshot.upstreams.get(id);
  const said = reports.byNode(id);
  // All targets of an upstream report the same of it: the first one of each node counts.
  const firsts = said.flatMap(({ states }) => states.slice(0, 1));
  const credentialsInCooldown = new Set(said.flatMap(({ states }) => states.flatMap((one) => one.restingCredentials)));
  const served = index.byUpstream.get(id);
  const { state, cause } = shown.ofUpstream(id);
  return {
    ...toShown(element),
    ...toUpstreamSketch(element, surroundings),
    credentials: credentialsIn(document, element.managedBy === 'store').map((credential) => ({
      ...credential,
      resting: credentialsInCooldown.has(credential.id),
    })),
    limits: {
      concurrency: compiled?.limits.concurrency ?? 0,
      queue: compiled?.limits.queue ?? 0,
      learned: learnedOf(firsts),
    },
    healthCheck: document.health_check !== undefined,
    shown: state,
    cause,
    ...summaryOf(said),
    lanes: lanesOf(firsts),
    endpoints: endpointsOf(firsts),
    nodes: said.map((one) => ({ node: one.node, ...summaryOf([one]) })),
    targets: [...(served?.names ?? [])].map(([model, models]) => toTarget(model, models, reports.byNode(id, model))),
    models: [...(served?.ids ?? [])],
    inForce: inForce && compiled !== undefined,
  };
}

/** The upstream's address, without user and query, which a base URL may not have. */
export function addressOf(upstream: Upstream | undefined): string | null {
  return upstream?.origin === undefined ? null : upstream.origin + upstream.pathPrefix;
}

function lanesOf(firsts: readonly TargetState[]) {
  const said = firsts.flatMap((one) => one.lanes ?? []);
  const of = (lane: Lane) => ({
    inFlight: sum(said.map((one) => one[lane].inFlight)),
    waiting: sum(said.map((one) => one[lane].waiting)),
    keys: longestOf(said.flatMap((one) => one[lane].keys ?? [])),
  });
  return { interactive: of('interactive'), bulk: of('bulk') };
}

/** The learned limit of concurrent calls, summed over processes, because each process learns its own share. */
function learnedOf(firsts: readonly TargetState[]): number | null {
  const said = firsts.flatMap((one) => one.learnedLimit ?? []);
  return said.length === 0 ? null : sum(said);
}

function longestOf(said: readonly { readonly key: string; readonly waiting: number }[]) {
  return [...Map.groupBy(said, ({ key }) => key)]
    .map(([key, all]) => ({ key, waiting: sum(all.map(({ waiting }) => waiting)) }))
    .toSorted((a, b) => b.waiting - a.waiting)
    .slice(0, shownKeys);
}

/** The endpoints' states over all nodes: an endpoint is up if any node finds it up. */
function endpointsOf(firsts: readonly TargetState[]) {
  const said = Map.groupBy(
    firsts.flatMap((one) => one.endpoints ?? []),
    ({ endpoint }) => endpoint,
  );
  return [...said]
    .map(([endpoint, states]) => ({
      endpoint,
      inFlight: sum(states.map((one) => one.inFlight)),
      isUp: states.some((one) => one.isUp),
      why: states.find((one) => !one.isUp)?.why ?? null,
    }))
    .toSorted((a, b) => a.endpoint.localeCompare(b.endpoint, 'en', { numeric: true }));
}

function toTarget(model: string, models: readonly string[], said: readonly NodeStates[]) {
  const isListed = said.every(({ states }) => states.every((one) => one.isListed !== false));
  return { model, models, isListed, ...summaryOf(said) };
}

/** The credentials of an upstream, named as in the compiled configuration. */
function credentialsIn(document: ElementDocument, isStored: boolean) {
  const { credentials } = document;
  const list: readonly unknown[] = Array.isArray(credentials) ? credentials : [document];
  return list.flatMap((entry, index) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const key: unknown = Reflect.get(entry, 'api_key');
    const file: unknown = Reflect.get(entry, 'api_key_file');
    if (key === undefined && file === undefined) return [];
    const weight: unknown = Array.isArray(credentials) ? Reflect.get(entry, 'weight') : 1;
    return [
      {
        id: list.length === 1 ? 'key' : `key ${index + 1}`,
        ...originOf(key, file, isStored),
        weight: typeof weight === 'number' && Number.isInteger(weight) ? weight : 1,
      },
    ];
  });
}

function originOf(key: unknown, file: unknown, isStored: boolean) {
  if (typeof file === 'string') return { from: 'path', hint: file } as const;
  const variable = typeof key === 'string' ? /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(key)?.[1] : undefined;
  if (!isStored && variable !== undefined) return { from: 'environment', hint: variable } as const;
  return { from: isStored ? 'store' : 'file', hint: null } as const;
}
